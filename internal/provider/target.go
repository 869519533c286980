package provider

import (
	"context"
	"net/http"
	"time"

	"gatewright/engine"
)

// Target is what engine.Deployment.Target must hold, as a *Target: how the
// deployment is called. It is immutable and belongs to a snapshot.
type Target struct {
	// Adapter speaks the deployment's protocol.
	Adapter Adapter
}

// Adapter calls one deployment in its protocol and gives back what the caller
// of the gateway is to see, in the caller's protocol and under the public model
// name. Its methods may run in parallel.
type Adapter interface {
	// Do sends the call. It returns once the whole answer has been read and
	// checked, or for a stream once it is known that one has begun. The error is
	// a *Failure, or anything else when ctx ended: the caller knows why it did.
	//
	// Do neither repeats a call nor limits its time: ctx ends when a wait is
	// over. The Response must be released, and its stream closed, before ctx is
	// given up.
	Do(ctx context.Context, c *Call) (*Response, error)
}

// Call is one call of one deployment.
type Call struct {
	Request     *engine.Request
	Deployment  *engine.Deployment
	PublicModel string // stands in the answer instead of the upstream's name

	// Clock tells the time. It is never nil.
	Clock func() time.Time
	// Waiting is called by a stream each time before it reads from the upstream,
	// by the goroutine that is in Next or Close: what was handed out before is
	// flushed then. It is never nil.
	Waiting func()
	// Again is for Outgoing: it charges the retry budget, because an upstream that
	// resets kept connections after it has read the request looks like one that
	// had closed them before. It may be nil.
	Again func() bool
	// Seen is filled in by the adapter once response headers are there.
	Seen Seen
	// Reached is set by the adapter when the upstream may have got the request,
	// whatever came of it.
	Reached bool
	// Memo is the same for all calls of one request; nil = nothing is kept.
	Memo *Memo
	// Note is set by the adapter to what the decision is to tell of the call; "" =
	// nothing. It holds nothing of the conversation.
	Note string
}

// Memo keeps what an adapter has made of a request's payload, so that the next
// call need not make it again. The calls of one request come one after the other.
type Memo struct {
	// Value is nil until an adapter sets it; who reads it checks its type.
	Value any
}

// Seen is what an upstream said before its body. The zero value is no answer.
type Seen struct {
	Status    int
	RequestID string // the upstream's name of the call, printable, bounded
	At        time.Time
	// Header is what was in it, for what it tells of rate limits and quotas; nil =
	// nothing. It is only read.
	Header http.Header
}

// Response is the good answer of an upstream. It is used by one goroutine.
type Response struct {
	// Header may go to the client; Content-Type is in it, and for a whole answer
	// Content-Length.
	Header http.Header
	// Body is the whole answer when Stream is nil. It is valid until Release.
	Body []byte
	// Usage is what a whole answer consumed.
	Usage engine.Usage
	// Refused says that a whole answer holds nothing but a refusal, a filter or a
	// block.
	Refused bool
	// Stream is the streamed answer; nil for a whole one.
	Stream Stream
	// Raw says that the frames of the stream are pieces of one body and no
	// events: nothing may be put between them, and no error behind them.
	Raw bool
	// Status is that of the answer to the client; 0 = 200.
	Status int
	// Local says that the gateway made the answer itself: it tells nothing of the
	// deployment.
	Local bool
	// Free gives back the memory of Body; nil when there is nothing to give.
	Free func()
}

// Release gives back what the response holds, once; its Body is not valid
// afterwards. It does not close the stream.
func (r *Response) Release() {
	if r.Free != nil {
		r.Free()
		r.Free, r.Body = nil, nil
	}
}

// Stream hands out a streamed answer, event by event. It is used by one
// goroutine at a time.
type Stream interface {
	// Next returns the next event, however long the upstream takes: comments
	// of the upstream are not events. The error is io.EOF at a clean end of the
	// body and a *Failure when the upstream reported one or broke off; it may be
	// anything once the context of Do has ended.
	Next() (Event, error)
	// Usage returns what is known of the consumption so far.
	Usage() engine.Usage
	// Tail returns the frames that end a stream whose upstream did not end it
	// itself ("[DONE]"); nil when the protocol has none.
	Tail() []byte
	// Close gives the stream up. It may first read on to the end of the body,
	// so that the connection can be used again, as long as Do's context lasts.
	Close() error
}

// Breaker is a Stream that can tell its client, in the words of its protocol and
// from where it stands, that it broke off after the commit.
type Breaker interface {
	// Broken returns the framed events that end the stream. It is called once,
	// instead of Next.
	Broken(e *engine.UpstreamError) []byte
}

// Event is one step of a stream.
type Event struct {
	// Frame is what the client gets: whole events, framed, of the caller's
	// protocol, or a piece of a raw body. It may be empty. It is valid until the
	// next call of Next.
	Frame []byte
	// Commits says that the event shows content or a finish: from here on the
	// answer is this upstream's.
	Commits bool
	// Refused says that the event commits to a refusal and nothing else.
	Refused bool
	// Finished says that every choice of the answer has its finish reason.
	Finished bool
	// Done says that the stream is complete and its end is in Frame.
	Done bool
	// Skipped says that the upstream sent something that is no event of its
	// protocol, which was left out.
	Skipped bool
}
