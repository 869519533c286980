package abi_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

// guest writes into a buffer as a guest does.
type guest struct{ b []byte }

func (g guest) header(offset int, v uint32) { binary.LittleEndian.PutUint32(g.b[offset:], v) }

func (g guest) record(i int) []byte { return g.b[abi.HeaderSize+i*abi.RecordSize:] }

func (g guest) verdict(i int, reason uint32, until int64) {
	binary.LittleEndian.PutUint32(g.record(i)[abi.RecordVerdict:], reason)
	binary.LittleEndian.PutUint64(g.record(i)[abi.RecordUntilUnixMs:], uint64(until))
}

func (g guest) score(i int, s float64) {
	binary.LittleEndian.PutUint64(g.record(i)[abi.RecordScore:], math.Float64bits(s))
}

func (g guest) order(indexes ...uint32) {
	at := binary.LittleEndian.Uint32(g.b[abi.HeaderOrderOff:])
	for k, i := range indexes {
		binary.LittleEndian.PutUint32(g.b[int(at)+4*k:], i)
	}
	g.header(abi.HeaderOrderCount, uint32(len(indexes)))
}

func (g guest) message(s string) {
	copy(g.b[binary.LittleEndian.Uint32(g.b[abi.HeaderErrorOff:]):], s)
	g.header(abi.HeaderErrorLen, uint32(len(s)))
}

func (g guest) refuse(status, retry, reason uint32) {
	g.header(abi.HeaderRefusalStatus, status)
	g.header(abi.HeaderRefusalRetryAfterS, retry)
	g.header(abi.HeaderRefusalReason, reason)
}

var nan = math.NaN()

func TestRead(t *testing.T) {
	keep, lasting := abi.Verdict{Until: abi.Unknown}, abi.Unknown
	tests := []struct {
		name  string
		stage abi.Stage
		write func(guest)
		code  int32
		want  abi.Result
		wrong string // part of the error
	}{
		{"admits all", abi.Admission, func(guest) {}, 0, abi.Result{Verdicts: []abi.Verdict{keep, keep, keep}}, ""},
		{
			"removes", abi.Admission, func(g guest) { g.verdict(1, 2, lasting); g.verdict(2, 1, 1790000000000) }, 2,
			abi.Result{Verdicts: []abi.Verdict{keep, {2, abi.Unknown}, {1, 1790000000000}}, Removed: 2},
			"",
		},
		{"until without a verdict", abi.Admission, func(g guest) { g.verdict(1, 0, -5) }, 0, abi.Result{Verdicts: []abi.Verdict{keep, keep, keep}}, ""},
		{
			"refuses", abi.Admission, func(g guest) { g.refuse(429, 60, 2); g.message("später") }, 0,
			abi.Result{Verdicts: []abi.Verdict{keep, keep, keep}, Refusal: abi.Refusal{Status: 429, RetryAfter: 60, Reason: 2}, Message: []byte("später")},
			"",
		},
		{
			"refuses without a reason", abi.Admission, func(g guest) { g.refuse(403, 0, 0) }, 0,
			abi.Result{Verdicts: []abi.Verdict{keep, keep, keep}, Refusal: abi.Refusal{Status: 403}},
			"",
		},
		{"wrong number of removals", abi.Admission, func(g guest) { g.verdict(1, 2, lasting) }, 2, abi.Result{}, "returned 2, and 1"},
		{"verdict out of range", abi.Admission, func(g guest) { g.verdict(1, 3, lasting) }, 1, abi.Result{}, "verdict 3 on candidate 1, there are 2"},
		{"huge verdict", abi.Admission, func(g guest) { g.verdict(1, math.MaxUint32, lasting) }, 1, abi.Result{}, "verdict 4294967295"},
		{"until before 1970", abi.Admission, func(g guest) { g.verdict(1, 1, -1) }, 1, abi.Result{}, "no instant"},
		{"until in the year 10000", abi.Admission, func(g guest) { g.verdict(1, 1, 253402300800000) }, 1, abi.Result{}, "no instant"},
		{"unknown status", abi.Admission, func(g guest) { g.refuse(200, 0, 1) }, 0, abi.Result{}, "status 200"},
		{"status 503", abi.Admission, func(g guest) { g.refuse(503, 0, 1) }, 0, abi.Result{}, "status 503"},
		{"reason without a status", abi.Admission, func(g guest) { g.refuse(0, 0, 1) }, 0, abi.Result{}, "without a status"},
		{"wait without a status", abi.Admission, func(g guest) { g.refuse(0, 5, 0) }, 0, abi.Result{}, "without a status"},
		{"wait too long", abi.Admission, func(g guest) { g.refuse(429, abi.MaxRetryAfter+1, 1) }, 0, abi.Result{}, "seconds"},
		{"refusal reason out of range", abi.Admission, func(g guest) { g.refuse(400, 0, 3) }, 0, abi.Result{}, "reason 3"},

		{"ranks by scores", abi.Ranking, func(g guest) { g.score(0, 2.5); g.score(2, -1e308) }, 0, abi.Result{Scores: []float64{2.5, nan, -1e308}}, ""},
		{
			"scores that look odd", abi.Ranking, func(g guest) { g.score(0, math.Copysign(0, -1)); g.score(1, 5e-324); g.score(2, 1e308) }, 0,
			abi.Result{Scores: []float64{math.Copysign(0, -1), 5e-324, 1e308}},
			"",
		},
		{"ranks nobody", abi.Ranking, func(guest) {}, 0, abi.Result{Scores: []float64{nan, nan, nan}}, ""},
		{"ranks by order", abi.Ranking, func(g guest) { g.order(2, 0, 1); g.score(1, math.Inf(1)) }, 3, abi.Result{Ordered: true, Order: []uint32{2, 0, 1}}, ""},
		{"ranks some", abi.Ranking, func(g guest) { g.order(1) }, 1, abi.Result{Ordered: true, Order: []uint32{1}}, ""},
		{"infinite score", abi.Ranking, func(g guest) { g.score(1, math.Inf(1)) }, 0, abi.Result{}, "candidate 1 has the score +Inf"},
		{"negative infinite score", abi.Ranking, func(g guest) { g.score(2, math.Inf(-1)) }, 0, abi.Result{}, "score -Inf"},
		{"names one twice", abi.Ranking, func(g guest) { g.order(2, 0, 2) }, 3, abi.Result{}, "candidate 2 twice"},
		{"names one that is not there", abi.Ranking, func(g guest) { g.order(3) }, 1, abi.Result{}, "candidate 3"},
		{"names one far away", abi.Ranking, func(g guest) { g.order(math.MaxUint32) }, 1, abi.Result{}, "candidate 4294967295"},
		{"too many entries", abi.Ranking, func(g guest) { g.header(abi.HeaderOrderCount, 4) }, 4, abi.Result{}, "4 entries for 3"},
		{"a million entries", abi.Ranking, func(g guest) { g.header(abi.HeaderOrderCount, 1_000_000) }, 1_000_000, abi.Result{}, "1000000 entries for 3"},
		{"order without a count", abi.Ranking, func(g guest) { g.order(2, 0, 1); g.header(abi.HeaderOrderCount, 0) }, 3, abi.Result{}, "order_count is 0"},
		{"count without an order", abi.Ranking, func(g guest) { g.header(abi.HeaderOrderCount, 3) }, 0, abi.Result{}, "order_count is 3"},

		{"message too long", abi.Ranking, func(g guest) { g.header(abi.HeaderErrorLen, 257) }, 0, abi.Result{}, "257 bytes"},
		{"message of 4 GB", abi.Ranking, func(g guest) { g.header(abi.HeaderErrorLen, math.MaxUint32) }, -3, abi.Result{}, "4294967295 bytes"},
		{"message not UTF-8", abi.Ranking, func(g guest) { g.message("a\xff") }, -100, abi.Result{}, "not UTF-8"},
		{"code that means nothing", abi.Ranking, func(guest) {}, -4, abi.Result{}, "returned -4"},
		{"code just above its own", abi.Ranking, func(guest) {}, -99, abi.Result{}, "returned -99"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := &abi.Input{Records: make([]abi.Candidate, 3)}
			b := encode(t, in, tt.stage)
			tt.write(guest{b})
			var got abi.Result
			err := got.Read(b, 3, tt.stage, tt.code, 2)
			if tt.wrong != "" {
				if broken, ok := errors.AsType[*abi.AnswerError](err); !ok || !strings.Contains(broken.What, tt.wrong) {
					t.Errorf("got %v, want an *AnswerError with %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, equateNaN, cmp.Transformer("empty", func(b []byte) string { return string(b) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReturnedErrors(t *testing.T) {
	for code, word := range map[int32]string{-1: "version", -2: "no sense", -3: "failed", -100: "own", math.MinInt32: "own"} {
		b := encode(t, &abi.Input{}, abi.Ranking)
		guest{b}.message("because")
		var r abi.Result
		err, ok := errors.AsType[*abi.ReturnedError](r.Read(b, 0, abi.Ranking, code, 1))
		if !ok || err.Code != code || err.Message != "because" || !strings.Contains(err.Error(), word) || !strings.HasSuffix(err.Error(), "because") {
			t.Errorf("%d: %v", code, err)
		}
	}
	if got := (&abi.ReturnedError{Code: -3}).Error(); got != "returned -3: that it failed" {
		t.Errorf("without a message: %q", got)
	}
}

// A buffer that cannot be one is no reason to panic.
func TestReadShortBuffers(t *testing.T) {
	full := encode(t, &abi.Input{Records: make([]abi.Candidate, 2)}, abi.Ranking)
	var r abi.Result
	for n := range full {
		if r.Read(full[:n], 2, abi.Ranking, 0, 1) == nil {
			t.Fatalf("%d of %d bytes are enough", n, len(full))
		}
	}
	for _, count := range []int{-1, abi.MaxRecords + 1, math.MaxInt} {
		if r.Read(full, count, abi.Ranking, 0, 1) == nil {
			t.Errorf("%d candidates", count)
		}
	}
}

// A result says nothing of the one before.
func TestResultIsReused(t *testing.T) {
	var r abi.Result
	a := encode(t, &abi.Input{Records: make([]abi.Candidate, 5)}, abi.Admission)
	guest{a}.verdict(0, 1, abi.Unknown)
	guest{a}.refuse(400, 1, 1)
	guest{a}.message("x")
	if err := r.Read(a, 5, abi.Admission, 1, 1); err != nil {
		t.Fatal(err)
	}
	b := encode(t, &abi.Input{Records: make([]abi.Candidate, 2)}, abi.Ranking)
	if err := r.Read(b, 2, abi.Ranking, 0, 1); err != nil {
		t.Fatal(err)
	}
	want := abi.Result{Scores: []float64{nan, nan}}
	if diff := cmp.Diff(want, r, equateNaN, cmp.Transformer("", func(v []abi.Verdict) int { return len(v) }), cmp.Transformer("", func(m []byte) string { return string(m) })); diff != "" {
		t.Error(diff)
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
		var r abi.Result
		b := encode(t, &abi.Input{Records: make([]abi.Candidate, 100)}, stage)
		if n := testing.AllocsPerRun(100, func() {
			if err := r.Read(b, 100, stage, 0, 1); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", stage, n)
		}
	}
}

// answers is how many random answers are read: a million at the length that
// tests leave out.
func answers() int {
	if os.Getenv("GATEWRIGHT_SOAK") != "" {
		return 1_000_000
	}
	return 20_000
}

// Whatever a guest leaves behind, an answer that is accepted names candidates
// that are there, each once, and is finite, valid and in range.
func TestSoakRandomAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	in := &abi.Input{Records: make([]abi.Candidate, 40)}
	var b []byte
	var got abi.Result
	accepted := 0
	for n := range answers() {
		in.Records = in.Records[:r.IntN(40)]
		count, stage := len(in.Records), abi.Stage(n%2)
		size := abi.Size(in)
		if cap(b) < size {
			b = make([]byte, size)
		}
		if _, err := abi.Encode(b[:size], in, stage); err != nil {
			t.Fatal(err)
		}
		code := scribble(r, guest{b[:size]}, count)
		if got.Read(b[:size], count, stage, code, 3) == nil {
			accepted++
			sane(t, &got, count, stage)
		}
	}
	if accepted < answers()/20 || accepted > answers()*19/20 {
		t.Errorf("%d of %d answers were accepted: nothing is tested", accepted, answers())
	}
}

// scribble is an answer that is often nearly right.
func scribble(r *rand.Rand, g guest, count int) int32 {
	odd := []float64{nan, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, 1e308}
	perm := r.Perm(max(count, 1))
	order := make([]uint32, 0, count)
	for _, i := range perm[:r.IntN(count+1)] {
		order = append(order, uint32(i))
	}
	removed := int32(0)
	for i := range count {
		switch r.IntN(6) {
		case 0:
			g.verdict(i, 1+r.Uint32N(3), abi.Unknown)
			removed++
		case 1:
			g.score(i, odd[r.IntN(len(odd))])
		case 2:
			g.score(i, r.NormFloat64())
		}
	}
	switch r.IntN(4) {
	case 0:
		g.order(order...)
		removed = int32(len(order))
	case 1:
		g.refuse([]uint32{0, 400, 402, 403, 429, 500}[r.IntN(6)], r.Uint32N(3)*r.Uint32(), r.Uint32N(5))
	}
	if r.IntN(3) == 0 { // anything, anywhere
		for range 1 + r.IntN(4) {
			g.b[r.IntN(len(g.b))] = byte(r.Uint32())
		}
	}
	if r.IntN(8) == 0 {
		return int32(r.Uint32())
	}
	return removed
}

func sane(t *testing.T, r *abi.Result, count int, stage abi.Stage) {
	t.Helper()
	seen := map[uint32]bool{}
	for _, i := range r.Order {
		if int(i) >= count || seen[i] {
			t.Fatalf("the order %v of %d candidates", r.Order, count)
		}
		seen[i] = true
	}
	for _, s := range r.Scores {
		if math.IsInf(s, 0) {
			t.Fatalf("the scores %v", r.Scores)
		}
	}
	removed := 0
	for _, v := range r.Verdicts {
		if v.Reason > 3 {
			t.Fatalf("the verdict %v", v)
		}
		if v.Reason > 0 {
			removed++
		}
	}
	switch {
	case stage == abi.Admission && (len(r.Verdicts) != count || removed != r.Removed || len(r.Scores)+len(r.Order) > 0):
		t.Fatalf("an admission of %d candidates: %+v", count, r)
	case stage == abi.Ranking && !r.Ordered && len(r.Scores) != count:
		t.Fatalf("a ranking of %d candidates: %+v", count, r)
	case r.Refusal.Reason > 3 || r.Refusal.RetryAfter > abi.MaxRetryAfter:
		t.Fatalf("the refusal %+v", r.Refusal)
	}
}

func FuzzRead(f *testing.F) {
	for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
		b := encode(f, example(), stage)
		f.Add(b, 3, uint8(stage), int32(0))
		guest{b}.order(2, 0, 1)
		f.Add(b, 3, uint8(stage), int32(3))
		guest{b}.message("no")
		f.Add(b[:700], 1, uint8(stage), int32(-100))
	}
	f.Fuzz(func(t *testing.T, b []byte, count int, stage uint8, code int32) {
		var r abi.Result
		if r.Read(b, count, abi.Stage(stage%2), code, 3) == nil {
			sane(t, &r, count, abi.Stage(stage%2))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
		b.Run(stage.String(), func(b *testing.B) {
			buf := encode(b, &abi.Input{Records: make([]abi.Candidate, 20)}, stage)
			var r abi.Result
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Read(buf, 20, stage, 0, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
