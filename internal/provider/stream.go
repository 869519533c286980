package provider

import (
	"context"
	"errors"
	"io"

	"gatewright/engine"
)

// pump brings one stream to the client: it holds the answer back until it shows
// content, then passes it on event by event.
type pump struct {
	attempt  *attempt
	resp     *Response
	held     *Buffer // events before the commit
	finished bool    // the answer is complete, only its end is missing
	skipped  bool
}

// stream brings a streamed answer to the client.
func (a *attempt) stream(ctx, callCtx context.Context, resp *Response) *Failure {
	p := pump{attempt: a, resp: resp, held: NewBuffer()}
	defer func() {
		if a.evidence != engine.ClassNone {
			a.watch.cancel(context.Canceled) // nothing more is wanted of this upstream
		}
		_ = resp.Stream.Close()
		p.held.Free()
	}()
	f, over := p.step(ctx, callCtx)
	for !over {
		f, over = p.step(ctx, callCtx)
	}
	if p.skipped {
		a.addNote("left out what the upstream sent between the events of its stream")
	}
	return f
}

// step waits for an event and handles it. over says that the stream is at its
// end: with a failure when nothing has been committed, else the walk's result
// stands.
func (p *pump) step(ctx, callCtx context.Context) (f *Failure, over bool) {
	ev, err := p.next()
	if err != nil {
		return p.ended(ctx, callCtx, err), true
	}
	return p.take(ctx, &ev)
}

// next waits for an event, and contains the adapter's faults.
func (p *pump) next() (ev Event, err error) {
	a := p.attempt
	if !a.out.dirty { // else the wait begins once that has been flushed: see waiting
		a.watch.waits(a.out.elapsed())
	}
	defer func() {
		a.watch.busy()
		if v := recover(); v != nil {
			err = a.panicked(v)
		}
	}()
	return p.resp.Stream.Next()
}

// waiting is called by the stream before it reads from the upstream: the client
// gets what was passed on so far.
func (a *attempt) waiting() {
	if !a.out.dirty {
		return
	}
	a.watch.busy()
	at, err := a.out.flush()
	if err != nil {
		a.watch.cancel(errClient)
	}
	a.watch.waits(at)
}

// take handles one event.
func (p *pump) take(ctx context.Context, ev *Event) (f *Failure, over bool) {
	a := p.attempt
	p.skipped = p.skipped || ev.Skipped
	switch {
	case a.live:
		if err := a.out.write(ev.Frame); err != nil {
			return p.clientGone(err), true
		}
	case ev.Done:
		return p.empty(nil), true
	default:
		p.held.B = append(p.held.B, ev.Frame...)
		if !ev.Commits && len(p.held.B) <= a.walk.dispatcher.options.HoldLimit {
			return nil, false
		}
		if ev.Refused && a.elsewhere(ctx) {
			return refusal(), true
		}
		if err := p.commit(); err != nil {
			return p.clientGone(err), true
		}
	}
	if ev.Done {
		return p.complete(nil), true
	}
	p.finish(ev.Finished)
	return nil, false
}

// commit sends the client what was held back.
func (p *pump) commit() error {
	a := p.attempt
	if err := a.commit(p.resp); err != nil {
		return err
	}
	a.health.Committed(a.walk.dispatcher.clock(), a.committed)
	p.move()
	return a.out.write(p.held.B)
}

// move bounds the silence of a stream that has been committed. A body that
// holds no events is not kept alive: a comment would be part of it.
func (p *pump) move() {
	a := p.attempt
	quiet := a.walk.dispatcher.options.KeepAlive
	if p.resp.Raw {
		quiet = never
	}
	a.watch.move(firstOf(a.candidate.Timeouts.Idle, defaultIdleLimit), quiet)
}

// finish notes whether every choice has its finish reason: then the end is due
// at once.
func (p *pump) finish(finished bool) {
	if finished == p.finished {
		return
	}
	if p.finished = finished; finished {
		p.attempt.complete = p.attempt.out.elapsed()
		p.attempt.watch.bound(p.attempt.walk.dispatcher.options.FinishWait, errSettled)
	} else {
		p.attempt.complete = 0
		p.move()
	}
}

// complete ends a stream that is complete; tail is what the upstream owes. What is
// not flushed here goes out with the end of the answer, in one write: at once, or
// before the stream waits for the end of its body.
func (p *pump) complete(tail []byte) *Failure {
	a := p.attempt
	if err := a.out.write(tail); err != nil {
		return p.clientGone(err)
	}
	a.usage = p.resp.Stream.Usage()
	a.watch.bound(drainWait, errSettled)
	a.served()
	return nil
}

// ended handles the end of the body, with or without an error.
func (p *pump) ended(ctx, callCtx context.Context, err error) *Failure {
	a := p.attempt
	clean := errors.Is(err, io.EOF)
	switch {
	case !a.live && clean:
		return p.empty(err)
	case !a.live:
		return a.failure(callCtx, err)
	case ctx.Err() != nil:
		return p.clientGone(ctx.Err())
	case errors.Is(context.Cause(callCtx), errClient):
		return p.clientGone(errClient)
	case p.finished:
		return p.complete(p.resp.Stream.Tail())
	case clean:
		return p.truncated("the upstream ended its stream before the answer was complete")
	}
	return p.truncated(a.failure(callCtx, err).Message)
}

// empty is the failure of a stream that ended without an answer.
func (p *pump) empty(err error) *Failure {
	return BadAnswer("the upstream ended its stream without an answer", err)
}

// truncated ends the walk: the answer broke after its beginning had gone out.
func (p *pump) truncated(message string) *Failure {
	a := p.attempt
	if a.out.dirty {
		_, _ = a.out.flush() // the client gets what there is; the error follows in band, or the connection breaks
	}
	f := &Failure{Class: engine.ClassTruncated, Message: message}
	a.class, a.evidence, a.message = f.Class, f.Class, f.Message
	a.usage = p.resp.Stream.Usage()
	a.walk.result = a.result()
	a.walk.result.Truncated = true
	e := f.upstreamError(0)
	if s, ok := p.resp.Stream.(Breaker); ok {
		e.InBand = s.Broken(e)
	}
	a.walk.err = e
	return nil
}

func (p *pump) clientGone(cause error) *Failure {
	p.attempt.usage = p.resp.Stream.Usage()
	p.attempt.clientGone(cause)
	return nil
}
