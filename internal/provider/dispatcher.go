package provider

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/health"
)

// Health is told of every call and says which deployments may be called now.
// *[health.Tracker] is the one there is.
type Health interface {
	// Begin counts a call in; false = the circuit does not let it through.
	Begin(d *engine.Deployment, now time.Time, lastResort bool) (*health.Call, bool)
	// BeginPinned counts in a call that no circuit stops.
	BeginPinned(d *engine.Deployment, now time.Time) *health.Call
	// Repeat counts in another call of the same deployment by the same request.
	Repeat(prev *health.Call, now time.Time) (*health.Call, bool)
}

var _ Health = (*health.Tracker)(nil)

// Options say how a Dispatcher works. Zero fields have the defaults.
type Options struct {
	Logger *slog.Logger     // nil = no log
	Clock  func() time.Time // nil = time.Now

	HoldLimit  int           // bytes of a stream held before the commit; default 1 MiB
	KeepAlive  time.Duration // silence after the commit before a comment is sent; default 15 s
	FinishWait time.Duration // wait for the end of a stream after its finish; default 1 s
	Retries    *RetryBudget  // nil = DefaultRetryBudget
}

// The waits of a call that neither its deployment nor the retry policy sets.
const (
	defaultFirstToken = 60 * time.Second
	defaultIdleLimit  = 60 * time.Second
	defaultAnswer     = 600 * time.Second
)

// drainWait is how long the end of a body is awaited, after the client has got
// everything, so that the connection can be used again.
const drainWait = 100 * time.Millisecond

// Dispatcher runs plans: it calls their deployments until one has served. It is
// the engine's Executor; its methods may run in parallel.
type Dispatcher struct {
	health   Health
	options  Options
	clock    func() time.Time
	logger   *slog.Logger
	bucket   bucket
	refusals *refusals
	alarms   alarms

	repeats atomic.Int64
	denied  atomic.Int64
}

var _ engine.Executor = (*Dispatcher)(nil)

// NewDispatcher returns a dispatcher that reports to h.
func NewDispatcher(h Health, o Options) *Dispatcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.HoldLimit <= 0 {
		o.HoldLimit = 1 << 20
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.FinishWait <= 0 {
		o.FinishWait = time.Second
	}
	budget := DefaultRetryBudget()
	if o.Retries != nil {
		budget = *o.Retries
	}
	d := &Dispatcher{health: h, options: o, clock: o.Clock, logger: o.Logger, refusals: newRefusals(o.Logger)}
	d.bucket.set(budget)
	return d
}

// SetRetryBudget changes the budget for later repeats.
func (d *Dispatcher) SetRetryBudget(b RetryBudget) { d.bucket.set(b) }

// Stats is what a Dispatcher counts.
type Stats struct {
	Repeats           int64                // calls repeated on the same deployment
	RepeatsDenied     int64                // repeats that the retry budget stopped
	CredentialRefused map[string]time.Time // providers that refuse our credential, and since when
}

// Stats returns the counts since the start.
func (d *Dispatcher) Stats() Stats {
	return Stats{Repeats: d.repeats.Load(), RepeatsDenied: d.denied.Load(), CredentialRefused: d.refusals.list()}
}

// Execute implements [engine.Executor].
func (d *Dispatcher) Execute(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
	d.bucket.request()
	w := walk{dispatcher: d, request: r, sink: sink, open: true}
	return w.run(ctx, p)
}
