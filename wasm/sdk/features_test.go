package sdk_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// What the worked examples do not use: orders, failures, the log, parameters of
// every type, and the rest of what there is to read.
func TestFeatures(t *testing.T) {
	r := newRuntime(t)
	const params = `{"flag": true, "word": "gr\u00fcn\n", "words": ["p-1", "p-\ud83d\ude80", "\ud83dx\ude80\u00e9\u65e5\"\\\/\b\f\n\r\t"], "number": -10}`
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			m := load(t, r, language, "features", params)
			t.Run("nothing", func(t *testing.T) {
				if got := answer(t, m, pool(2)); got.Ordered || !math.IsNaN(got.Scores[0]) || !math.IsNaN(got.Scores[1]) {
					t.Errorf("got %+v", got)
				}
			})
			t.Run("order", func(t *testing.T) {
				in := do("order", pool(8))
				in.Records[2].Provider, in.Records[4].Provider = "p-🚀", "\ufffdx\ufffdé日\"\\/\b\f\n\r\t"
				if got, want := answer(t, m, in), []uint32{7, 5, 3, 0}; !got.Ordered || !slices.Equal(got.Order, want) {
					t.Errorf("got %v, want %v", got.Order, want)
				}
				in.Records = in.Records[1:2]
				if got := answer(t, m, in); got.Ordered || len(got.Order) != 0 {
					t.Errorf("of nobody: got %v", got.Order)
				}
			})
			t.Run("texts", func(t *testing.T) { testTexts(t, m) })
			t.Run("header", func(t *testing.T) {
				in := do("header", pool(1))
				in.Seed, in.TPMLeft, in.Endpoint, in.NowUnixMS = math.MaxUint64, 90_000, "chat", noon
				if got, want := answer(t, m, in).Scores, []float64{615 + 1000*(90_000+12+1) + 4}; !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			})
			t.Run("parameters", func(t *testing.T) {
				if got, want := answer(t, m, do("parameters", pool(1))).Scores, []float64{-10 + 100 + 6*1000 + 3*10_000}; !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
				none := load(t, r, language, "features", "")
				if got, want := answer(t, none, do("parameters", pool(1))).Scores, []float64{5}; !slices.Equal(got, want) {
					t.Errorf("without any: got %v, want %v", got, want)
				}
			})
			t.Run("fail", func(t *testing.T) { // the last: an instance is replaced after it
				if err := patiently(m, do("again", pool(3))); err == nil || !strings.Contains(err.Error(), "the order names candidate") {
					t.Errorf("each twice: got %v", err)
				}
				mustReturn(t, m, do("fail", pool(3)), abi.CodeOwn-1, "no table")
				mustReturn(t, m, do("long", pool(3)), abi.CodeInternal, "x"+strings.Repeat("é", 127))
			})
		})
	}
}

// do tells the policy what to do.
func do(what string, in *abi.Input) *abi.Input {
	in.Tags = []abi.Tag{{Key: "do", Value: what}}
	return in
}

func testTexts(t *testing.T, m *wasm.Module) {
	t.Helper()
	in := do("texts", &abi.Input{Metadata: []abi.Tag{{Key: "region", Value: "日本"}}})
	add := func(f func(*abi.Candidate)) {
		c := one(f)
		c.Model = "m-ü"
		in.Records = append(in.Records, c)
	}
	add(func(c *abi.Candidate) { c.UpstreamModel = "grün-7" })
	add(func(c *abi.Candidate) { c.UpstreamModel = "grün" })
	add(func(c *abi.Candidate) { c.UpstreamModel = "m-ü" })
	add(func(c *abi.Candidate) { c.UpstreamModel, c.Region = "m-u", "日本" })
	add(func(c *abi.Candidate) { c.UpstreamModel, c.Region, c.ContextLimit = "m-üx", "日本東", 0 })
	add(func(c *abi.Candidate) { c.SupplyTier = "直接🚀" })
	add(func(c *abi.Candidate) { c.SupplyTier = "直接🚁" })
	add(func(c *abi.Candidate) { c.SupplyTier = "直接" })
	add(func(c *abi.Candidate) { c.Tags = []abi.Tag{{Key: "", Value: ""}, {Key: "a", Value: "b"}} })
	if got, want := answer(t, m, in).Scores, []float64{1, 4, 2, 3, 14, 24, 4, 4, 44}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	in.Metadata = nil
	if got := answer(t, m, in).Scores[3]; got != 4 {
		t.Errorf("without the attribute: got %v", got)
	}
}

func mustReturn(t *testing.T, m *wasm.Module, in *abi.Input, code int32, message string) {
	t.Helper()
	err := patiently(m, in)
	said, ok := errors.AsType[*abi.ReturnedError](err)
	if !ok || said.Code != code || said.Message != message {
		t.Errorf("got %v, want %d and %q", err, code, message)
	}
}

// patiently asks until the instance is there, which is replaced after a fault.
func patiently(m *wasm.Module, in *abi.Input) error {
	for {
		err := m.Rank(context.Background(), in, &abi.Result{})
		if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultBusy {
			return err
		}
	}
}

// Of two removals the later one counts, and it counts once; a refusal stands
// beside them.
func TestRemovals(t *testing.T) {
	r := newRuntime(t)
	in := &abi.Input{}
	for _, provider := range []string{"", "later", "none", "lasting", "later?"} {
		in.Records = append(in.Records, one(func(c *abi.Candidate) { c.Provider = provider }))
	}
	want := abi.Result{Removed: 2, Verdicts: []abi.Verdict{
		{Until: abi.Unknown}, {Reason: 2, Until: 5}, {Until: abi.Unknown}, {Reason: 1, Until: abi.Unknown}, {Until: abi.Unknown},
	}}
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			m := load(t, r, language, "removals", "")
			for session, more := range map[string]abi.Result{
				"":       {},
				"refuse": {Refusal: abi.Refusal{Status: 429, Reason: 2, RetryAfter: 7}, Message: []byte("grün")},
				"bare":   {Refusal: abi.Refusal{Status: 403}},
			} {
				want.Refusal, want.Message, in.Session = more.Refusal, more.Message, session
				if diff := sameAnswer(answer(t, m, in), &want); diff != "" {
					t.Errorf("%q (-want +got):\n%s", session, diff)
				}
			}
		})
	}
}

// What a policy logs reaches the log.
func TestLog(t *testing.T) {
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			var b bytes.Buffer
			r := logging(t, slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})))
			m := load(t, r, language, "features", "")
			b.Reset()
			answer(t, m, do("log", pool(1)))
			for _, want := range []string{`level=WARN msg="policy says" policy=` + language + `-features text="look here"`, `level=DEBUG msg="policy says" policy=` + language + `-features text=grün`} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("there is no %s in\n%s", want, b.String())
				}
			}
		})
	}
}
