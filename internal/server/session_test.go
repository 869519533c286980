package server

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/engine"
)

// opening is a conversation's beginning; empty = there is none.
type opening string

func (o opening) HashOpening(w io.Writer) bool {
	_, err := io.WriteString(w, string(o))
	return o != "" && err == nil
}

func TestSessionSource(t *testing.T) {
	body := BodySession{PromptCacheKey: "pck", Metadata: "meta", SessionID: "sid", LiteLLM: "lsid"}
	head := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, c := range []struct {
		name       string
		header     http.Header
		configured []string
		body       BodySession
		id, source string
	}{
		{"nothing", head(), nil, BodySession{}, "", ""},
		{"the gateway's own first", head("X-Gatewright-Session", "own", "X-Team-Chat", "team", "Session-Id", "codex"), []string{"x-team-chat"}, body, "own", "header"},
		{"then the configured", head("X-Team-Chat", "team", "Session-Id", "codex"), []string{"X-Other", "x-team-chat"}, body, "team", "header:x-team-chat"},
		{"then prompt_cache_key", head("Session-Id", "codex"), nil, body, "pck", "prompt_cache_key"},
		{"then clients' headers", head("Session-Id", "codex"), nil, BodySession{Metadata: "meta", SessionID: "sid"}, "codex", "header:session-id"},
		{"then metadata", head(), nil, BodySession{Metadata: "meta", SessionID: "sid", LiteLLM: "lsid"}, "meta", "metadata"},
		{"then session_id", head(), nil, BodySession{SessionID: "sid", LiteLLM: "lsid"}, "sid", "session_id"},
		{"then litellm_session_id", head(), nil, BodySession{LiteLLM: "lsid"}, "lsid", "litellm_session_id"},
		{"underscores", head("session_id", "cline"), nil, BodySession{}, "cline", "header:session_id"},
		{"older codex", head("conversation_id", "c1"), nil, BodySession{}, "c1", "header:conversation_id"},
		{"thread", head("thread-id", "t1"), nil, BodySession{}, "t1", "header:thread-id"},
		{"opencode", head("x-session-affinity", "ses_1", "x-session-id", "ses_1"), nil, BodySession{}, "ses_1", "header:x-session-id"},
		{"opencode's own", head("x-opencode-session", "ses_1"), nil, BodySession{}, "ses_1", "header:x-opencode-session"},
		{"claude code", head("X-Claude-Code-Session-Id", "u"), nil, BodySession{}, "u", "header:x-claude-code-session-id"},
		{"cline", head("X-Task-ID", "7"), nil, BodySession{}, "7", "header:x-task-id"},
		{"roo code", head("X-Roo-Task-ID", "7"), nil, BodySession{}, "7", "header:x-roo-task-id"},
		{"kilo code", head("X-KiloCode-TaskId", "7"), nil, BodySession{}, "7", "header:x-kilocode-taskid"},
		{"helicone", head("Helicone-Session-Id", "h"), nil, BodySession{}, "h", "header:helicone-session-id"},
		{"litellm", head("x-litellm-trace-id", "t", "x-litellm-session-id", "s"), nil, BodySession{}, "s", "header:x-litellm-session-id"},
		{"litellm's trace", head("x-litellm-trace-id", "t"), nil, BodySession{}, "t", "header:x-litellm-trace-id"},
		{"any vendor", head("X-Acme-Session-Id", "abc_DEF-1"), nil, BodySession{}, "abc_DEF-1", "header:x-acme-session-id"},
		{"any vendor, too short", head("X-Acme-Session-Id", "abc"), nil, BodySession{}, "", ""},
		{"any vendor, not an id", head("X-Acme-Session-Id", "hello, world"), nil, BodySession{}, "", ""},
		{"two vendors: the first by name", head("X-Zeta-Session-Id", "zzzzzzzz", "X-Acme-Session-Id", "aaaaaaaa"), nil, BodySession{}, "aaaaaaaa", "header:x-acme-session-id"},
		{"a request's own id is no session", head("X-Client-Request-Id", "00000000-0000-4000-8000-000000000001"), nil, BodySession{}, "", ""},
		{"blank values do not count", head("X-Gatewright-Session", "  ", "Session-Id", "\t"), nil, BodySession{PromptCacheKey: " ", SessionID: " sid "}, "sid", "session_id"},
		{"long values are cut", head("X-Gatewright-Session", strings.Repeat("x", 300)), nil, BodySession{}, strings.Repeat("x", 200), "header"},
		{"the first of two values", head("Session-Id", "one", "Session-Id", "two"), nil, BodySession{}, "one", "header:session-id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, source := sessionID(c.header, c.configured, &c.body)
			if id != c.id || source != c.source {
				t.Errorf("session %q from %q, want %q from %q", id, source, c.id, c.source)
			}
		})
	}
}

func TestSessionKeys(t *testing.T) {
	ci := &engine.Caller{Org: "acme", Team: "web", Key: "ci"}
	one, other := newSessions(sum("one")), newSessions(sum("other"))
	first, seed := one.session(ci, "id", "header", nil)
	for _, c := range []struct {
		name    string
		in      *sessions
		caller  *engine.Caller
		id      string
		opening Opening
		same    bool
	}{
		{"again", one, ci, "id", nil, true},
		{"an id goes before an opening", one, ci, "id", opening("hello"), true},
		{"another id", one, ci, "id2", nil, false},
		{"another key", one, &engine.Caller{Org: "acme", Team: "web", Key: "cd"}, "id", nil, false},
		{"another team", one, &engine.Caller{Org: "acme", Team: "app", Key: "ci"}, "id", nil, false},
		{"another org", one, &engine.Caller{Org: "apex", Team: "web", Key: "ci"}, "id", nil, false},
		{"the same letters, other levels", one, &engine.Caller{Org: "acm", Team: "eweb", Key: "ci"}, "id", nil, false},
		{"nobody", one, &engine.Caller{}, "id", nil, false},
		{"the key's name runs into the id", one, &engine.Caller{Org: "acme", Team: "web", Key: "c"}, "iid", nil, false},
		{"an opening of the same letters", one, ci, "", opening("id"), false},
		{"another secret", other, ci, "id", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, s := c.in.session(c.caller, c.id, "header", c.opening)
			if (got.Key == first.Key) != c.same || (s == seed) != c.same {
				t.Errorf("same key %v, same seed %v, want %v", got.Key == first.Key, s == seed, c.same)
			}
		})
	}
}

func TestSessionOpening(t *testing.T) {
	s := newSessions(sum("secret"))
	c := &engine.Caller{Key: "ci"}
	a, seedA := s.session(c, "", "", opening("hello"))
	b, seedB := s.session(c, "", "", opening("hello"))
	if diff := cmp.Diff(a, b); diff != "" || seedA != seedB || a.Source != "opening" || !a.Present() {
		t.Errorf("two sessions of one opening: %+v %d, %+v %d", a, seedA, b, seedB)
	}
	for name, o := range map[string]Opening{"none": nil, "empty": opening("")} {
		seeds := map[uint64]bool{}
		for range 20 {
			got, seed := s.session(c, "", "", o)
			if got.Present() || got.Key != [16]byte{} {
				t.Errorf("%s: session %+v", name, got)
			}
			seeds[seed] = true
		}
		if len(seeds) < 20 {
			t.Errorf("%s: %d seeds of 20 requests", name, len(seeds))
		}
	}
}

func TestSessionsOfTwoCallersNeverMeet(t *testing.T) {
	s := newSessions(sum("secret"))
	caller := rapid.Custom(func(t *rapid.T) engine.Caller {
		return engine.Caller{Org: rapid.String().Draw(t, "org"), Team: rapid.String().Draw(t, "team"), Key: rapid.String().Draw(t, "key")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := caller.Draw(t, "a"), caller.Draw(t, "b")
		id := rapid.StringN(1, 50, 200).Draw(t, "id")
		sa, _ := s.session(&a, id, "header", nil)
		sb, _ := s.session(&b, id, "header", nil)
		same := a.Org == b.Org && a.Team == b.Team && a.Key == b.Key
		if (sa.Key == sb.Key) != same {
			t.Fatalf("%+v and %+v share %q: %v", a, b, id, sa.Key == sb.Key)
		}
	})
}

func TestSessionsHammer(t *testing.T) {
	s := newSessions(sum("secret"))
	c := &engine.Caller{Key: "ci"}
	want, _ := s.session(c, "id", "header", nil)
	wantOpening, _ := s.session(c, "", "", opening("hello"))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 500 {
				if got, _ := s.session(c, "id", "header", nil); got != want {
					t.Errorf("session %+v, want %+v", got, want)
				}
				if got, _ := s.session(c, "", "", opening("hello")); got != wantOpening {
					t.Errorf("session %+v, want %+v", got, wantOpening)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzSessionID checks what ids may come out, whatever clients send.
func FuzzSessionID(f *testing.F) {
	f.Add("Session-Id", "codex", "x-team", "pck")
	f.Add("X-Acme-Session-Id", "abc_DEF-1", "", "")
	f.Add("X-Session-Id", strings.Repeat("é", 200), "X-Gatewright-Session", " \x00")
	f.Add("x--session-id", "\xff\xfe\xfd", "session_id", "\r\n")
	f.Fuzz(func(t *testing.T, name, value, configured, field string) {
		h := http.Header{}
		h.Add(name, value)
		b := BodySession{PromptCacheKey: field, Metadata: value}
		id, source := sessionID(h, []string{configured}, &b)
		if (id == "") != (source == "") || len(id) > maxSession || strings.TrimSpace(id) != id && len(id) < maxSession {
			t.Fatalf("session %q from %q", id, source)
		}
		if again, from := sessionID(h, []string{configured}, &b); again != id || from != source {
			t.Fatalf("session %q from %q, then %q from %q", id, source, again, from)
		}
		if id == "" && strings.TrimSpace(field) != "" {
			t.Fatalf("prompt_cache_key %q was not seen", field)
		}
	})
}

// FuzzCaps checks that a cap is either refused or positive.
func FuzzCaps(f *testing.F) {
	for _, seed := range [][2]string{{"1500", "0.05"}, {"-1", "1e9"}, {"9223372036854775807", "9223372036"}, {"", "."}, {"0x10", "1_0"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, ttft, cost string) {
		r := &engine.Request{}
		if err := readCaps(http.Header{headerMaxTTFT: {ttft}}, r); (err == nil) != (r.MaxTTFT > 0) {
			t.Fatalf("TTFT %q: %s, %v", ttft, r.MaxTTFT, err)
		}
		r = &engine.Request{}
		err := readCaps(http.Header{headerMaxCost: {cost}}, r)
		if (err == nil) != (r.MaxCost > 0) {
			t.Fatalf("cost %q: %d, %v", cost, r.MaxCost, err)
		}
		if again, ok := parseUSD(formatUSD(r.MaxCost)); err == nil && (!ok || again != r.MaxCost) {
			t.Fatalf("cost %q: %d, written %q, read %d", cost, r.MaxCost, formatUSD(r.MaxCost), again)
		}
	})
}
