package engine

import "time"

// Request is one client request as routing sees it. The server fills it once;
// rules read it, and nobody writes it afterwards but the engine, which makes the
// estimate of InputTokens for each pool. Now is set once, so rules are pure: the
// same request and the same signals give the same plan.
type Request struct {
	ID       string // also the id of the decision
	Caller   *Caller
	Model    string // as sent
	Endpoint Endpoint
	Stream   bool

	Needs       Capabilities
	InputTokens int64 // estimate that errs low; 0 = not known. Made from TextBytes if that is given
	MaxOutput   int64 // output tokens the caller asked for; 0 = not named

	// TextBytes is how much text the model will read; 0 = InputTokens stands as
	// it is.
	TextBytes int64
	// CountTokens counts the input with the tokenizer of an upstream's model and
	// says how long that took. The engine calls it at most once, in the goroutine
	// of Serve, and only where the estimate is too rough for a context limit. nil,
	// or an answer of 0: the estimate has to do.
	CountTokens func(model string) (tokens int64, took time.Duration)

	Session  Session
	Seed     uint64 // of the weighted draw: keyed hash of the session, or random
	Now      time.Time
	Deadline time.Time // zero = none

	DisableFallbacks bool
	MaxTTFT          time.Duration // caller's cap on time to first token; 0 = none
	MaxCost          int64         // caller's cap on the request's cost, nano-USD; 0 = none

	// Native names what of the request only an upstream of its own protocol can
	// serve; "" = a translation will do.
	Native string

	// Owner is the id of the deployment that issued what this request continues;
	// "" = free. Of a model that the owner does not serve, its provider's
	// deployments stand for it: one account keeps what all of them issued.
	Owner string

	// Async says that the request creates something that is fetched later. Once
	// nobody can know whether an upstream has begun with it, it is not sent again.
	Async bool

	// Client is what else the client sent, for rules that are granted it; nil =
	// nothing.
	Client ClientData

	// Payload is what the executor sends: opaque to the engine and to rules.
	Payload any
}

// Session names the conversation that a request belongs to. The key is already
// scoped to the caller, so two callers never share one.
type Session struct {
	Key    [16]byte
	Source string // where the key was found ("header", "prompt_cache_key", …); "" = no session
}

// Present reports whether the request belongs to a session.
func (s Session) Present() bool { return s.Source != "" }

// Set is a set of names that restricts. An empty set restricts nothing.
type Set map[string]struct{}

// NewSet returns the set of the given names, nil when there are none.
func NewSet(names []string) Set {
	if len(names) == 0 {
		return nil
	}
	s := make(Set, len(names))
	for _, n := range names {
		s[n] = struct{}{}
	}
	return s
}

// Has reports whether name is listed.
func (s Set) Has(name string) bool { _, ok := s[name]; return ok }

// Allows reports whether the set permits name: it is empty or lists it.
func (s Set) Allows(name string) bool { return len(s) == 0 || s.Has(name) }

// Caller is who asks, with everything that its key, team and org settle. It
// belongs to a snapshot and is never written after the swap.
type Caller struct {
	Key, Team, Org string

	AllowRequestStrategy bool // may put ":@strategy" behind a model name
	ExposeRouting        bool // sees X-Gatewright-* headers and skipped candidates

	AllowedModels    Set
	AllowedProviders Set
	SupplyTiers      Set
	MaxTTFT          time.Duration // smallest cap of its levels; 0 = none
	MaxCost          int64         // nano-USD; 0 = none

	Strategy       string // nearest preference; "" = none
	StrategySource string // the level that set it ("key", "team", "org")
	Preferred      Set    // preferred providers
}
