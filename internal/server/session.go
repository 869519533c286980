package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"strings"
	"sync"

	"gatewright/engine"
)

// maxSession is how much of a client's session id counts, in bytes.
const maxSession = 200

// BodySession is what a request's body says of its session. Rooms fill it;
// empty = not there.
type BodySession struct {
	PromptCacheKey string
	Metadata       string // what metadata says: session_id, user_id and the like
	SessionID      string // session_id
	LiteLLM        string // litellm_session_id
	// Opening is the beginning of the conversation; nil = there is none to
	// derive a session from. It is hashed only when there is no id.
	Opening Opening
}

// Opening is what stays the same through a conversation: system text, names of
// tools, first user message.
type Opening interface {
	// HashOpening writes it to a hash and reports whether there is any.
	HashOpening(w io.Writer) bool
}

// The sources of sessions, as decisions and logs show them. A header is shown
// by its own name.
const (
	sourceHeader         = "header"
	sourcePromptCacheKey = "prompt_cache_key"
	sourceMetadata       = "metadata"
	sourceSessionID      = "session_id"
	sourceLiteLLM        = "litellm_session_id"
	sourceOpening        = "opening"
)

// Session finds which conversation the request belongs to and the seed of its
// draw: the same for each request of a session, random without one. The first
// of these that has a value counts: the gateway's own header, the headers that
// the operator names, prompt_cache_key, the headers of known clients, metadata,
// other ids in the body, the opening of the conversation.
//
// The key is scoped to the caller's org, team and key, so two callers never
// share a session, and one id is the same session wherever it was found.
func (x *Exchange) Session(b BodySession) (engine.Session, uint64) {
	id, source := sessionID(x.Request.Header, x.Snapshot.SessionHeaders, &b)
	return x.server.sessions.session(x.Caller, id, source, b.Opening)
}

// sessionID returns the id of the session and where it was found.
func sessionID(h http.Header, configured []string, b *BodySession) (id, source string) {
	if id := headerID(h, headerSession); id != "" {
		return id, sourceHeader
	}
	for _, name := range configured {
		if id := headerID(h, textproto.CanonicalMIMEHeaderKey(name)); id != "" {
			return id, sourceHeader + ":" + strings.ToLower(name)
		}
	}
	if id := tidy(b.PromptCacheKey); id != "" {
		return id, sourcePromptCacheKey
	}
	if id, name := clientHeader(h); id != "" {
		return id, sourceHeader + ":" + strings.ToLower(name)
	}
	for _, f := range [...]struct{ value, source string }{
		{b.Metadata, sourceMetadata},
		{b.SessionID, sourceSessionID},
		{b.LiteLLM, sourceLiteLLM},
	} {
		if id := tidy(f.value); id != "" {
			return id, f.source
		}
	}
	return "", ""
}

// clientHeaders are the headers in which known clients name their session, the
// most telling first. X-Client-Request-Id is not one of them: most clients make
// it anew for each request, and Codex, which does not, sends session-id too.
var clientHeaders = [...]string{
	"Session-Id",               // Codex CLI
	"Session_id",               // older Codex CLI, Cline, Roo Code
	"Thread-Id",                // Codex CLI
	"Conversation_id",          // older Codex CLI
	"X-Session-Id",             // opencode, Kilo Code, gateways
	"X-Session-Affinity",       // opencode, Kilo Code
	"X-Claude-Code-Session-Id", // Claude Code
	"X-Opencode-Session",       // opencode
	"X-Task-Id",                // Cline
	"X-Roo-Task-Id",            // Roo Code
	"X-Kilocode-Taskid",        // Kilo Code
	"Helicone-Session-Id",      // users of Helicone
	"X-Litellm-Session-Id",     // users of LiteLLM
	"X-Litellm-Trace-Id",       // users of LiteLLM
}

// clientHeader returns the id that a known client's header holds, or any header
// named x-VENDOR-session-id, and the header's name.
func clientHeader(h http.Header) (id, name string) {
	for _, name := range clientHeaders {
		if id := headerID(h, name); id != "" {
			return id, name
		}
	}
	// Of several the first by name, so that the choice does not change.
	for header := range h {
		if !vendorHeader(header) || (name != "" && header > name) {
			continue
		}
		if value := headerID(h, header); plainID(value) {
			id, name = value, header
		}
	}
	return id, name
}

// vendorHeader reports whether a canonical header name is X-VENDOR-Session-Id.
func vendorHeader(name string) bool {
	const start, end = "X-", "-Session-Id"
	return len(name) > len(start)+len(end) && strings.HasPrefix(name, start) && strings.HasSuffix(name, end)
}

// plainID reports whether a value looks like an id: at least 8 letters, digits,
// dashes and underscores, nothing else.
func plainID(s string) bool {
	const shortest = 8
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(s) >= shortest
}

// headerID returns the first value of a header, by its canonical name.
func headerID(h http.Header, name string) string {
	values := h[name]
	if len(values) == 0 {
		return ""
	}
	return tidy(values[0])
}

// tidy trims an id and cuts it to what counts.
func tidy(id string) string {
	id = strings.TrimSpace(id)
	if len(id) > maxSession {
		id = id[:maxSession]
	}
	return id
}

// sessions turns ids into keys. Its methods may run in parallel.
type sessions struct{ macs sync.Pool }

func newSessions(secret [32]byte) *sessions {
	s := &sessions{}
	s.macs.New = func() any { return hmac.New(sha256.New, secret[:]) }
	return s
}

// What a session's key is made from: an id that was given, or an opening. The
// two never meet.
const (
	fromID      = 0
	fromOpening = 1
)

// session returns the session of an id, else of an opening, else none with a
// random seed.
func (s *sessions) session(c *engine.Caller, id, source string, opening Opening) (engine.Session, uint64) {
	if id == "" && opening == nil {
		return engine.Session{}, randomSeed()
	}
	mac, _ := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	kind := byte(fromID)
	if id == "" {
		kind = fromOpening
	}
	var room [256]byte
	text := append(room[:0], kind)
	for _, level := range [...]string{c.Org, c.Team, c.Key} {
		// The length in front keeps "a"+"bc" and "ab"+"c" apart.
		text = binary.AppendUvarint(text, uint64(len(level)))
		text = append(text, level...)
	}
	// A hash takes everything that is written to it.
	if id != "" {
		_, _ = mac.Write(append(text, id...))
	} else {
		_, _ = mac.Write(text)
		if !opening.HashOpening(mac) {
			return engine.Session{}, randomSeed()
		}
		source = sourceOpening
	}
	sum := mac.Sum(text[:0])
	found := engine.Session{Source: source}
	size := copy(found.Key[:], sum)
	return found, binary.BigEndian.Uint64(sum[size:])
}

// randomSeed is the seed of a request without a session. The runtime seeds the
// generator from the system, and nothing secret hangs on it.
func randomSeed() uint64 {
	return rand.Uint64() //nolint:gosec // a draw among deployments, not a secret
}
