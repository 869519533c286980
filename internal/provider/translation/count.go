package translation

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
	"gatewright/internal/wire/tokens"
)

// Counter asks an upstream for the tokens of a request.
type Counter struct {
	// Route returns where the question goes and with which headers.
	Route func(client http.Header) (*url.URL, http.Header)
	// Body makes the question of a request in the upstream's protocol.
	Body func(request []byte) []byte
	// Member is the number in the answer.
	Member string
}

// headerEstimate tells the client that nobody counted.
const headerEstimate = "X-Gatewright-Estimate"

// count answers how many tokens a request has.
func (t *Translator) count(ctx context.Context, c *provider.Call, in *inbound) (*provider.Response, error) {
	if t.Count == nil {
		return t.estimate(in)
	}
	m := decoded(c, in)
	if m.err != nil {
		return nil, refused(m.err)
	}
	text, lost, err := t.codec.EncodeRequest(m.request, &t.Upstream)
	if err != nil {
		return nil, refused(err)
	}
	c.Note = noteOf(m.losses, lost)
	x := &counting{answer: t.newAnswer(t.exchange(c, in), in, m.request), inbound: in, member: t.Count.Member}
	body := provider.NewBody(&provider.Buffer{B: t.Count.Body(text)})
	defer body.Release()
	u, header := t.Count.Route(in.header)
	return x.Run(ctx, x, &provider.Outgoing{URL: u, Header: header, Body: body})
}

// Estimate answers a request for a count of tokens without asking anybody: the
// upstream speaks the client's protocol and does not count.
func (t *Translator) Estimate(c *provider.Call) (*provider.Response, error) {
	in, ok := inboundOf(c.Request.Payload)
	if !ok || !in.counts {
		return nil, provider.BadAnswer("the request asks for no count of tokens", nil)
	}
	return t.estimate(&in)
}

// estimate counts the tokens of a request with the tokenizer that comes nearest to
// the model's.
func (t *Translator) estimate(in *inbound) (*provider.Response, error) {
	n, err := tokens.CountRequest(in.body, t.Model)
	if err != nil {
		return nil, provider.Invalid("", err.Error())
	}
	out := in.counted(n, http.Header{"Content-Type": exchange.JSONType})
	out.Header[headerEstimate] = []string{"true"}
	out.Local = true
	return out, nil
}

// counted makes the response of a count.
func (in *inbound) counted(n int64, header http.Header) *provider.Response {
	body := in.appendCount(nil, n)
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	return &provider.Response{Header: header, Body: body}
}

// counting reads the upstream's answer to a question for a count.
type counting struct {
	*answer
	inbound *inbound
	member  string
}

// Whole implements [exchange.Reader].
func (x *counting) Whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	n, err := readCount(raw.B, x.member)
	if err != nil {
		return nil, x.Undecodable(err)
	}
	return x.inbound.counted(n, x.ResponseHeader(exchange.JSONType)), nil
}

// Folded implements [exchange.Reader].
func (*counting) Folded() (*provider.Response, error) {
	return nil, provider.BadAnswer("the upstream answered with a stream to a question for a count", nil)
}

// readCount returns the number that a member of an answer has.
func readCount(body []byte, member string) (n int64, err error) {
	const depth = 256
	found, wrong := false, false
	err = scan.Object(body, depth, func(m scan.Member) error {
		switch string(m.Key) {
		case member:
			f, err := strconv.ParseFloat(string(body[m.Start:m.End]), 64)
			n, found = int64(f), err == nil && f >= 0 && f <= mostCounted
		case "error":
			wrong = body[m.Start] == '{'
		}
		return nil
	})
	switch {
	case wrong:
		return 0, &fault.InsideError{Fault: fault.Parse(http.StatusOK, body)}
	case err != nil:
		return 0, fmt.Errorf("%w: %w", fault.ErrUndecodable, err)
	case !found:
		return 0, fmt.Errorf("%w: %s is missing", fault.ErrUndecodable, member)
	}
	return n, nil
}

// mostCounted bounds a count: more is nonsense.
const mostCounted = 1 << 40
