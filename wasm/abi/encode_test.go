package abi_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

func TestEncode(t *testing.T) {
	in := example()
	d := decode(t, encode(t, in, abi.Admission))
	want := map[string]any{
		"magic": uint32(abi.Magic), "abi": uint32(0x10000), "count": uint32(3), "record_size": uint32(224), "records_off": uint32(160),
		"strings_off": uint32(160 + 3*228 + 256), "seed": uint64(0xfeedface12345678), "now_unix_ms": int64(1790000000123),
		"input_tokens": uint32(1200), "max_output_tokens": uint32(500), "request_flags": uint32(0b100011),
		"hour": byte(14), "weekday": byte(1), "month": byte(9), "day": byte(21), "budget_left_nusd": int64(12_500_000_000),
		"org": "acme", "team": "search", "key": "ci", "model": "gpt-large", "session": "s-1", "endpoint": "chat",
		"order_off": uint32(160 + 3*224), "order_count": uint32(0), "error_off": uint32(160 + 3*228), "error_cap": uint32(256),
		"error_len": uint32(0), "attrs_off": d.header["attrs_off"], "refusal_status": uint32(0), "refusal_retry_after_s": uint32(0),
		"refusal_reason": uint32(0), "attempt_budget": uint32(4), "rpm_left": uint32(59), "tpm_left": uint32(math.MaxUint32),
	}
	if diff := cmp.Diff(want, d.header); diff != "" {
		t.Error(diff)
	}
	attrs := map[string]string{"header.x-app": "web", "id": "req-7", "meta.user": "17", "tag.env": "prod", "tag.residency": "eu", "text": "Grüß Gott"}
	if diff := cmp.Diff(attrs, d.attrs); diff != "" {
		t.Error(diff)
	}
	first := map[string]any{
		"index": uint32(0), "flags": uint32(1<<1 | 1<<2 | 1<<8), "skipped": uint32(0), "tier": uint32(0), "priority": uint32(10), "weight": uint32(3),
		"context_limit": uint32(128_000), "max_output": uint32(4096), "verdict": uint32(0), "circuit": uint32(1),
		"price_in": int64(2_500_000_000), "price_out": int64(10_000_000_000), "ttft_ms": int64(310), "latency_p50_ms": int64(2100),
		"latency_p95_ms": int64(5400), "success_ppm": int64(998_000), "throughput_tps_milli": int64(61_500), "quota_left_ppm": int64(420_000),
		"quota_reset_unix_ms": int64(1790000060000), "skipped_until_unix_ms": int64(math.MinInt64), "in_flight": uint32(2), "samples": uint32(400),
		"last_success_unix_ms": int64(1789999999000), "id": "a/gpt", "provider": "a", "model": "gpt-large", "region": "eu-west",
		"supply_tier": "direct", "tags_off": d.records[0]["tags_off"], "reserved": uint32(0), "score": math.NaN(), "until_unix_ms": int64(math.MinInt64),
		"est_cost_nusd": int64(8_000_000), "price": int64(17_500_000_000), "upstream_model": "gpt-large-2026",
	}
	if diff := cmp.Diff(first, d.records[0], equateNaN); diff != "" {
		t.Error(diff)
	}
	second := d.records[1]
	for name, want := range map[string]any{
		"index": uint32(1), "skipped": uint32(10), "skipped_until_unix_ms": int64(1790000030000), "context_limit": uint32(math.MaxUint32),
		"price_in": int64(math.MinInt64), "success_ppm": int64(math.MinInt64), "region": "", "tags_off": uint32(0), "flags": uint32(1<<9 | 1<<10),
	} {
		if second[name] != want {
			t.Errorf("record 1: %s is %v, want %v", name, second[name], want)
		}
	}
	if diff := cmp.Diff([]map[string]string{{"gpu": "h100", "team": "x"}, {}, {"team": "y"}}, d.tags); diff != "" {
		t.Error(diff)
	}
}

var equateNaN = cmp.Comparer(func(a, b float64) bool { return a == b || (math.IsNaN(a) && math.IsNaN(b)) })

// What a ranking is given for an unknown number is the median of those in the
// pool.
func TestMedians(t *testing.T) {
	tests := []struct {
		name  string
		known []int64 // of the pool
		out   int64   // of a candidate that is skipped
		stage abi.Stage
		want  int64
	}{
		{"odd", []int64{30, 10, 20}, 1000, abi.Ranking, 20},
		{"even", []int64{30, 10, 21, 40}, 1000, abi.Ranking, 25},
		{"of large numbers", []int64{math.MaxInt64, math.MaxInt64 - 2}, 0, abi.Ranking, math.MaxInt64 - 1},
		{"nobody knows", nil, abi.Unknown, abi.Ranking, abi.Unknown},
		{"only one outside knows", nil, 7, abi.Ranking, abi.Unknown},
		{"an admission sees that it is not known", []int64{10}, 7, abi.Admission, abi.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := &abi.Input{}
			for _, v := range append(tt.known, abi.Unknown) {
				in.Records = append(in.Records, abi.Candidate{TTFT: v})
			}
			in.Records = append(in.Records, abi.Candidate{TTFT: tt.out, Skipped: 1})
			d := decode(t, encode(t, in, tt.stage))
			if got := d.records[len(tt.known)]["ttft_ms"]; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			for i, v := range tt.known {
				if got := d.records[i]["ttft_ms"]; got != v {
					t.Errorf("the known %v became %v", v, got)
				}
			}
		})
	}
}

func TestTextsOfTheClient(t *testing.T) {
	long := strings.Repeat("x", abi.MaxText-1)
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"plain", "gpt", "gpt"},
		{"as long as it may be", long + "x", long + "x"},
		{"too long", long + "xyz", long + "x"},
		{"too long, cut before a character", long + "é", long},
		{"too long, cut behind a character", long[1:] + "éx", long[1:] + "é"},
		{"too long and not UTF-8", strings.Repeat("\x80", abi.MaxText+9), strings.Repeat("?", abi.MaxText)},
		{"not UTF-8", "a\xffb\xc3", "a?b?"},
		{"a surrogate", "\xed\xa0\x80", "???"},
		{"the replacement character itself", "\ufffd", "\ufffd"},
		{"with a zero", "a\x00b", "a\x00b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := &abi.Input{Session: tt.text, Tags: []abi.Tag{{"t", tt.text}}}
			d := decode(t, encode(t, in, abi.Ranking))
			if d.header["session"] != tt.want || d.attrs["tag.t"] != tt.want {
				t.Errorf("got %q and %q, want %q", d.header["session"], d.attrs["tag.t"], tt.want)
			}
		})
	}
}

func TestTooManyTags(t *testing.T) {
	m := map[string]string{}
	for i := range 100 {
		m[fmt.Sprintf("k%03d", i)] = "v"
	}
	d := decode(t, encode(t, &abi.Input{Tags: abi.Tags(m), Records: []abi.Candidate{{Tags: abi.Tags(m)}}}, abi.Ranking))
	if len(d.attrs) != abi.MaxPairs || len(d.tags[0]) != abi.MaxPairs || d.attrs["tag.k063"] != "v" || d.tags[0]["k063"] != "v" {
		t.Errorf("got %d attributes and %d tags", len(d.attrs), len(d.tags[0]))
	}
}

func TestEncodeRefuses(t *testing.T) {
	many := &abi.Input{Records: make([]abi.Candidate, abi.MaxRecords+1)}
	if _, err := abi.Encode(make([]byte, abi.Size(many)), many, abi.Ranking); !errors.Is(err, abi.ErrTooMany) {
		t.Errorf("too many candidates: %v", err)
	}
	for _, in := range []*abi.Input{
		{Tags: []abi.Tag{{"b", ""}, {"a", ""}}},
		{Metadata: []abi.Tag{{"a", ""}, {"a", ""}}},
		{Records: []abi.Candidate{{Tags: []abi.Tag{{"b", ""}, {"a", ""}}}}},
	} {
		if _, err := abi.Encode(make([]byte, abi.Size(in)), in, abi.Ranking); err == nil || errors.Is(err, abi.ErrShort) {
			t.Errorf("tags in no order: %v", err)
		}
	}
}

// A buffer of Size is enough, and one that is shorter than what is written never
// is; nothing is written behind the end.
func TestShortBuffers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		in := random(r, r.IntN(30))
		full := encode(t, in, abi.Ranking)
		for _, short := range []int{len(full) - 1, r.IntN(len(full)), 0} {
			b := make([]byte, len(full))
			if _, err := abi.Encode(b[:short:short], in, abi.Ranking); !errors.Is(err, abi.ErrShort) {
				t.Fatalf("%d of %d bytes: %v", short, len(full), err)
			}
			for _, c := range b[short:] {
				if c != 0 {
					t.Fatal("written behind the end")
				}
			}
		}
	}
}

// Whatever was in the buffer before, what it holds afterwards is the same, up
// to what the guest alone writes, and all texts are UTF-8.
func TestEncodeLeavesNothingBehind(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		in := random(r, r.IntN(30))
		clean := encode(t, in, abi.Ranking)
		dirty := make([]byte, len(clean)+100)
		for i := range dirty {
			dirty[i] = byte(r.Uint32())
		}
		n, err := abi.Encode(dirty, in, abi.Ranking)
		if err != nil || n != len(clean) {
			t.Fatalf("%d bytes, want %d: %v", n, len(clean), err)
		}
		a, b := decode(t, clean), decode(t, dirty[:n])
		if diff := cmp.Diff(a, b, cmp.AllowUnexported(decoded{}), equateNaN); diff != "" {
			t.Fatal(diff)
		}
		for k, v := range a.attrs {
			if !utf8.ValidString(k + v) {
				t.Fatalf("the attribute %q is %q", k, v)
			}
		}
	}
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	in := example()
	b := make([]byte, abi.Size(in))
	var doc []byte
	reads := abi.All()
	if n := testing.AllocsPerRun(100, func() {
		if _, err := abi.Encode(b, in, abi.Ranking); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Encode: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		var err error
		if doc, err = abi.AppendJSON(doc[:0], in, abi.Ranking, reads); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("AppendJSON: %v allocations", n)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]uint32{-5: 0, math.MinInt64: 0, 0: 0, 7: 7, 1<<32 - 2: 1<<32 - 2, 1<<32 - 1: 1<<32 - 2, math.MaxInt64: 1<<32 - 2} {
		if got := abi.Count(n); got != want {
			t.Errorf("Count(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestSkipOf(t *testing.T) {
	for name, want := range map[string]abi.Skip{"disabled": 1, "cooldown": 10, "already_tried": 15, "policy:eu-only": abi.SkipPolicy, "": 0} {
		if got := abi.SkipOf(name); got != want {
			t.Errorf("SkipOf(%q) = %d, want %d", name, got, want)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{3, 20, 200, 1000} {
		in := example()
		base := in.Records[0]
		in.Records = nil
		for i := range n {
			c := base
			c.ID = fmt.Sprintf("provider-%d/gpt-large", i)
			c.Provider = []string{"one", "two", "three"}[i%3]
			in.Records = append(in.Records, c)
		}
		dst := make([]byte, abi.Size(in))
		b.Run(fmt.Sprintf("candidates=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := abi.Encode(dst, in, abi.Ranking); err != nil {
					b.Fatal(err)
				}
			}
		})
		facets, err := abi.ReadsOf([]string{"request.tags.residency", "request.team", "request.hour", "facets.region", "facets.provider"})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range []struct {
			name  string
			reads *abi.Reads
		}{{"json", abi.All()}, {"json facets", facets}} {
			b.Run(fmt.Sprintf("%s candidates=%d", r.name, n), func(b *testing.B) {
				var doc []byte
				b.ReportAllocs()
				for b.Loop() {
					if doc, err = abi.AppendJSON(doc[:0], in, abi.Ranking, r.reads); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(doc)), "bytes")
			})
		}
	}
}
