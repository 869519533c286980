package rego

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestBuiltin(t *testing.T) {
	for _, test := range []struct{ name, args, want string }{
		{"sprintf", `["%s %05d %.2f %v %q %x",["a",42,1.5,[1,{"b":null}],"q",255]]`, `"a 00042 1.50 [1, {\"b\": null}] \"q\" ff"`},
		{"sprintf", `["%d %s",["a"]]`, `"%!d(string=a) %!s(MISSING)"`},
		{"gw_strict.to_number", `["12.5"]`, "12.5"},
		{"gw_strict.to_number", `[true]`, "1"},
		{"gw_strict.rem", `[7,3]`, "1"},
		{"gw_strict.substring", `["abcdef",2,3]`, `"cde"`},
		{"gw_strict.json.unmarshal", `["{\"a\":[1,2.5,null]}"]`, `{"a":[1,2.5,null]}`},
		{"gw_strict.json.marshal", `[{"b":1,"a":[true]}]`, `"{\"a\":[true],\"b\":1}"`},
		{"gw_strict.regex.match", `["^a+$","aaa"]`, "true"},
		{"regex.replace", `["abc","b","[$0]"]`, `"a[b]c"`},
		{"regex.find_n", `["[a-z]","a1b2",-1]`, `["a","b"]`},
		{"gw_strict.glob.match", `["*.eu",["."],"api.eu"]`, "true"},
		{"time.clock", `[[1736962200000000000,"Europe/Berlin"]]`, "[18,30,0]"},
		{"time.weekday", `[1736962200000000000]`, `"Wednesday"`},
		{"time.parse_rfc3339_ns", `["2025-01-15T17:30:00Z"]`, "1736962200000000000"},
		{"time.add_date", `[0,1,2,3]`, "36892800000000000"},
		{"semver.compare", `["1.2.3","1.10.0"]`, "-1"},
		{"units.parse_bytes", `["10KiB"]`, "10240"},
		{"units.parse", `["1.5k"]`, "1500"},
		{"object.subset", `[{"a":1,"b":2},{"a":1}]`, "true"},
		{"strings.any_prefix_match", `["abc",["x","ab"]]`, "true"},
		{"crypto.sha256", `["a"]`, `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`},
		{"gw_strict.net.cidr_contains", `["10.0.0.0/8","10.1.2.3"]`, "true"},
		{"gw_strict.plus", `[1,2]`, "3"},
		{"gw_strict.count", `["äb"]`, "2"},
		{"hex.encode", `["ab"]`, `"6162"`},
		{"uri.parse", `["https://a.b/c?d=e"]`, `{"hostname":"a.b","path":"/c","raw_path":"/c","raw_query":"d=e","scheme":"https"}`},
	} {
		f, ok := Builtin(test.name)
		if !ok {
			t.Errorf("%s is not served", test.name)
			continue
		}
		got, err := f([]byte(test.args))
		if err != nil || string(got) != test.want {
			t.Errorf("%s%s = %s, %v, want %s", test.name, test.args, got, err, test.want)
		}
	}
}

func TestBuiltinsThatFail(t *testing.T) {
	long := `"` + strings.Repeat("a", maxHostText) + `"`
	for _, test := range []struct{ name, args, want string }{
		{"gw_strict.to_number", `["high"]`, "invalid syntax"},
		{"gw_strict.to_number", `["1e999999"]`, "exponent"},
		{"gw_strict.to_number", `[[]]`, "operand"},
		{"units.parse", `["1e100000000"]`, "exponent"},
		{"gw_strict.rem", `[7.5,3]`, "floating-point"},
		{"gw_strict.rem", `[7,0]`, "zero"},
		{"gw_strict.substring", `["abc",-1,2]`, "negative"},
		{"gw_strict.json.unmarshal", `["{"]`, "missing"},
		{"gw_strict.json.unmarshal", `["` + strings.Repeat("[", 100) + `"]`, "nested"},
		{"gw_strict.json.unmarshal", `["1e99999"]`, "too large"},
		{"gw_strict.regex.match", `["(","a"]`, "missing closing"},
		{"gw_strict.regex.match", `["((a?){30}){30}","a"]`, "heavy"},
		{"gw_strict.regex.match", `["((a?){9}){20}",` + `"` + strings.Repeat("a", 20_000) + `"]`, "too much"},
		{"gw_strict.regex.match", `["a",` + `"` + strings.Repeat("a", 33_000) + `"]`, "the limit is 32768"},
		{"regex.replace", `["` + strings.Repeat("a", 4000) + `","a","` + strings.Repeat("$0", 100) + `"]`, "could have more"},
		{"gw_strict.glob.match", `["**********",[],"a"]`, "wildcards"},
		{"gw_strict.replace", `[` + long + `,"a",` + long + `]`, "could have more"},
		{"gw_strict.concat", `[` + long + `,["","","","","","","","","","","","","","","","","","","","",""]]`, "would have more"},
		{"gw_strict.strings.replace_n", `[{"a":` + long + `},` + long + `]`, "could have more"},
		{"sprintf", `["%9999d",[1]]`, "width"},
		{"sprintf", `["%*d",[1,2]]`, "width"},
		{"sprintf", `["%!",[1]]`, "no verb"},
		{"sprintf", `["%",[1]]`, "no verb"},
		{"time.clock", `[[0,"Local"]]`, "not the same everywhere"},
		{"time.clock", `[[0,"Europe/Atlantis"]]`, "unknown time zone"},
		{"time.clock", `[[0,"../../etc/passwd"]]`, "location"},
		{"time.add_date", `[0,1e9,0,0]`, "at most"},
		{"time.parse_duration_ns", `["1 fortnight"]`, "unknown unit"},
		{"semver.compare", `["new","1.0.0"]`, "SemVer"},
		{"object.subset", `[1,2]`, "same type"},
		{"crypto.sha256", `[1]`, "operand"},
		{"crypto.sha256", `["` + strings.Repeat("a", maxHostText+1) + `"]`, "more than"},
		{"crypto.sha256", `["` + strings.Repeat("a", maxHostArgs) + `"]`, "arguments have more"},
		{"crypto.sha256", `[]`, "0 arguments"},
		{"crypto.sha256", `["a","b"]`, "2 arguments"},
		{"crypto.sha256", `{"a":1}`, "not a list"},
		{"crypto.sha256", `["a"`, "missing"},
		{"crypto.sha256", ``, "not a list"},
		{"hex.encode", `[` + long + `]`, ""},
		{"gw_strict.product", `[[` + strings.Repeat("9,", 2000) + `9]]`, "product"},
	} {
		f, ok := Builtin(test.name)
		if !ok {
			t.Errorf("%s is not served", test.name)
			continue
		}
		got, err := f([]byte(test.args))
		if test.want == "" && err == nil {
			continue
		}
		failed, is := errors.AsType[*BuiltinError](err)
		if !is || !strings.Contains(failed.What, test.want) {
			t.Errorf("%s%.60s: got %.60s, %v, want the error %q", test.name, test.args, got, err, test.want)
		}
	}
	for _, name := range []string{"http.send", "gw_strict.http.send", "count", "gw_strict.sprintf", "gw_strict.eq", "gw_strict.minus", "", "gw_strict.", "print", "gw_strict.internal.print"} {
		if _, ok := Builtin(name); ok {
			t.Errorf("%q is served", name)
		}
	}
}

func TestBuiltinCost(t *testing.T) {
	plain := BuiltinCost("crypto.sha256", []byte(`["aaaaaaaaaa"]`))
	longer := BuiltinCost("crypto.sha256", []byte(`["`+strings.Repeat("a", 1000)+`"]`))
	light := BuiltinCost("gw_strict.regex.match", []byte(`["a","`+strings.Repeat("a", 1000)+`"]`))
	heavy := BuiltinCost("gw_strict.regex.match", []byte(`["((a?){9}){9}","`+strings.Repeat("a", 1000)+`"]`))
	if plain <= 0 || longer <= plain || light <= longer || heavy <= 2*light {
		t.Errorf("costs %d, %d, %d, %d", plain, longer, light, heavy)
	}
	if BuiltinCost("gw_strict.regex.match", nil) <= 0 || BuiltinCost("regex.split", []byte(`[1`)) <= 0 {
		t.Error("broken arguments cost nothing")
	}
}

// Built-ins share what they know of patterns.
func TestBuiltinsInParallel(t *testing.T) {
	match, _ := Builtin("gw_strict.regex.match")
	clock, _ := Builtin("time.clock")
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			for i := range 300 {
				pattern := strings.Repeat("a", 1+(n*300+i)%400)
				got, err := match([]byte(`["` + pattern + `","` + pattern + `"]`))
				if err != nil || string(got) != "true" {
					t.Errorf("%s, %v", got, err)
				}
				if _, err := clock([]byte(`[[0,"Europe/Berlin"]]`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzBuiltin: whatever the arguments are, the result is JSON and the same
// twice, or there is an error; nothing panics or grows beyond its bounds.
func FuzzBuiltin(f *testing.F) {
	names := allowedNames()
	for i := range names {
		f.Add(i, `["a","b",1]`)
		f.Add(i, `["a"]`)
	}
	f.Add(0, `["%5d",[1,2]]`)
	f.Add(3, `[{"a":[1e300,-0.5,"x"]},["a"],null]`)
	f.Add(5, `["(a|b)*","abab",-1]`)
	f.Fuzz(func(t *testing.T, i int, args string) {
		name := names[uint(i)%uint(len(names))]
		for _, name := range []string{name, strictPrefix + name} {
			call, ok := Builtin(name)
			if !ok {
				continue
			}
			got, err := call([]byte(args))
			again, errAgain := call([]byte(args))
			if string(got) != string(again) || (err == nil) != (errAgain == nil) {
				t.Fatalf("%s%s: %s, %v, then %s, %v", name, args, got, err, again, errAgain)
			}
			if err == nil && (!json.Valid(got) || len(got) > maxHostResult) {
				t.Fatalf("%s%s: %.200s", name, args, got)
			}
			if cost := BuiltinCost(name, []byte(args)); cost <= 0 {
				t.Fatalf("%s costs %d", name, cost)
			}
		}
	})
}
