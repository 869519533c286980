package scan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/scan"
)

const depth = 8

// members returns the members of an object as "key=value" texts.
func members(body string) (out []string, err error) {
	err = scan.Object([]byte(body), depth, func(m scan.Member) error {
		if m.Index != len(out) || body[m.KeyStart] != '"' {
			return fmt.Errorf("member %d: index %d, key at %d", len(out), m.Index, m.KeyStart)
		}
		out = append(out, string(m.Key)+"="+body[m.Start:m.End])
		return nil
	})
	return out, err
}

func TestObject(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"empty", "{}", nil},
		{"space everywhere", " \t\r\n{ \n} \n", nil},
		{"kinds", `{"a":1,"b":"x","c":[1,{"d":[]}],"e":{"f":{}},"g":true,"h":false,"i":null}`, []string{"a=1", `b="x"`, `c=[1,{"d":[]}]`, `e={"f":{}}`, "g=true", "h=false", "i=null"}},
		{"space around values", "{ \"a\" :\n1 , \"b\":\t[ 1 , 2 ] }", []string{"a=1", "b=[ 1 , 2 ]"}},
		{"numbers", `{"a":0,"b":-0,"c":-12.50,"d":1e9,"e":1E-9,"f":0.1e+2,"g":123456789012345678901234567890}`, []string{"a=0", "b=-0", "c=-12.50", "d=1e9", "e=1E-9", "f=0.1e+2", "g=123456789012345678901234567890"}},
		{"key with escapes", `{"mod\u0065l":1,"a\n\"\\\/":2,"\ud83d\ude00\ud800":3}`, []string{"model=1", "a\n\"\\/=2", "\U0001F600\ufffd=3"}},
		{"twice", `{"a":1,"a":2}`, []string{"a=1", "a=2"}},
		{"quotes and brackets in strings", `{"a":"}]\\","b":"\"{[","c":"\\\""}`, []string{`a="}]\\"`, `b="\"{["`, `c="\\\""`}},
		{"depth at the limit", `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`, []string{"a=" + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1)}},
		{"bytes that are not UTF-8", "{\"a\":\"\xff\x80\"}", []string{"a=\"\xff\x80\""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := members(tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
			if !json.Valid([]byte(tt.body)) {
				t.Error("the text is not valid")
			}
		})
	}
}

func TestObjectErrors(t *testing.T) {
	tests := []struct {
		name, body string
		offset     int
		msg        string
	}{
		{"empty", "", 0, "the text ends too early"},
		{"space", "  ", 2, "the text ends too early"},
		{"array", "[]", 0, "the text is not an object"},
		{"string", `"a"`, 0, "the text is not an object"},
		{"open", "{", 1, "the text ends too early"},
		{"open after a comma", `{"a":1,`, 7, "the text ends too early"},
		{"open after a key", `{"a"`, 4, "the text ends too early"},
		{"open after a colon", `{"a":`, 5, "the text ends too early"},
		{"open string", `{"a":"b`, 7, "the text ends too early"},
		{"open string after a backslash", `{"a":"b\`, 7, "a bad escape in a string"},
		{"open array", `{"a":[1`, 7, "the text ends too early"},
		{"trailing comma", `{"a":1,}`, 7, "a key is missing"},
		{"trailing comma in an array", `{"a":[1,]}`, 8, "a value is missing"},
		{"comma first", `{,"a":1}`, 1, "a key is missing"},
		{"no comma", `{"a":1 "b":2}`, 7, "a comma is missing"},
		{"no comma in an array", `{"a":[1 2]}`, 8, "a comma is missing"},
		{"no colon", `{"a" 1}`, 5, "a colon is missing after a key"},
		{"no key", `{1:2}`, 1, "a key is missing"},
		{"bare key", `{a:2}`, 1, "a key is missing"},
		{"single quotes", `{'a':2}`, 1, "a key is missing"},
		{"wrong closer", `{"a":[1}}`, 7, "a comma is missing"},
		{"text behind", `{} x`, 3, "text after the end of the value"},
		{"second object", `{}{}`, 2, "text after the end of the value"},
		{"NUL behind", "{}\x00", 2, "text after the end of the value"},
		{"NaN", `{"a":NaN}`, 5, "a value is missing"},
		{"Infinity", `{"a":-Infinity}`, 6, "a digit is missing"},
		{"plus", `{"a":+1}`, 5, "a value is missing"},
		{"leading zero", `{"a":01}`, 6, "a comma is missing"},
		{"point without digits", `{"a":1.}`, 7, "a digit is missing"},
		{"exponent without digits", `{"a":1e}`, 7, "a digit is missing"},
		{"half a word", `{"a":tru}`, 5, "a value is missing"},
		{"long word", `{"a":nulll}`, 9, "a comma is missing"},
		{"comment", `{"a":1/*x*/}`, 6, "a comma is missing"},
		{"byte order mark", "\xef\xbb\xbf{}", 0, "the text is not an object"},
		{"control byte outside", "{\x01}", 1, "a key is missing"},
		{"control byte in a string", "{\"a\":\"0123456789\n\"}", 16, "a control byte in a string"},
		{"control byte in a key", "{\"\x1f\":1}", 2, "a control byte in a string"},
		{"bad escape", `{"a":"\x"}`, 6, "a bad escape in a string"},
		{"bad hex", `{"a":"\u12g4"}`, 6, "a bad escape in a string"},
		{"short hex", `{"a":"\u12"}`, 6, "a bad escape in a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := members(tt.body)
			got, ok := errors.AsType[*scan.SyntaxError](err)
			if !ok {
				t.Fatalf("got error %v, want a SyntaxError", err)
			}
			if diff := cmp.Diff(&scan.SyntaxError{Offset: tt.offset, Msg: tt.msg}, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if strings.HasPrefix(strings.TrimSpace(tt.body), "{") && json.Valid([]byte(tt.body)) {
				t.Error("the text is valid")
			}
		})
	}
}

func TestObjectDepth(t *testing.T) {
	for name, body := range map[string]string{
		"arrays":      `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`,
		"objects":     `{"a":` + strings.Repeat(`{"b":`, depth) + "1" + strings.Repeat("}", depth) + `}`,
		"a million":   `{"a":` + strings.Repeat("[", 1_000_000),
		"not closed":  `{"a":` + strings.Repeat(`[{"a":`, depth),
		"in an array": `{"a":[1,2,` + strings.Repeat("[", depth) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := members(body)
			if got, ok := errors.AsType[*scan.DepthError](err); !ok || got.Limit != depth {
				t.Errorf("got error %v, want a DepthError with limit %d", err, depth)
			}
		})
	}
}

func TestObjectStopsAtErrors(t *testing.T) {
	stop := errors.New("enough")
	seen := 0
	err := scan.Object([]byte(`{"a":1,"b":2,x`), depth, func(scan.Member) error {
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || seen != 2 {
		t.Errorf("got error %v after %d members", err, seen)
	}
	seen = 0
	if err = scan.Object([]byte(`{"a":1,"b":2,x`), depth, func(scan.Member) error { seen++; return nil }); err == nil || seen != 2 {
		t.Errorf("got error %v after %d members, want both members and an error", err, seen)
	}
}

func TestCursorArrays(t *testing.T) {
	elements := func(body string) (out []string, err error) {
		c := scan.NewCursor([]byte(body), depth)
		for c.EnterArray(); c.Element(); {
			out = append(out, string(c.Raw()))
		}
		return out, c.Close()
	}
	for body, want := range map[string][]string{
		"[]":                    nil,
		` [ ] `:                 nil,
		`[1, "a",{"b":[2]},[]]`: {"1", `"a"`, `{"b":[2]}`, "[]"},
	} {
		got, err := elements(body)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, elements (-want +got):\n%s", body, err, diff)
		}
	}
	for _, body := range []string{"[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "[] x"} {
		if _, err := elements(body); err == nil {
			t.Errorf("%s: got no error", body)
		}
	}
	if _, err := elements(strings.Repeat("[", depth+1)); err == nil || err.Error() != "nested deeper than 8 levels" {
		t.Errorf("got error %v, want a DepthError", err)
	}
}

func TestString(t *testing.T) {
	tests := []struct {
		raw, want string
		err       error
	}{
		{`""`, "", nil},
		{`"abc"`, "abc", nil},
		{` "a" `, "a", nil},
		{`"é\u00e9\n\t\"\\\/\b\f\r"`, "éé\n\t\"\\/\b\f\r", nil},
		{`"\ud83d\ude00"`, "\U0001F600", nil},
		{`"\uD83D\uDE00x"`, "\U0001F600x", nil},
		{`"\ufffd"`, "\ufffd", nil},
		{`"\u0000"`, "\x00", nil},
		{`"\ud83d"`, "", scan.ErrSurrogate},
		{`"\ude00\ud83d"`, "", scan.ErrSurrogate},
		{`"\ud83d\n"`, "", scan.ErrSurrogate},
		{`"\\ud83d"`, `\ud83d`, nil},
		{"\"\xff\"", "", scan.ErrUTF8},
		{"\"\\n\xed\xa0\x80\"", "", scan.ErrUTF8},
		{`12`, "", scan.ErrNotString},
		{`null`, "", scan.ErrNotString},
	}
	for _, tt := range tests {
		got, err := scan.String([]byte(tt.raw))
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: got %q, %v; want %q, %v", tt.raw, got, err, tt.want, tt.err)
		}
	}
	for _, raw := range []string{`"`, `"a`, `"\x"`, `"a"b`, "\"\n\""} {
		if _, err := scan.String([]byte(raw)); err == nil {
			t.Errorf("%s: got no error", raw)
		}
	}
}

func TestStringAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		written := scan.AppendString([]byte("kept;"), want)[5:]
		var theirs string
		if err := json.Unmarshal(written, &theirs); err != nil || theirs != want {
			t.Fatalf("%s is not %q: %v", written, want, err)
		}
		if bytes.ContainsAny(written, "<>&\u2028\u2029\n\r\x00") {
			t.Fatalf("%q is not escaped", written)
		}
		marshalled, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{written, marshalled} {
			if got, err := scan.String(raw); got != want || err != nil {
				t.Fatalf("%s: got %q, %v; want %q", raw, got, err, want)
			}
		}
	})
}

func TestAppendStringBadText(t *testing.T) {
	if got, want := string(scan.AppendString(nil, "a\xffb\x7f")), "\"a\ufffdb\\u007f\""; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplice(t *testing.T) {
	const body = `{"a":1,"b":2}`
	tests := []struct {
		name  string
		edits []scan.Edit
		want  string
	}{
		{"none", nil, body},
		{"replace", []scan.Edit{{5, 6, []byte("17")}}, `{"a":17,"b":2}`},
		{"insert", []scan.Edit{{1, 1, []byte(`"c":3,`)}}, `{"c":3,"a":1,"b":2}`},
		{"remove", []scan.Edit{{6, 12, nil}}, `{"a":1}`},
		{"all three", []scan.Edit{{1, 1, []byte(`"c":3,`)}, {5, 6, []byte("17")}, {6, 12, nil}}, `{"c":3,"a":17}`},
		{"everything", []scan.Edit{{0, len(body), []byte("x")}}, "x"},
		{"at the end", []scan.Edit{{len(body), len(body), []byte("\n")}}, body + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := string(scan.Splice([]byte("kept;"), []byte(body), tt.edits)), "kept;"+tt.want; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestRemoveKeepsTheRest takes random members out of random objects: what
// remains are the other members, byte for byte.
func TestRemoveKeepsTheRest(t *testing.T) {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\t\r\n "})
	value := rapid.SampledFrom([]string{"1", `"x"`, `","`, `{"a":[1,2],"b":","}`, "[]", "null", `"\",\""`})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "members")
		list := make([]string, n)
		for i := range list {
			list[i] = space.Draw(t, "space") + fmt.Sprintf(`"k%d"`, i) + space.Draw(t, "space") + ":" + space.Draw(t, "space") + value.Draw(t, "value") + space.Draw(t, "space")
		}
		body := "{" + strings.Join(list, ",") + "}"
		gone := map[string]bool{}
		var removed []scan.Member
		var want []string
		err := scan.Object([]byte(body), depth, func(m scan.Member) error {
			key := string(m.Key)
			if gone[key] = rapid.Bool().Draw(t, "remove "+key); gone[key] {
				removed = append(removed, m)
				return nil
			}
			want = append(want, key+"="+body[m.Start:m.End])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		result := string(scan.Splice(nil, []byte(body), scan.Remove(nil, []byte(body), removed...)))
		got, err := members(result)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%s became %s: error %v, members (-want +got):\n%s", body, result, err, diff)
		}
		if !json.Valid([]byte(result)) {
			t.Fatalf("%s is not valid", result)
		}
	})
}

// FuzzObject compares with encoding/json: the two accept the same objects, and
// see the same in them.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1,"b":[true,false,null,-1.5e+3],"c":{"d":"e\n\u00e9\ud83d\ude00"}}`, ` { "a" : [ 1 , { } ] } `, `{"a":01}`,
		`{"a":"0123456789012345678901234567890123456789\"\\"}`, "{\"a\":\"\x00\"}", `{"a":[}`, `[{}]`, `{"\u0061":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		const deep = 10_000 // as encoding/json
		var theirs map[string]json.RawMessage
		valid := json.Unmarshal(body, &theirs) == nil && theirs != nil
		ours := map[string]string{}
		err := scan.Object(body, deep, func(m scan.Member) error {
			ours[strings.ToValidUTF8(string(m.Key), "\ufffd")] = string(body[m.Start:m.End])
			if string(body[m.Start:m.End]) != strings.TrimSpace(string(body[m.Start:m.End])) || body[m.KeyStart] != '"' {
				t.Errorf("member %q at %d to %d", m.Key, m.Start, m.End)
			}
			return nil
		})
		if (err == nil) != valid {
			t.Fatalf("got error %v, but encoding/json says valid: %v", err, valid)
		}
		if err != nil {
			return
		}
		if len(ours) != len(theirs) && !strings.Contains(string(body), "\\u") && validText(body) {
			t.Errorf("got %d members, encoding/json %d", len(ours), len(theirs))
		}
		for key, value := range theirs {
			if got, ok := ours[key]; validText([]byte(key)) && ok && got != string(value) {
				t.Errorf("%q: got %s, encoding/json %s", key, got, value)
			}
		}
		if got := scan.Splice(nil, body, nil); string(got) != string(body) {
			t.Errorf("spliced without edits: %s", got)
		}
	})
}

func validText(s []byte) bool { return !strings.Contains(string(s), "\ufffd") && json.Valid(s) }

func FuzzString(f *testing.F) {
	for _, seed := range []string{`""`, `"a\n\u00e9"`, `"\ud83d\ude00"`, `"\ud83d"`, "\"\xff\"", `"\\ud83d"`, `1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := scan.String(raw)
		var theirs string
		terr := json.Unmarshal(raw, &theirs)
		if err == nil && (terr != nil || got != theirs) {
			t.Errorf("got %q, encoding/json %q, %v", got, theirs, terr)
		}
		if err != nil && terr == nil && !strings.Contains(theirs, "\ufffd") && string(raw) != "null" {
			t.Errorf("got error %v, encoding/json %q", err, theirs)
		}
	})
}
