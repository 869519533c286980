package policies

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/engine"
)

// digestOf is the digest of the test version n.
func digestOf(n int) string { return fmt.Sprintf("00000000%02x%054x", n, 0) }

func version(n int) *Version {
	return &Version{Digest: digestOf(n), Format: FormatRego, Profile: "opa", Size: n, Uploaded: day(n), Inputs: []string{"request.hour"}}
}

func day(n int) time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) }

// step is one operation on a State.
type step func(*State) (*State, error)

func upload(name string, kind Kind, n int) step {
	return func(s *State) (*State, error) { return s.Upload(name, kind, version(n)) }
}

func activate(name, digest string, n int) step {
	return func(s *State) (*State, error) { return s.Activate(name, digest, day(n)) }
}

func rollback(digest string, n int) step {
	return func(s *State) (*State, error) { return s.Rollback("p", digest, day(n)) }
}

func shadow(name, digest string) step {
	return func(s *State) (*State, error) { return s.Shadow(name, digest) }
}

func canary(name, digest string, share int64) step {
	return func(s *State) (*State, error) { return s.StartCanary(name, digest, share) }
}

func bind(b Binding) step { return func(s *State) (*State, error) { return s.Bind(&b) } }

// walk makes steps of which all but the last must succeed.
func walk(t *testing.T, steps ...step) (*State, error) {
	t.Helper()
	s, err := NewState([]*Policy{{Name: "filed", Kind: Admission, Managed: true}}, []*Binding{{ID: "filed", Policy: "filed", Managed: true}})
	for i, do := range steps {
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		var next *State
		if next, err = do(s); err == nil {
			s = next
		}
	}
	return s, err
}

func stages(p *Policy) string {
	var list []string
	for _, v := range p.Versions {
		list = append(list, fmt.Sprintf("%d:%s", v.Size, p.Stage(v.Digest)))
	}
	return strings.Join(list, " ")
}

func TestLife(t *testing.T) {
	begin := []step{upload("p", Admission, 1), upload("p", Admission, 2), upload("p", Admission, 3)}
	for _, tc := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"drafts", nil, "1:draft 2:draft 3:draft"},
		{"activate the newest", []step{activate("p", "", 1)}, "1:draft 2:draft 3:active"},
		{"activate one", []step{activate("p", digestOf(1), 1)}, "1:active 2:draft 3:draft"},
		{"by the beginning of its digest", []step{activate("p", digestOf(2)[:10], 1)}, "1:draft 2:active 3:draft"},
		{"replaced", []step{activate("p", digestOf(1), 1), activate("p", digestOf(2), 2)}, "1:retired 2:active 3:draft"},
		{"back", []step{activate("p", digestOf(1), 1), activate("p", digestOf(2), 2), rollback("", 3)}, "1:active 2:retired 3:draft"},
		{"back and forth", []step{activate("p", digestOf(1), 1), activate("p", digestOf(2), 2), rollback("", 3), rollback("", 4)}, "1:retired 2:active 3:draft"},
		{"back to one", []step{activate("p", digestOf(1), 1), activate("p", digestOf(2), 2), activate("p", digestOf(3), 3), rollback(digestOf(1), 4)}, "1:active 2:retired 3:retired"},
		{"shadow", []step{activate("p", digestOf(1), 1), shadow("p", "")}, "1:active 2:draft 3:shadow"},
		{"shadow alone", []step{shadow("p", "")}, "1:draft 2:draft 3:shadow"},
		{"canary", []step{activate("p", digestOf(1), 1), canary("p", digestOf(2), 100_000)}, "1:active 2:canary 3:draft"},
		{"canary of the shadow", []step{activate("p", digestOf(1), 1), shadow("p", digestOf(2)), canary("p", digestOf(2), 1)}, "1:active 2:canary 3:draft"},
		{"canary and shadow", []step{activate("p", digestOf(1), 1), shadow("p", digestOf(2)), canary("p", digestOf(3), 1)}, "1:active 2:shadow 3:canary"},
		{"canary made active", []step{activate("p", digestOf(1), 1), canary("p", digestOf(2), 1), activate("p", digestOf(2), 2)}, "1:retired 2:active 3:draft"},
		{"an activation ends a canary", []step{activate("p", digestOf(1), 1), canary("p", digestOf(2), 1), activate("p", digestOf(3), 2)}, "1:retired 2:draft 3:active"},
		{"stop", []step{
			activate("p", digestOf(1), 1), shadow("p", digestOf(2)), canary("p", digestOf(3), 1),
			func(s *State) (*State, error) { return s.Stop("p") },
		}, "1:active 2:draft 3:draft"},
		{"uploaded again", []step{activate("p", digestOf(1), 1), upload("p", Admission, 1)}, "2:draft 3:draft 1:active"},
		{"deleted", []step{activate("p", digestOf(1), 1), func(s *State) (*State, error) { return s.DeleteVersion("p", digestOf(2)) }}, "1:active 3:draft"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := walk(t, append(begin, tc.steps...)...)
			if err != nil {
				t.Fatal(err)
			}
			p, err := s.Policy("p")
			if err != nil {
				t.Fatal(err)
			}
			if got := stages(p); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			record, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			back, err := DecodePolicy("p", record)
			if diff := cmp.Diff(p, back); err != nil || diff != "" {
				t.Errorf("from its record: %v %s", err, diff)
			}
		})
	}
}

func TestLifeRefuses(t *testing.T) {
	begin := []step{upload("p", Admission, 1), upload("p", Admission, 2), upload("r", Ranking, 1), bind(Binding{ID: "b", Policy: "p"}), bind(Binding{ID: "all", Policy: "r"})}
	for _, tc := range []struct {
		name  string
		steps []step
		want  error
		says  string
	}{
		{"no such policy", []step{activate("q", "", 1)}, ErrNotFound, `policy "q"`},
		{"no such version", []step{activate("p", digestOf(9), 1)}, ErrNotFound, digestOf(9)},
		{"too little of a digest", []step{activate("p", "0000", 1)}, ErrNotFound, "version 0000"},
		{"two digests begin so", []step{activate("p", digestOf(1)[:9], 1)}, ErrInvalid, "write more of it"},
		{"another kind", []step{upload("p", Ranking, 3)}, ErrConflict, "kind admission"},
		{"a name that cannot be", []step{upload("a/b", Ranking, 3)}, ErrInvalid, `"a/b"`},
		{"of the file", []step{upload("filed", Admission, 3)}, ErrManaged, "configuration file"},
		{"of the file, activated", []step{activate("filed", "", 3)}, ErrManaged, "configuration file"},
		{"of the file, deleted", []step{func(s *State) (*State, error) { return s.Delete("filed") }}, ErrManaged, "configuration file"},
		{"binding of the file", []step{bind(Binding{ID: "filed", Policy: "p"})}, ErrManaged, "configuration file"},
		{"nothing to go back to", []step{activate("p", "", 1), rollback("", 2)}, ErrConflict, "no earlier version"},
		{"back to a draft", []step{activate("p", digestOf(2), 1), rollback(digestOf(1), 2)}, ErrConflict, "never active"},
		{"shadow of what is active", []step{activate("p", digestOf(2), 1), shadow("p", "")}, ErrConflict, "another version"},
		{"canary of what is active", []step{activate("p", digestOf(2), 1), canary("p", "", 1)}, ErrConflict, "another version"},
		{"canary beside nothing", []step{canary("p", "", 1)}, ErrConflict, "activate one first"},
		{"canary of all", []step{activate("p", digestOf(2), 1), canary("p", digestOf(1), million)}, ErrInvalid, "share"},
		{"canary of none", []step{activate("p", digestOf(2), 1), canary("p", digestOf(1), 0)}, ErrInvalid, "share"},
		{"delete what is used", []step{activate("p", digestOf(2), 1), func(s *State) (*State, error) { return s.DeleteVersion("p", digestOf(2)) }}, ErrConflict, "in use (active)"},
		{"delete what is bound", []step{func(s *State) (*State, error) { return s.Delete("p") }}, ErrConflict, `binding "b"`},
		{"bind nothing", []step{bind(Binding{ID: "c", Policy: "q"})}, ErrNotFound, "there are filed, p, r"},
		{"two rankings of a level", []step{bind(Binding{ID: "c", Policy: "r"})}, ErrConflict, `binding "all"`},
		{"a ranking of two levels", []step{bind(Binding{ID: "c", Policy: "r", Key: "k", Model: "m"})}, ErrInvalid, "key, model"},
		{"a ranking that fails open", []step{bind(Binding{ID: "c", Policy: "r", Key: "k", OnFault: FailOpen})}, ErrInvalid, "on_fault"},
		{"an admission with a tolerance", []step{bind(Binding{ID: "c", Policy: "p", Tolerance: engine.Tolerance{Absolute: 1}})}, ErrInvalid, "tolerance"},
		{"parameters that are none", []step{bind(Binding{ID: "c", Policy: "p", Parameters: []byte(`[1]`)})}, ErrInvalid, "parameters"},
		{"unbind nothing", []step{func(s *State) (*State, error) { return s.Unbind("c") }}, ErrNotFound, `binding "c"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, _ := walk(t, begin...)
			_, err := walk(t, append(begin, tc.steps...)...)
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %v that says %q", err, tc.want, tc.says)
			}
			if diff := cmp.Diff(before.Policies(), func() []*Policy { s, _ := walk(t, begin...); return s.Policies() }()); diff != "" {
				t.Errorf("what was before has changed: %s", diff)
			}
		})
	}
}

func TestUnbindAndDelete(t *testing.T) {
	s, err := walk(t, upload("p", Admission, 1), bind(Binding{ID: "z", Policy: "p"}), bind(Binding{ID: "a", Policy: "p", Order: 1}),
		func(s *State) (*State, error) { return s.Unbind("z") })
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Bindings(); len(got) != 2 || got[0].ID != "filed" || got[1].ID != "a" {
		t.Errorf("got %v", got)
	}
	if s, err = s.Unbind("a"); err != nil {
		t.Fatal(err)
	}
	if s, err = s.Delete("p"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Policy("p"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want %v", err, ErrNotFound)
	}
}

// TestLifeKeepsItsRules makes random steps: what is used always exists, in one
// role at a time, and no state changes after it was made.
func TestLifeKeepsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := NewState(nil, nil)
		n := rapid.IntRange(0, 5)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			d := digestOf(n.Draw(t, "version"))
			if rapid.Bool().Draw(t, "newest") {
				d = ""
			}
			step := rapid.SampledFrom([]step{
				upload("p", Admission, n.Draw(t, "upload")), activate("p", d, 1), rollback(d, 1), shadow("p", d), canary("p", d, 5),
				func(s *State) (*State, error) { return s.Stop("p") },
				func(s *State) (*State, error) { return s.DeleteVersion("p", d) },
			}).Draw(t, "step")
			before, was := s, ""
			if p, err := before.Policy("p"); err == nil {
				was = stages(p)
			}
			if next, err := step(s); err == nil {
				s = next
			}
			if p, err := before.Policy("p"); err == nil && stages(p) != was {
				t.Fatalf("the state before was changed from %s to %s", was, stages(p))
			}
			p, err := s.Policy("p")
			if err != nil {
				continue
			}
			used := map[string]bool{}
			for _, d := range []string{p.Active, p.Shadow, p.Canary} {
				if d == "" {
					continue
				}
				if used[d] {
					t.Fatalf("%s has two roles: %+v", d, p)
				}
				used[d] = true
				if _, err := p.Version(d); err != nil {
					t.Fatal(err)
				}
			}
			if (p.Canary == "") != (p.CanaryShare == 0) || p.Canary != "" && p.Active == "" {
				t.Fatalf("canary: %+v", p)
			}
		}
	})
}

func TestBindingRecord(t *testing.T) {
	grants, err := GrantsByName([]string{"header.X-Team", "last_user", "header.b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*Binding{
		{ID: "a", Policy: "p"},
		{
			ID: "b", Policy: "p", Org: "o", Team: "t", Key: "k", Model: "m", OnFault: FailOpen, Parameters: []byte(`{"from":8}`),
			Grants: grants, Stateful: true, Tolerance: engine.Tolerance{RelativePPM: 5}, Order: -3,
		},
	} {
		record, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBinding(b.ID, record)
		if diff := cmp.Diff(b, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
}

func TestGrants(t *testing.T) {
	for _, tc := range []struct {
		list []string
		want []string
		says string
	}{
		{nil, nil, ""},
		{[]string{"text"}, []string{"text"}, ""},
		{[]string{"text", "last_user"}, []string{"text"}, ""},
		{[]string{"header.X-B", "header.a", "header.x-b"}, []string{"header.a", "header.x-b"}, ""},
		{[]string{"messages"}, nil, "want text, last_user or header.NAME"},
		{[]string{"header."}, nil, "no name of a header"},
		{[]string{"header.a b"}, nil, "no name of a header"},
		{[]string{"header.Authorization"}, nil, "credential"},
		{[]string{"header.X-API-Key"}, nil, "credential"},
	} {
		g, err := GrantsByName(tc.list)
		if tc.says == "" {
			if diff := cmp.Diff(tc.want, g.Names()); err != nil || diff != "" {
				t.Errorf("%q: %v %s", tc.list, err, diff)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%q: got %v, want an error that says %q", tc.list, err, tc.says)
		}
	}
}

func FuzzRecords(f *testing.F) {
	p := &Policy{Kind: Ranking, Versions: []*Version{version(1)}, Active: digestOf(1)}
	record, err := p.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record)
	record, err = (&Binding{Policy: "p", Parameters: []byte("{}")}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record)
	f.Fuzz(func(t *testing.T, record []byte) {
		if p, err := DecodePolicy("p", record); err == nil {
			again, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			back, err := DecodePolicy("p", again)
			if diff := cmp.Diff(p, back); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		}
		if b, err := DecodeBinding("b", record); err == nil {
			if _, err := b.Encode(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestWhatIsReadMustBeGranted(t *testing.T) {
	for _, tc := range []struct {
		reads []string
		grant []string
		says  string
	}{
		{[]string{"request.hour", "candidates[_].id"}, nil, ""},
		{[]string{"request.text"}, nil, "add last_user or text"},
		{[]string{"request.text"}, []string{"last_user"}, ""},
		{[]string{"request.headers.x-team"}, []string{"header.x-other"}, "add header.x-team"},
		{[]string{"request.headers.x-team"}, []string{"header.X-Team"}, ""},
		{[]string{"request.headers"}, nil, "add header.NAME"},
		{[]string{"request.headers"}, []string{"header.a"}, ""},
	} {
		grants, err := GrantsByName(tc.grant)
		if err != nil {
			t.Fatal(err)
		}
		err = (&Binding{ID: "b", Policy: "p", Grants: grants}).granted(tc.reads)
		if tc.says == "" && err != nil || tc.says != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%v granted %v: got %v, want %q", tc.reads, tc.grant, err, tc.says)
		}
	}
}
