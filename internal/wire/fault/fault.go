package fault

import (
	"bytes"
	"strconv"
)

// Kind says what kind of failure an error answer is.
type Kind uint8

// The kinds. The zero Kind is none of them.
const (
	// ContextLength: the request is longer than the model or the upstream
	// takes. Only a larger model or a shorter request helps.
	ContextLength Kind = iota + 1
	// ContentPolicy: the prompt or the answer was refused by a content policy.
	ContentPolicy
	// Quota: the account has no money or its allowance is used up. Waiting
	// does not help, another account does.
	Quota
	// RateLimit: too many requests or tokens in a span of time.
	RateLimit
	// Auth: the upstream refuses the credential that it was sent.
	Auth
	// NotFound: the upstream does not know the model or the endpoint.
	NotFound
	// Overloaded: the upstream has no capacity at the moment.
	Overloaded
	// Server: the upstream failed, or nothing better can be said.
	Server
	// Timeout: the upstream gave up waiting.
	Timeout
	// Conflict: the upstream cannot take the request just now (409, 425).
	Conflict
	// BadRequest: the request is at fault and will be everywhere.
	BadRequest
)

// String returns the kind as it appears in logs and decisions.
func (k Kind) String() string {
	switch k {
	case ContextLength:
		return "context_length"
	case ContentPolicy:
		return "content_policy"
	case Quota:
		return "quota"
	case RateLimit:
		return "rate_limit"
	case Auth:
		return "auth"
	case NotFound:
		return "not_found"
	case Overloaded:
		return "overloaded"
	case Server:
		return "server"
	case Timeout:
		return "timeout"
	case Conflict:
		return "conflict"
	case BadRequest:
		return "bad_request"
	}
	return "unknown"
}

// Limits of what is read and of what is given away.
const (
	// MaxBody is how many bytes of a body Parse looks at. A caller need not
	// read more.
	MaxBody = 64 << 10
	// MaxMessage is the size in bytes that no Message exceeds.
	MaxMessage = 1 << 10

	maxField = 128 // bytes of Type, Code, Param
)

// Fault is one error answer. Its texts are safe to show: valid UTF-8 without
// control bytes, markup and credentials.
type Fault struct {
	Kind Kind
	// Message is what the upstream said, never empty, at most MaxMessage bytes.
	Message string
	// Type, Code and Param are the upstream's own words, empty where it had
	// none. A numeric code is given in digits.
	Type, Code, Param string
	// Status is the HTTP status that the fault amounts to, 400 to 599. It
	// differs from the answer's own status when an error came with status 200
	// and when a 5xx carries a rate limit.
	Status int
	// Useless says that waiting never helps although the kind is RateLimit:
	// this one request is larger than the whole allowance.
	Useless bool
}

// Parse reads the body of an error answer that came with status. A status below
// 400 means that the error stood inside an answer that began well: an error
// object in a 200, or in an event of a stream.
func Parse(status int, body []byte) Fault {
	body = body[:min(len(body), MaxBody)]
	r := read(body)
	f := Fault{Type: cleanField(r.typ), Code: cleanField(r.code), Param: cleanField(r.param)}
	f.Status = r.status(status)
	f.Kind, f.Useless = r.classify(f.Status)
	atFault := f.Kind == ContextLength || f.Kind == ContentPolicy // the request, whatever the status says
	if f.Status < statusError || atFault && f.Status >= statusServer {
		f.Status = f.Kind.status()
	}
	if f.Message = cleanMessage(r.message()); f.Message == "" {
		f.Message = r.fallback(f.Status)
	}
	return f
}

// status returns the status that a fault of kind k amounts to when the upstream
// named none.
func (k Kind) status() int {
	switch k {
	case ContextLength, ContentPolicy, BadRequest:
		return statusBadRequest
	case Quota, RateLimit:
		return statusTooMany
	case Auth:
		return statusUnauthorized
	case NotFound:
		return statusNotFound
	case Overloaded:
		return statusUnavailable
	case Timeout:
		return statusGateTimeout
	case Conflict:
		return statusConflict
	case Server:
	}
	return statusBadGateway
}

// fallback is the message of a fault whose body says nothing.
func (r *reading) fallback(status int) string {
	what := "an error that has no message"
	switch {
	case r.page:
		what = "a web page instead of an error object"
	case len(bytes.TrimSpace(r.body)) == 0:
		what = "an empty error body"
	}
	return "the upstream answered with " + what + " (status " + strconv.Itoa(status) + ")"
}
