package fake

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Options are the settings of a simulation that are not part of its script.
// The zero value is ready.
type Options struct {
	// Logger gets one line for each request; nil logs nothing.
	Logger *slog.Logger
	// Keep is how many requests each upstream remembers, the newest; 0 means
	// 1,000.
	Keep int
	// KeepBody is how many bytes of each body are remembered; 0 means 64 KiB.
	KeepBody int
	// MaxBody is the longest request body that is taken, in bytes; a longer
	// one is answered 413. 0 means 64 MiB.
	MaxBody int64
}

func (o Options) filled() Options {
	if o.Keep <= 0 {
		o.Keep = 1000
	}
	if o.KeepBody <= 0 {
		o.KeepBody = 64 << 10
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 64 << 20
	}
	return o
}

// Upstreams plays a script. It is an [http.Handler] that serves each upstream
// below its name and the controls below /_sim/. All methods may be called from
// any goroutine. Close it when done.
type Upstreams struct {
	seed   uint64
	opts   Options
	byName map[string]*upstream

	closing sync.Once
	closed  chan struct{} // closed by Close
	serving sync.WaitGroup
}

// New plays a script. A script that [Parse] returned is always playable; one
// made by hand that [Script.Validate] refuses makes New panic.
func New(script *Script, opts Options) *Upstreams {
	if err := script.Validate(); err != nil {
		panic(fmt.Sprintf("fake: script is not valid: %v", err))
	}
	u := &Upstreams{
		seed:   script.Seed,
		opts:   opts.filled(),
		byName: make(map[string]*upstream, len(script.Upstreams)),
		closed: make(chan struct{}),
	}
	for name, b := range script.Upstreams {
		up := &upstream{sim: u, name: name, salt: saltOf(name), active: map[*exchange]struct{}{}}
		up.faults, up.statuses = map[string]int{}, map[int]int{}
		up.given = &b
		up.beh.Store(prepare(name, &b))
		u.byName[name] = up
	}
	return u
}

// ServeHTTP serves /NAME/v1/… by the upstream of that name, and the controls
// below /_sim/.
func (u *Upstreams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if u.control(w, r) {
		return
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	up, ok := u.byName[name]
	if !ok {
		writeError(w, http.StatusNotFound, fmt.Sprintf("no upstream %q; there are: %s", name, listing(u.Names())))
		return
	}
	up.serve(w, r, "/"+name, "/"+rest)
}

// Handler serves one upstream at the root: /v1/chat/completions and so on, and
// the controls below /_sim/. A name that the script does not have is answered
// 404.
func (u *Upstreams) Handler(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.control(w, r) {
			return
		}
		up, ok := u.byName[name]
		if !ok {
			writeError(w, http.StatusNotFound, fmt.Sprintf("no upstream %q; there are: %s", name, listing(u.Names())))
			return
		}
		up.serve(w, r, "", r.URL.Path)
	})
}

// Names lists the upstreams in alphabetical order.
func (u *Upstreams) Names() []string { return slices.Sorted(maps.Keys(u.byName)) }

// Calls returns how many requests an upstream has received since the start or
// the last Reset, whatever was answered; 0 for an unknown name.
func (u *Upstreams) Calls(name string) int {
	up, ok := u.byName[name]
	if !ok {
		return 0
	}
	return up.count()
}

// InFlight returns how many requests an upstream is answering now.
func (u *Upstreams) InFlight(name string) int {
	up, ok := u.byName[name]
	if !ok {
		return 0
	}
	return up.inFlight()
}

// Requests returns what an upstream has seen, oldest first, as many as
// [Options.Keep]; the ones that are being answered too. The result is a copy.
func (u *Upstreams) Requests(name string) []Seen {
	up, ok := u.byName[name]
	if !ok {
		return nil
	}
	return up.requests()
}

// Set gives an upstream a new behaviour from the next request on; its script
// and its quota begin afresh, its counts stay. It returns an error, and changes
// nothing, for an unknown name and for a behaviour that is not valid.
func (u *Upstreams) Set(name string, b Behaviour) error {
	up, ok := u.byName[name]
	if !ok {
		return fmt.Errorf("no upstream %q; there are: %s", name, listing(u.Names()))
	}
	if err := b.Validate(); err != nil {
		return fmt.Errorf("behaviour of %q: %w", name, err)
	}
	up.set(&b)
	return nil
}

// Reset forgets what was seen and counted and begins every script, quota and
// row of random choices afresh, so that the same requests have the same fate
// again. Behaviours stay as they are.
func (u *Upstreams) Reset() {
	for _, up := range u.byName {
		up.reset()
	}
}

// Close ends the requests that are being answered by cutting their connections,
// refuses later ones, and waits for the handlers to return. It always returns
// nil.
func (u *Upstreams) Close() error {
	u.closing.Do(func() {
		for _, up := range u.byName {
			up.shut()
		}
		close(u.closed)
		for _, up := range u.byName {
			up.interrupt()
		}
	})
	u.serving.Wait()
	return nil
}
