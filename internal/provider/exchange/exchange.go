package exchange

import (
	"context"
	"io"
	"net/http"
	"strings"

	"gatewright/internal/provider"
	"gatewright/internal/wire/fault"
)

// The content types that bodies have.
const (
	TypeJSON   = "application/json"
	TypeEvents = "text/event-stream"
)

// Values of Content-Type, shared by all answers.
var (
	JSONType   = []string{TypeJSON}
	EventsType = []string{TypeEvents}
)

// maxDrain is how many bytes behind the end of a stream are read so that its
// connection can be used again.
const maxDrain = 16 << 10

// Exchange is one call as it runs. It is used by one goroutine.
type Exchange struct {
	*Service
	Call *provider.Call
	// Resp is the answer once it has come. Body is its body, decoded.
	Resp *http.Response
	Body io.ReadCloser
	// Amend changes what was read of an error before it is judged; nil = nothing
	// is changed.
	Amend func(*fault.Fault)

	over bool // the end of a stream's body has been seen
}

// Reader makes the response of an answer with a good status, in the text of the
// endpoint that was called.
type Reader interface {
	// Whole reads one JSON answer.
	Whole() (*provider.Response, error)
	// Folded makes one JSON answer of a stream that nobody asked for.
	Folded() (*provider.Response, error)
	// Streamed makes the response of an event stream. Nothing of it has been read.
	Streamed(ctx context.Context, body io.Reader) (*provider.Response, error)
	// Unfolded makes a stream of one JSON answer, where a stream was asked for.
	Unfolded(ctx context.Context) (*provider.Response, error)
}

// Run sends a request and reads what comes back.
func (x *Exchange) Run(ctx context.Context, as Reader, o *provider.Outgoing) (*provider.Response, error) {
	if err := x.Send(ctx, o); err != nil {
		return nil, err
	}
	out, err := x.Read(ctx, as)
	if err != nil || out.Stream == nil {
		_ = x.Body.Close()
	}
	return out, err
}

// Send sends a request; what comes back is in Resp and Body. The caller closes
// Body.
func (x *Exchange) Send(ctx context.Context, o *provider.Outgoing) error {
	o.Again = x.Call.Again
	resp, err := x.client.Send(ctx, o) //nolint:bodyclose // closed through Body, or with the stream
	x.Call.Reached = o.Reached
	if err != nil {
		return err
	}
	x.Resp, x.Body = resp, resp.Body
	x.Call.Seen = provider.Seen{
		Status: resp.StatusCode, RequestID: provider.RequestID(resp.Header), At: x.Call.Clock(), Header: resp.Header,
	}
	return nil
}

// Read reads what came back.
func (x *Exchange) Read(ctx context.Context, as Reader) (*provider.Response, error) {
	switch status := x.Resp.StatusCode; {
	case status >= http.StatusBadRequest:
		return nil, x.ErrorAnswer()
	case status != http.StatusOK && status != http.StatusCreated && status != http.StatusNonAuthoritativeInfo:
		return nil, NoAnswer(status)
	}
	if err := x.Decode(); err != nil {
		return nil, err
	}
	streams := x.Call.Request.Stream
	switch kind := MediaType(x.Resp.Header); {
	case strings.Contains(kind, "html"):
		return nil, WebPage()
	case !streams && kind == TypeEvents:
		return as.Folded()
	case !streams:
		return as.Whole()
	case kind == TypeEvents:
		return as.Streamed(ctx, x.Body)
	case strings.HasSuffix(kind, "json"):
		return as.Unfolded(ctx)
	}
	return x.sniffed(ctx, as)
}

// sniffed reads the answer to a streamed request that does not say what it is.
func (x *Exchange) sniffed(ctx context.Context, as Reader) (*provider.Response, error) {
	head := make([]byte, 1, 8)
	for {
		if _, err := io.ReadFull(x.Body, head[:1]); err != nil {
			return nil, Broken(err)
		}
		if !IsSpace(head[0]) {
			break
		}
	}
	rest := io.MultiReader(strings.NewReader(string(head)), x.Body)
	switch head[0] {
	case '{', '[':
		x.Body = Over(rest, x.Body)
		return as.Unfolded(ctx)
	case 'd', 'e', 'i', 'r', ':', 0xef: // data, event, id, retry, a comment, a byte order mark
		return as.Streamed(ctx, rest)
	}
	return nil, provider.BadAnswer("the upstream's answer is neither a stream nor JSON", nil)
}

// IsSpace reports whether b is a blank of JSON.
func IsSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// MediaType returns the content type without its parameters, lower case.
func MediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// Fill reads the whole body into a buffer.
func (x *Exchange) Fill(into *provider.Buffer) error {
	if err := into.Fill(x.Body, x.Resp.ContentLength, x.answerLimit); err != nil {
		return Broken(err)
	}
	return nil
}

// AnswerLimit returns how large an answer may be that is held whole, in bytes.
func (x *Exchange) AnswerLimit() int64 { return x.answerLimit }

// ResponseHeader returns what of the upstream's headers goes to the client, and
// the content type.
func (x *Exchange) ResponseHeader(kind []string) http.Header {
	h := x.withoutSecrets(provider.ResponseHeader(x.Resp.Header))
	if h == nil {
		h = make(http.Header, 1)
	}
	h["Content-Type"] = kind
	return h
}

// CloseStream gives the body of a stream up. If it has been read to its end it
// is read on a little, so that the connection can be used again, as long as ctx,
// that of the call, lasts; the client has the whole answer before.
func (x *Exchange) CloseStream(ctx context.Context, ended bool) error {
	if ended && !x.over && ctx.Err() == nil {
		x.Call.Waiting()
		_, _ = io.CopyN(io.Discard, x.Resp.Body, maxDrain)
	}
	return x.Body.Close()
}
