package policies

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
)

// honest is a module of testdata/wasm/guests.
func honest(tb testing.TB, name string) []byte {
	tb.Helper()
	return testdata(tb, "wasm", "guests", name)
}

// refused checks that a source was refused, that all problems say of which file
// they are, and that one says the words. It returns that one.
func refused(tb testing.TB, err error, file, words string) Problem {
	tb.Helper()
	source, ok := errors.AsType[*SourceError](err)
	if !ok {
		tb.Fatalf("got %v, want it refused for %q", err, words)
	}
	for _, p := range source.Problems {
		if p.File != file || p.Message == "" {
			tb.Errorf("a problem of %q that says %q, want one of %q", p.File, p.Message, file)
		}
	}
	i := slices.IndexFunc(source.Problems, func(p Problem) bool { return strings.Contains(p.String(), words) })
	if i < 0 {
		tb.Fatalf("no problem says %q: %v", words, source.Problems)
	}
	return source.Problems[i]
}

// Every module of testdata/wasm/hostile is refused with a reason, but for the one
// that misbehaves only when it keeps a state. What is live serves on, and no memory
// is left of what was refused.
func TestHostileModules(t *testing.T) {
	r := newRoom(t)
	r.live("healthy", honest(t, "rank.wasm"), Binding{})
	q := newRouter(t, r.rules(), fleet(5))
	own := r.library.runtime.Memory()
	tried := 0
	for _, row := range tableOf(t, 5, 70, "wasm", "hostile") {
		number, file, fate, words := row[0], row[1], row[3], row[4]
		if file == "test" || number == "W52" {
			continue
		}
		tried++
		t.Run(file, func(t *testing.T) {
			_, err := r.library.Judge(t.Context(), &Upload{Name: "hostile", Body: testdata(t, "wasm", "hostile", file+".wasm")})
			rule := map[string]string{"refused": "check", "accepted": "instance", "budget": "", "stack": "", "trap": ""}
			p := refused(t, err, "hostile.wasm", words)
			if want, ok := rule[fate]; !ok || p.Rule == "" || want != "" && p.Rule != want {
				t.Errorf("the rule is %q, want %q for the fate %s", p.Rule, want, fate)
			}
			serves(t, q)
		})
	}
	if tried < 45 {
		t.Errorf("%d modules were tried", tried)
	}
	for r.library.runtime.Memory() != own { // freed in the background; the test's own deadline ends it
		if t.Context().Err() != nil {
			t.Fatalf("%d bytes of memory, want %d as before", r.library.runtime.Memory(), own)
		}
	}
	becomesIdle(t)
}

// serves checks that the ranking which is live is asked and obeyed.
func serves(t *testing.T, q *router) {
	t.Helper()
	d, err := q.plan(t.Context(), ask("k"))
	if err != nil || len(d.Policies) != 1 || d.Policies[0].Outcome != engine.OutcomeRanked {
		t.Errorf("the policy beside it: %+v, %v", d.Policies, err)
	}
}

// Bytes that are no module, or more than one may have, are refused before they
// cost anything.
func TestHostileBytes(t *testing.T) {
	whole := honest(t, "admit.wasm")
	cases := []struct {
		name  string
		body  []byte
		file  string
		words string
	}{
		{"W38 100 MB", append(bytes.Clone(whole), make([]byte, 100<<20-len(whole))...), "p.wasm", "104857600 bytes"},
		{"W40 another magic number", bytes.Replace(whole, []byte("\x00asm"), []byte("\x00asn"), 1), "p.rego", "not UTF-8"},
		{"W40 another version", bytes.Replace(whole, []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0}, 1), "p.wasm", "has version bytes 02000000"},
		{"W43 nested blocks", does(slices.Repeat([]byte{0x02, 0x40}, 2000), slices.Repeat([]byte{0x0b}, 2000)), "p.wasm", "deeper than 64"},
		{"W41 a function of 4 MB", does(slices.Repeat([]byte{0x01}, 4<<20)), "p.wasm", "the limit is 262144"},
		{"W41 a function of 200 KB", does(slices.Repeat([]byte{0x01}, 200<<10)), "p.wasm", "bytes of code, the limit is 8192"},
		{"W45 a br_table of 5,000 labels", does([]byte{0x41, 0, 0x0e, 0x88, 0x27}, make([]byte, 5001)), "p.wasm", "5000 labels in one br_table"},
		{"W47 a custom section of 50 MB", append(bytes.Clone(whole), slices.Concat([]byte{0}, leb(50<<20+2), []byte("\x01x"), make([]byte, 50<<20))...), "p.wasm", "the limit is 262144"},
		{"W48 compressed", zipped(t, whole), "p.tar.gz", ""},
		{"W49 a component", []byte("\x00asm\x0d\x00\x01\x00\x00\x00"), "p.wasm", "a component, not a core module"},
		{"W50 the text format", []byte("(module\n  (memory 1))"), "p.rego", ""},
		{"nothing", nil, "p.rego", "empty"},
		{"blanks", []byte(" \n\t"), "p.rego", "empty"},
	}
	r := newRoom(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.library.Judge(t.Context(), &Upload{Name: "p", Body: c.body})
			refused(t, err, c.file, c.words)
		})
	}
	for n := 8; n < len(whole); n += max(1, len(whole)/20) { // W39
		if _, err := r.library.Judge(t.Context(), &Upload{Name: "p", Body: whole[:n]}); err == nil {
			t.Errorf("cut off after %d bytes it is accepted", n)
		} else {
			refused(t, err, "p.wasm", "")
		}
	}
}

func zipped(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// leb is a number as the format writes it.
func leb(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// does is a module with one function that is made of the instructions.
func does(instructions ...[]byte) []byte {
	body := append([]byte{0}, append(slices.Concat(instructions...), 0x0b)...)
	body = slices.Concat([]byte{1}, leb(len(body)), body)
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a"), leb(len(body)), body)
}

// A module whose bytes are in order and that cannot be made ready is refused too;
// the rest of the table answers.
func TestHostileInstances(t *testing.T) {
	r := newRoom(t)
	for _, row := range tableOf(t, 6, 14, "wasm", "answers") {
		module, what, params, fate, words := row[1], row[2], row[3], row[4], row[5]
		t.Run(module+" "+what+params, func(t *testing.T) {
			err := r.upload("p", testdata(t, "wasm", "answers", module+".wasm"))
			if err == nil && params != "" && params != "[]" { // of a binding they are an object
				err = r.bindWith("p", params)
			}
			switch fate {
			case "instance", "probe":
				if p := refused(t, err, "p.wasm", words); p.Rule != fate {
					t.Errorf("refused at %q, want %q", p.Rule, fate)
				}
			default: // a fault that needs another request than those it is tried with
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// bindWith makes the rules of a binding with parameters, and takes it back.
func (r *room) bindWith(policy, params string) error {
	r.tb.Helper()
	s, err := r.state.Bind(&Binding{ID: policy, Policy: policy, Parameters: []byte(params)})
	if err != nil {
		return err
	}
	rules, err := r.library.Rules(r.tb.Context(), s, nil, nil)
	if err == nil {
		rules.Close()
	}
	return err
}

// modes makes a module of testdata/wasm/answers go by the request's seed in place
// of its attempt budget, which is the same for all requests.
func modes(t *testing.T, name string) []byte {
	t.Helper()
	attemptBudget, seed := []byte{0x28, 0x02, 0x8c, 0x01}, []byte{0x28, 0x02, 0x98, 0x00} // i32.load, aligned, offset
	module := testdata(t, "wasm", "answers", name+".wasm")
	if n := bytes.Count(module, attemptBudget); n != 1 {
		t.Fatalf("%s reads the attempt budget %d times", name, n)
	}
	return bytes.Replace(module, attemptBudget, seed, 1)
}

// later is a request that comes so long after the one before that no two faults
// count together.
func later(n int, mode uint64) *engine.Request {
	q := ask("k")
	q.Now = noon.Add(time.Duration(n) * time.Minute)
	q.Seed = mode
	return q
}

// settled asks until the policy has an instance again: one that faulted is
// replaced in the background.
func settled(ctx context.Context, q *router, r *engine.Request) (*engine.Decision, error) {
	for {
		d, err := q.plan(ctx, r)
		if ctx.Err() != nil || !slices.ContainsFunc(d.Policies, func(p engine.PolicyRecord) bool { return strings.Contains(p.Detail, "busy: ") }) {
			return d, err
		}
	}
}

// A ranking that faults leaves the base order, and the decision says why; the
// request after it gets a clean instance.
func TestHostileRankings(t *testing.T) {
	r := newRoom(t)
	r.live("p", modes(t, "rank"), Binding{})
	rules := r.rules()
	q := newRouter(t, rules, fleet(3))
	base := newRouter(t, &Rules{}, fleet(3))
	for n, c := range []struct {
		name  string
		mode  uint64
		words string // of the fault; "" = none
	}{
		{"W26 names one twice", 100, "candidate 1 twice"},
		{"W27 names one that is not there", 101, "names candidate 3"},
		{"W27 names one far away", 102, "names candidate 4294967295"},
		{"W30 names a million", 103, "1000000 entries"},
		{"an order without a count", 104, "order_count is 0"},
		{"W25 an infinite score", 105, "+Inf"},
		{"W25 a negative infinite score", 106, "-Inf"},
		{"W25 odd scores", 107, ""},
		{"W24 a message that is too long", 109, "257 bytes"},
		{"W19 a message of 2 GiB", 110, "2147483648 bytes"},
		{"W24 a message that is not UTF-8", 111, "UTF-8"},
		{"does not know the version", 112, "returned -1"},
		{"its own error", 115, "no data for this region"},
		{"a code that means nothing", 116, "returned -50"},
		{"W13 gives up", 117, "unreachable"},
		{"W01 never ends", 118, "used up"},
		{"W07 grows its memory", 119, ""},
		{"W07 grows until there is no more", 120, "unreachable"},
		{"W21 moves the host's offsets", 121, ""},
		{"W20 fills all of its memory", 122, "4294967295 bytes"},
		{"W05 calls itself without end", 123, "used up"},
		{"W58 logs megabytes", 124, ""},
		{"W18 logs what it does not have", 125, "outside its memory"},
		{"W12 fills 16 MiB", 130, "used up"},
		{"W14 divides by zero", 131, "divide by zero"},
		{"W15 reads beyond its memory", 132, "out of bounds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := base.plan(t.Context(), later(2*n, c.mode))
			if err != nil {
				t.Fatal(err)
			}
			d, err := settled(t.Context(), q, later(2*n, c.mode))
			if err != nil || len(d.Order) != 3 {
				t.Fatalf("the order %v, %v", d.Order, err)
			}
			rec := d.Policies[0]
			switch {
			case c.words == "":
				if rec.Outcome == engine.OutcomeFallback && c.mode != 124 { // the log may be charged or cut
					t.Errorf("got %+v, want it obeyed", rec)
				}
			case rec.Outcome != engine.OutcomeFallback || !strings.Contains(rec.Detail, c.words):
				t.Errorf("got %+v, want a fallback for %q", rec, c.words)
			case !slices.Equal(d.Order, want.Order):
				t.Errorf("the order %v, want the base order %v", d.Order, want.Order)
			}
			d, err = settled(t.Context(), q, later(2*n+1, 1))
			if err != nil || d.Policies[0].Outcome != engine.OutcomeRanked || d.Order[0] != "p0/m" {
				t.Errorf("the next request: %+v, %v, %v", d.Policies, d.Order, err)
			}
		})
	}
	becomesIdle(t)
}

// An admission that faults refuses the request, or lets it go on where its binding
// says so; it never removes or admits anybody.
func TestHostileAdmissions(t *testing.T) {
	for _, onFault := range []OnFault{FailClosed, FailOpen} {
		r := newRoom(t)
		r.live("p", modes(t, "admit"), Binding{OnFault: onFault})
		q := newRouter(t, r.rules(), fleet(3))
		for n, c := range []struct {
			name  string
			mode  uint64
			words string
		}{
			{"a reason that it does not have", 101, "there are 1 reasons"},
			{"says that it removed more", 102, "returned 2, and 1"},
			{"until no instant", 103, "no instant"},
			{"an odd status", 105, "status 200"},
			{"a reason without a status", 106, "without a status"},
			{"a wait of 136 years", 107, "4294967295 seconds"},
			{"a refusal's reason that it does not have", 108, "reason 9"},
			{"bad input", 999, "returned -2"},
		} {
			t.Run(onFault.String()+" "+c.name, func(t *testing.T) {
				d, err := settled(t.Context(), q, later(n, c.mode))
				rec := d.Policies[0]
				if !strings.Contains(rec.Detail, c.words) || len(d.Skipped) > 0 {
					t.Errorf("got %+v, skipped %v; want %q", rec, d.Skipped, c.words)
				}
				closes(t, onFault, d, err)
				if d, err := settled(t.Context(), q, later(n, 1)); err != nil || d.Policies[0].Outcome != engine.OutcomeAllowed {
					t.Errorf("the next request: %+v, %v", d.Policies, err)
				}
			})
		}
	}
}

// closes checks what became of a request whose admission policy faulted.
func closes(t *testing.T, onFault OnFault, d *engine.Decision, err error) {
	t.Helper()
	if onFault == FailOpen {
		if err != nil || d.Policies[0].Outcome != engine.OutcomeOpen {
			t.Errorf("got %+v and %v, want it served", d.Policies[0], err)
		}
		return
	}
	e, ok := errors.AsType[*engine.RefusedError](err)
	if !ok || e.Code != engine.CodePolicyError || e.Status != 0 || d.Policies[0].Outcome != engine.OutcomeClosed {
		t.Errorf("got %+v and %v, want %s", d.Policies[0], err, engine.CodePolicyError)
	}
}

// A module that traps on every third call (W52) is harmless where it may not keep a
// state, and where it may it does not get past the requests that it is tried with.
func TestHostileState(t *testing.T) {
	r := newRoom(t)
	r.live("p", testdata(t, "wasm", "hostile", "W52-every-third-call.wasm"), Binding{})
	q := newRouter(t, r.rules(), fleet(3))
	for range 20 {
		serves(t, q)
	}
	r.bind("p", Binding{Stateful: true})
	if _, err := r.library.Rules(t.Context(), r.state, nil, nil); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("got %v", err)
	}
	serves(t, q)
}

// Five faults within ten seconds suspend a policy; when that is over it is asked
// again.
func TestHostileTooOften(t *testing.T) {
	r := newRoom(t)
	body := modes(t, "rank")
	r.live("p", body, Binding{})
	q := newRouter(t, r.rules(), fleet(3))
	const gives = 117 // up
	outcome := func(at time.Duration, mode uint64) engine.Outcome {
		t.Helper()
		request := later(0, mode)
		request.Now = noon.Add(at)
		d, err := settled(t.Context(), q, request)
		if err != nil || len(d.Order) != 3 {
			t.Fatalf("the order %v, %v", d.Order, err)
		}
		return d.Policies[0].Outcome
	}
	for n := range 5 {
		if got := outcome(time.Duration(n)*time.Second, gives); got != engine.OutcomeFallback {
			t.Errorf("fault %d: %s", n, got)
		}
	}
	const asked = 4 * time.Second // when it was suspended
	for _, at := range []time.Duration{asked, asked + suspendFirst - 1} {
		if got := outcome(at, 1); got != engine.OutcomeSuspended {
			t.Errorf("after %s: %s", at, got)
		}
	}
	if s := r.library.gauge("p", Digest(body)).status(noon.Add(asked)); s.SuspendedUntil == nil || s.Faults < faultLimit || !strings.Contains(s.LastFault, "unreachable") {
		t.Errorf("the status %+v", s)
	}
	if got := outcome(asked+suspendFirst, 1); got != engine.OutcomeRanked {
		t.Errorf("after the suspension: %s", got)
	}
}
