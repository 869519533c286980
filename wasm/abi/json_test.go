package abi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

func appendJSON(tb testing.TB, in *abi.Input, s abi.Stage, r *abi.Reads) []byte {
	tb.Helper()
	doc, err := abi.AppendJSON(nil, in, s, r)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// parse reads JSON with numbers as they are written, and no key twice.
func parse(tb testing.TB, doc []byte) map[string]any {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		tb.Fatalf("%v in %s", err, doc)
	}
	return m
}

func TestJSON(t *testing.T) {
	const want = `{"v":1,
"request":{"id":"req-7","org":"acme","team":"search","key":"ci","tags":{"env":"prod","residency":"eu"},"endpoint":"chat","model":"gpt-large",
"stream":true,"tools":true,"vision":false,"audio":true,"json_schema":false,"reasoning":false,"input_tokens":1200,"max_output_tokens":500,
"session":"s-1","attempt_budget":4,"headers":{"x-app":"web"},"metadata":{"user":"17"},"text":"Grüß Gott",
"hour":14,"weekday":1,"month":9,"day":21,"now_unix_ms":1790000000123,"seed":18369614218089748088},
"caller":{"budget_left_nusd":12500000000,"rpm_left":59,"tpm_left":4294967295},
"candidates":[
{"id":"a/gpt","provider":"a","model":"gpt-large","upstream_model":"gpt-large-2026","supply_tier":"direct","tier":0,"tags":{"gpu":"h100","team":"x"},
"region":"eu-west","priority":10,"weight":3,"context_limit":128000,"max_output":4096,"price_in":2500000000,"price_out":10000000000,"price":17500000000,
"est_cost_nusd":8000000,"ttft_ms":310,"latency_p50_ms":2100,"latency_p95_ms":5400,"throughput_tps_milli":61500,"success_ppm":998000,"samples":400,
"in_flight":2,"quota_left_ppm":420000,"quota_reset_unix_ms":1790000060000,"circuit":"half_open","affinity":true,"preferred":false,"locked":false,
"last_success_unix_ms":1789999999000,"skipped":null},
{"id":"b/gpt","provider":"b","model":"gpt-large","upstream_model":"gpt-large","supply_tier":"","tier":1,"tags":{},"region":"","priority":5,"weight":1,
"samples":0,"in_flight":0,"circuit":"open","affinity":false,"preferred":true,"locked":true,"skipped":{"reason":"cooldown","until_unix_ms":1790000030000}},
{"id":"c/gpt","provider":"a","model":"gpt-large","upstream_model":"gpt-large-2026","supply_tier":"reseller","tier":1,"tags":{"team":"y"},
"region":"us-east","priority":5,"weight":1,"context_limit":8192,"max_output":1024,"price_in":500000000,"price_out":1500000001,"price":3000000001,
"est_cost_nusd":2000000,"ttft_ms":110,"latency_p50_ms":900,"latency_p95_ms":1400,"throughput_tps_milli":99000,"success_ppm":1000000,"samples":30,
"in_flight":0,"circuit":"closed","affinity":false,"preferred":false,"locked":false,"last_success_unix_ms":1789999999500,"skipped":null}],
"facets":{"provider":["a"],"model":["gpt-large"],"upstream_model":["gpt-large-2026"],"region":["eu-west","us-east"],"supply_tier":["direct","reseller"],
"tier":[0,1],"id":["a/gpt","c/gpt"],"tag.gpu":["h100"],"tag.team":["x","y"]}}`
	got := string(appendJSON(t, example(), abi.Admission, abi.All()))
	if diff := cmp.Diff(strings.ReplaceAll(want, "\n", ""), got); diff != "" {
		t.Error(diff)
	}
	if n, err := abi.AppendJSON([]byte("x"), example(), abi.Ranking, abi.All()); err != nil || !bytes.HasPrefix(n, []byte(`x{"v":1,`)) {
		t.Errorf("appended to something: %.20s, %v", n, err)
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, in := range []*abi.Input{
		{Records: make([]abi.Candidate, abi.MaxRecords+1)},
		{Tags: []abi.Tag{{"b", ""}, {"a", ""}}},
		{Records: []abi.Candidate{{Tags: []abi.Tag{{"b", ""}, {"a", ""}}}}},
	} {
		if doc, err := abi.AppendJSON([]byte("x"), in, abi.Ranking, abi.All()); err == nil || string(doc) != "x" {
			t.Errorf("got %.40s and the error %v", doc, err)
		}
	}
}

// What is not granted is not there.
func TestTextIsGranted(t *testing.T) {
	in := example()
	in.Granted = false
	if doc := appendJSON(t, in, abi.Admission, abi.All()); bytes.Contains(doc, []byte("Gott")) {
		t.Error("the text is in the JSON form")
	}
	if b := encode(t, in, abi.Admission); bytes.Contains(b, []byte("Gott")) {
		t.Error("the text is in the buffer")
	}
}

// Both forms say the same, whatever the input: every field that both have, and
// what only the JSON form has follows from them.
func TestBothFormsSayTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		in := random(r, r.IntN(12))
		for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
			d := decode(t, encode(t, in, stage))
			doc := parse(t, appendJSON(t, in, stage, abi.All()))
			if err := validate(parse(t, []byte(abi.Schema(stage))), doc, "input"); err != nil {
				t.Fatal(err)
			}
			same(t, abi.Header[:], abi.RequestObject, d.header, doc["request"].(map[string]any))
			same(t, abi.Header[:], abi.CallerObject, d.header, doc["caller"].(map[string]any))
			attrs := map[string]string{}
			for prefix, name := range map[string]string{"tag.": "tags", "header.": "headers", "meta.": "metadata"} {
				for k, v := range doc["request"].(map[string]any)[name].(map[string]any) {
					attrs[prefix+k] = v.(string)
				}
			}
			for _, name := range []string{"id", "text"} {
				if s, ok := doc["request"].(map[string]any)[name].(string); ok && (s != "" || name == "text") {
					attrs[name] = s
				}
			}
			if diff := cmp.Diff(attrs, d.attrs); diff != "" {
				t.Fatal(diff)
			}
			list := doc["candidates"].([]any)
			if len(list) != len(d.records) {
				t.Fatalf("%d and %d candidates", len(list), len(d.records))
			}
			for i, c := range list {
				same(t, abi.Record[:], abi.CandidateObject, d.records[i], c.(map[string]any))
				tags := map[string]string{}
				for k, v := range c.(map[string]any)["tags"].(map[string]any) {
					tags[k] = v.(string)
				}
				if diff := cmp.Diff(d.tags[i], tags); diff != "" {
					t.Fatal(diff)
				}
			}
		}
	}
}

// same compares the fields that both forms have.
func same(t *testing.T, fields []abi.Field, object abi.Object, binary, doc map[string]any) {
	t.Helper()
	for _, f := range fields {
		if f.In != object || f.Type == abi.None {
			continue
		}
		got, there := doc[f.Name]
		want := fmt.Sprint(binary[f.Name])
		switch {
		case f.JSON == abi.Enum:
			want = abi.CircuitNames[binary[f.Name].(uint32)]
		case f.JSON == abi.SkipState:
			if want = "<nil>"; binary[f.Name] != uint32(0) {
				m := map[string]any{"reason": abi.SkipNames[binary[f.Name].(uint32)]}
				if u := binary["skipped_until_unix_ms"].(int64); u != abi.Unknown {
					m["until_unix_ms"] = json.Number(strconv.FormatInt(u, 10))
				}
				want = fmt.Sprint(m)
			}
		case f.Absent && (binary[f.Name] == abi.Unknown || binary[f.Name] == abi.UnknownCount):
			if there {
				t.Errorf("%s is %v, and not known in the buffer", f.Name, got)
			}
			continue
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s is %v, and %v in the buffer", f.Name, got, want)
		}
	}
}

// The blended price does not overflow.
func TestBlended(t *testing.T) {
	const most = math.MaxInt64
	for _, tt := range []struct {
		in, out, want int64
	}{
		{2, 5, 11},
		{0, 0, 0},
		{abi.Unknown, 5, abi.Unknown},
		{2, abi.Unknown, abi.Unknown},
		{1 << 62, 5, most},
		{1<<63 - 1, 1<<63 - 1, most},
		{1, 1<<63 - 3, most},
	} {
		if got := abi.Blended(tt.in, tt.out); got != tt.want {
			t.Errorf("of %d and %d: %d, want %d", tt.in, tt.out, got, tt.want)
		}
	}
}

// The price that an unknown one is ranked by is the median of the prices, which
// need not be the one that the medians of both its parts make.
func TestMedianOfPrices(t *testing.T) {
	in := &abi.Input{}
	for _, p := range [][2]int64{{1, 100}, {50, 1}, {60, 2}, {abi.Unknown, abi.Unknown}} {
		in.Records = append(in.Records, abi.Candidate{PriceIn: p[0], PriceOut: p[1], Price: abi.Blended(p[0], p[1])})
	}
	const want = "151" // of 103, 151 and 182; of 50 and 2 it would be 152
	doc := parse(t, appendJSON(t, in, abi.Ranking, abi.All()))
	if got := doc["candidates"].([]any)[3].(map[string]any)["price"]; fmt.Sprint(got) != want {
		t.Errorf("the price is %v, want %s", got, want)
	}
	if got := decode(t, encode(t, in, abi.Ranking)).records[3]["price"]; fmt.Sprint(got) != want {
		t.Errorf("the price is %v in the buffer, want %s", got, want)
	}
}

func TestStrings(t *testing.T) {
	for _, s := range []string{"", "plain", `"\`, "\x00\x1f\x7f\n\r\t", "é\u2028\u2029<>&", "a\xffb", "\xc3", "😀", "\xf0\x9f\x98"} {
		doc := parse(t, appendJSON(t, &abi.Input{Team: s}, abi.Admission, abi.All()))
		want := decode(t, encode(t, &abi.Input{Team: s}, abi.Admission)).header["team"]
		if got := doc["request"].(map[string]any)["team"]; got != want {
			t.Errorf("%q became %q, in the buffer %q", s, got, want)
		}
	}
}

// Facets of a pool of any size are distinct, sorted and complete.
func TestFacets(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, 5, 100, 1000} {
		in := &abi.Input{}
		regions, tags := map[string]bool{}, map[string]bool{}
		for i := range n {
			c := abi.Candidate{Region: fmt.Sprint("r", r.IntN(50)), Tags: []abi.Tag{{"p", fmt.Sprint("q", r.IntN(40))}}, Tier: r.Uint32N(3)}
			if i%7 == 0 {
				c.Skipped = 1
			} else {
				regions[c.Region], tags[c.Tags[0].Value] = true, true
			}
			in.Records = append(in.Records, c)
		}
		doc := parse(t, appendJSON(t, in, abi.Admission, abi.All()))["facets"].(map[string]any)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(regions)), texts(doc["region"])); diff != "" {
			t.Errorf("%d candidates: %s", n, diff)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(tags)), texts(doc["tag.p"])); diff != "" {
			t.Errorf("%d candidates: %s", n, diff)
		}
		if got := texts(doc["supply_tier"]); len(got) != 0 {
			t.Errorf("values of what no candidate has: %v", got)
		}
	}
}

func texts(list any) []string {
	var s []string
	l, _ := list.([]any)
	for _, v := range l {
		s = append(s, fmt.Sprint(v))
	}
	return s
}
