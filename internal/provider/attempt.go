package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/health"
)

// attempt is one call of one deployment.
type attempt struct {
	walk       *walk
	plan       *engine.Plan
	candidate  *engine.Candidate
	health     *health.Call
	lastResort bool

	call      Call
	out       output
	watch     watch
	live      bool          // committed: part of the answer has been handed to the sink
	streamed  bool          // the answer is handed on as it comes
	status    int           // of the answer to the client; 0 = there is none
	committed time.Duration // when, since the start
	complete  time.Duration // when a stream had its last finish reason; 0 = it has not
	ended     time.Duration // when the call was over
	class     engine.FailureClass
	evidence  engine.FailureClass // what health hears: class, except where it is nobody's fault
	cooldown  time.Duration
	usage     engine.Usage
	message   string
	note      string
}

func newAttempt(w *walk, plan *engine.Plan, c *engine.Candidate, call *health.Call, lastResort bool, now time.Time) *attempt {
	d := w.dispatcher
	a := &attempt{walk: w, plan: plan, candidate: c, health: call, lastResort: lastResort}
	a.out.sink, a.out.clock, a.out.began = w.sink, d.clock, now
	a.watch.out, a.watch.alarms = &a.out, &d.alarms
	a.call = Call{
		Request: w.request, Deployment: c.Deployment, PublicModel: plan.Name(),
		Clock: d.clock, Waiting: a.waiting, Again: a.again, Memo: &w.memo,
	}
	return a
}

// again decides whether a request that was lost on a closed connection is sent
// once more, and pays for it.
func (a *attempt) again() bool {
	d := a.walk.dispatcher
	if !d.bucket.takeAny(d.clock()) {
		d.denied.Add(1)
		a.addNote("not sent again on a new connection: the retry budget is used up")
		return false
	}
	d.repeats.Add(1)
	return true
}

// run makes the call and brings its answer to the client. Of a failure it says
// what may follow; with stepDone the walk's result stands.
func (a *attempt) run(ctx context.Context) (f *Failure, s step) {
	callCtx, cancel := context.WithCancelCause(ctx)
	a.watch.cancel = cancel
	a.evidence = engine.ClassCancelled // unless the end of this function is reached
	defer func() {
		a.watch.stop()
		cancel(nil)
		a.end()
	}()
	a.watch.start(a.limit())
	resp, err := a.do(callCtx)
	if a.call.Note != "" {
		a.addNote(a.call.Note)
	}
	if seen := &a.call.Seen; !seen.At.IsZero() {
		a.health.Answered(seen.Status, seen.Header, seen.At)
	}
	if err == nil {
		defer resp.Release()
		if a.streamed = resp.Stream != nil; a.streamed {
			f = a.stream(ctx, callCtx, resp)
		} else {
			f = a.whole(ctx, resp)
		}
		if f == nil {
			return nil, stepDone
		}
		err = f
	}
	return a.failed(ctx, callCtx, err)
}

// limit returns the wait for an answer, or for the first content of a stream,
// and why it ends. The request's deadline may come first.
func (a *attempt) limit() (time.Duration, error) {
	r := a.walk.request
	limit, cause := firstOf(a.candidate.Timeouts.Answer, defaultAnswer), errAnswer
	if r.Stream && (!image(r.Endpoint) || a.candidate.Timeouts.FirstToken > 0) {
		limit, cause = firstOf(a.candidate.Timeouts.FirstToken, a.plan.Route.Retry.Timeout, defaultFirstToken), errFirstToken
	}
	if !r.Deadline.IsZero() {
		if left := r.Deadline.Sub(a.out.began); left <= limit {
			return left, errDeadline
		}
	}
	return limit, cause
}

// image reports whether the answer is an image. A stream of one shows it half
// done if the client asks for that, else only when it is done: its first event
// may take as long as the answer.
func image(e engine.Endpoint) bool {
	return e == engine.EndpointImageGenerations || e == engine.EndpointImageEdits || e == engine.EndpointImageVariations
}

// firstOf returns the first duration that is set.
func firstOf(list ...time.Duration) time.Duration {
	for _, d := range list {
		if d > 0 {
			return d
		}
	}
	return 0
}

// do calls the adapter and contains its faults.
func (a *attempt) do(ctx context.Context) (resp *Response, err error) {
	target, ok := a.candidate.Target.(*Target)
	if !ok {
		return nil, BadAnswer("the deployment cannot be called: it has no adapter", nil)
	}
	defer func() {
		if v := recover(); v != nil {
			resp, err = nil, a.panicked(v)
		}
	}()
	return target.Adapter.Do(ctx, &a.call)
}

// panicked makes a failure of an adapter's panic.
func (a *attempt) panicked(v any) *Failure {
	a.walk.dispatcher.logger.Error("adapter panicked",
		slog.String("deployment", a.candidate.ID), slog.String("request", a.walk.request.ID),
		slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	return BadAnswer("the upstream's answer could not be handled", fmt.Errorf("adapter panicked: %v", v))
}

// whole sends an answer that was held whole.
func (a *attempt) whole(ctx context.Context, resp *Response) *Failure {
	a.usage = resp.Usage
	if resp.Refused && a.elsewhere(ctx) {
		return refusal()
	}
	err := a.commit(resp)
	if err == nil {
		err = a.out.write(resp.Body) // not flushed: the answer ends here
	}
	if err != nil {
		a.clientGone(err)
		return nil
	}
	a.served()
	if resp.Local {
		a.evidence = engine.ClassCancelled // it must neither close a circuit nor raise a rate
	}
	return nil
}

// elsewhere reports whether another model is to be asked because this one
// refused, and finds its plan.
func (a *attempt) elsewhere(ctx context.Context) bool {
	if a.lastResort || a.plan.Final() || !a.plan.HasChain(engine.ClassContent) {
		return false
	}
	next, ok := a.plan.Fallback(ctx, engine.ClassContent)
	a.walk.next = next
	return ok
}

// refusal is the failure of an answer that holds nothing but a refusal.
func refusal() *Failure {
	return &Failure{Class: engine.ClassContent, Message: "the model refused to answer", Code: "content_filter"}
}

// commit tells the client that the answer begins.
func (a *attempt) commit(resp *Response) error {
	dep := a.candidate.Deployment
	a.live, a.committed = true, a.out.elapsed()
	if a.status = resp.Status; a.status == 0 {
		a.status = http.StatusOK
	}
	return a.out.commit(engine.Answer{
		Status: a.status, Header: resp.Header, Deployment: dep, Model: a.plan.Name(),
		Attempts: a.plan.Attempts() + 1, Usage: resp.Usage, Cost: dep.Cost(resp.Usage, a.walk.request.Now),
	})
}

// served ends the walk with a success.
func (a *attempt) served() {
	a.class, a.evidence = engine.ClassNone, engine.ClassNone
	a.plan.Served(a.candidate)
	a.walk.dispatcher.refusals.served(a.candidate.Provider.ID)
	a.walk.result = a.result()
}

// clientGone ends the walk because the client cannot be written to.
func (a *attempt) clientGone(cause error) {
	a.class, a.evidence = engine.ClassCancelled, engine.ClassCancelled
	a.walk.result = a.result()
	a.walk.result.Cancelled = true
	if !errors.Is(cause, context.Canceled) {
		cause = fmt.Errorf("write answer: %w: %w", cause, context.Canceled)
	}
	a.walk.err = cause
}

// result is how a request ends whose answer began to reach the client.
func (a *attempt) result() engine.Result {
	return engine.Result{
		Deployment: a.candidate.ID, Model: a.plan.Name(), Usage: a.usage, Status: a.status,
		Cost: a.candidate.Cost(a.usage, a.walk.request.Now),
	}
}

// failed sorts out why a call failed before its answer was committed.
func (a *attempt) failed(ctx, callCtx context.Context, err error) (*Failure, step) {
	f := a.failure(callCtx, err)
	switch {
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		a.class, a.evidence = engine.ClassCancelled, engine.ClassCancelled
		return nil, a.walk.cancelled(ctx)
	case ctx.Err() != nil, errors.Is(context.Cause(callCtx), errDeadline):
		// The time was the request's, not the deployment's: a caller with a
		// short deadline must not open circuits for others.
		f = outOfTime()
		a.class, a.message = f.Class, f.Message
		a.evidence = engine.ClassCancelled
		a.addNote("the request's deadline came, not a limit of the deployment")
		return f, stepOver
	}
	a.class, a.evidence, a.cooldown, a.message = f.Class, f.Class, f.Cooldown, f.Message
	switch rule := f.Class.Rule(); {
	case f.Unfit:
		return f, stepUnfit
	case a.walk.request.Async && a.unknown(f):
		a.addNote("not sent again: the upstream may have begun with it")
		return f, stepOver
	case rule.Next:
		return f, stepNext
	case rule.Chain != engine.ChainNone:
		return f, stepChain
	}
	return f, stepOver
}

// unknown reports whether nobody can know what became of the call: the upstream
// may have got the request, and has not said itself that it did not take it.
func (a *attempt) unknown(f *Failure) bool {
	switch status := a.call.Seen.Status; {
	case status == 0:
		return a.call.Reached
	case status < http.StatusBadRequest:
		return f.Status == 0 // no error stood in the answer
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		return true // said by somebody in between
	default:
		return status >= firstEdge && status <= lastEdge
	}
}

// The statuses that a content delivery network gives for a server behind it.
const firstEdge, lastEdge = 520, 527

// failure makes a Failure of any error.
func (a *attempt) failure(callCtx context.Context, err error) *Failure {
	switch cause := context.Cause(callCtx); {
	case errors.Is(cause, errFirstToken):
		return &Failure{Class: engine.ClassTimeout, Message: "the upstream sent no content in time", Err: err}
	case errors.Is(cause, errAnswer):
		return &Failure{Class: engine.ClassTimeout, Message: "the upstream sent no answer in time", Err: err}
	case errors.Is(cause, errIdle):
		return &Failure{Class: engine.ClassTimeout, Message: "the upstream stopped sending", Err: err}
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return BadAnswer("the upstream's answer could not be read", err)
}

// addNote adds to the attempt's note.
func (a *attempt) addNote(text string) {
	if a.note != "" {
		a.note += "; "
	}
	a.note += text
}

// end tells health how the call ended.
func (a *attempt) end() {
	now := a.walk.dispatcher.clock()
	a.ended = now.Sub(a.out.began)
	o := health.Outcome{
		Class: a.evidence, Cooldown: a.cooldown, Policy: a.plan.Route.Retry,
		Duration: a.took(), Usage: a.usage, Stream: a.walk.request.Stream, Now: now,
	}
	if a.live {
		o.Stream = a.streamed
	}
	if o.Stream && a.live {
		o.TTFT = a.committed
	}
	if !a.timed() {
		o.Stream, o.TTFT, o.Duration = false, 0, 0
	}
	a.health.End(o)
}

// timed reports whether the call says how fast the deployment answers: counting,
// fetching and ordering for later do not.
func (a *attempt) timed() bool {
	r := a.walk.request
	switch r.Endpoint { //nolint:exhaustive // these are all that generate nothing
	case engine.EndpointInputTokens, engine.EndpointCountTokens, engine.EndpointStored:
		return false
	}
	return !r.Async
}

// took is how long the answer took: of a stream without the wait for its formal
// end. The call is over.
func (a *attempt) took() time.Duration {
	if a.complete > 0 {
		return a.complete
	}
	return a.ended
}

// record writes the call into the decision.
func (a *attempt) record() {
	took := a.took()
	first := a.committed
	if seen := a.call.Seen.At; !a.live && !seen.IsZero() {
		first = seen.Sub(a.out.began)
	}
	waited := took
	if a.live && !a.streamed {
		waited = a.committed // the rest is the client taking the answer
	}
	a.plan.AddUpstream(waited)
	a.plan.Attempted(engine.Attempt{
		Deployment: a.candidate.ID, SelectionSource: a.source(), Start: a.out.began, Duration: took, FirstByte: first,
		Class: a.class, Status: a.call.Seen.Status, UpstreamRequestID: a.call.Seen.RequestID,
		Usage: a.usage, Message: a.message, Note: a.note,
	})
}

// source says why this deployment was called.
func (a *attempt) source() string {
	switch {
	case a.lastResort:
		return "last_resort"
	case a.health.Probe():
		return "probe"
	}
	return a.plan.Source(a.candidate)
}
