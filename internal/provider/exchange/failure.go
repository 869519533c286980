package exchange

import (
	"errors"
	"io"
	"net/http"
	"time"

	"gatewright/internal/provider"
	"gatewright/internal/wire/fault"
)

// errorWait is how long the rest of an error's body is awaited: its status has
// come, and says most.
const errorWait = 2 * time.Second

// ErrorAnswer reads an answer with an error status. What cannot be read of its
// body does not matter: the status stands.
func (x *Exchange) ErrorAnswer() *provider.Failure {
	hurry := time.AfterFunc(errorWait, func() { _ = x.Resp.Body.Close() })
	defer hurry.Stop()
	buf := provider.NewBuffer()
	defer buf.Free()
	if body, err := decoded(x.Resp); err == nil {
		x.Body = body
		_ = buf.Fill(io.LimitReader(body, fault.MaxBody), x.Resp.ContentLength, fault.MaxBody)
	}
	f, wait := x.readError(x.Resp.StatusCode, buf.B)
	out := x.Failure(&f)
	out.Hint(wait)
	return out
}

// Failure makes a Failure of a fault that the upstream told.
func (x *Exchange) Failure(f *fault.Fault) *provider.Failure {
	if x.Amend != nil {
		x.Amend(f)
	}
	out := provider.FromFault(x.Resp.StatusCode, x.Resp.Header, f, x.Call.Clock())
	out.Message, out.Code, out.Type, out.Param = x.Mask(out.Message), x.Mask(out.Code), x.Mask(out.Type), x.Mask(out.Param)
	out.Header = x.withoutSecrets(out.Header)
	return out
}

// Undecodable says why an answer is none: the error is of one of the wire
// packages.
func (x *Exchange) Undecodable(err error) *provider.Failure {
	if e, ok := errors.AsType[*fault.InsideError](err); ok {
		return x.Failure(&e.Fault)
	}
	return provider.BadAnswer("the upstream's answer is not one", err)
}

// Broken says why a body could not be read.
func Broken(err error) *provider.Failure {
	if errors.Is(err, provider.ErrTooLarge) {
		return provider.BadAnswer("the upstream's answer is too large", err)
	}
	return provider.BadAnswer("the upstream broke off its answer", err)
}

// NoAnswer is the failure of a status that is neither an answer's nor an
// error's.
func NoAnswer(status int) *provider.Failure {
	text := http.StatusText(status)
	if text == "" {
		text = "unknown"
	}
	return provider.BadAnswer("the upstream answered with a status that is none of an answer: "+text, nil)
}

// WebPage is the failure of an answer that is a page for a person.
func WebPage() *provider.Failure {
	return provider.BadAnswer("the upstream answered with a web page", nil)
}
