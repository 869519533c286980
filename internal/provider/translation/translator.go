package translation

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/translate"
)

// Route returns where a request goes and with which headers. client are those of
// the client's that may pass.
type Route func(client http.Header, stream bool) (*url.URL, http.Header)

// Config says how the upstream of one deployment is called for clients of other
// protocols.
type Config struct {
	Service  *exchange.Service
	Protocol translate.Protocol // of the upstream
	Upstream translate.Upstream
	Route    Route
	// Count asks the upstream for the tokens of a request; nil = it does not
	// count, and they are estimated.
	Count *Counter
	// Model is the upstream's name for the model, by which tokens are estimated.
	Model string
}

// Translator calls one deployment for clients of other protocols. It is
// immutable and used in parallel.
type Translator struct {
	Config
	codec *translate.Codec
}

// New returns a translator.
func New(c Config) *Translator {
	c.Upstream.Model = c.Model
	return &Translator{Config: c, codec: &codecs[c.Protocol]}
}

// memo is what the calls of one request share: the request in neutral form, or
// why it has none. It is written once.
type memo struct {
	request *translate.Request
	losses  []translate.Loss
	err     error
}

// decoded returns the client's request in neutral form.
func decoded(c *provider.Call, in *inbound) *memo {
	if c.Memo != nil {
		if m, ok := c.Memo.Value.(*memo); ok {
			return m
		}
	}
	m := &memo{}
	m.request, m.losses, m.err = in.codec.DecodeRequest(in.body)
	if c.Memo != nil {
		c.Memo.Value = m
	}
	return m
}

// Do serves a request of another protocol: a *provider.Failure tells when there
// is no translation for it.
func (t *Translator) Do(ctx context.Context, c *provider.Call) (*provider.Response, error) {
	in, ok := inboundOf(c.Request.Payload)
	if !ok {
		return nil, &provider.Failure{Class: engine.ClassLocal, Message: "the request is not of a protocol that can be translated"}
	}
	if in.counts {
		return t.count(ctx, c, &in)
	}
	m := decoded(c, &in)
	if m.err != nil {
		return nil, refused(m.err)
	}
	text, lost, err := t.codec.EncodeRequest(m.request, &t.Upstream)
	if err != nil {
		return nil, refused(err)
	}
	c.Note = noteOf(m.losses, lost)
	x := t.newAnswer(t.exchange(c, &in), &in, m.request)
	body := provider.NewBody(&provider.Buffer{B: text})
	defer body.Release()
	u, header := t.Route(in.header, c.Request.Stream)
	return x.Run(ctx, x, &provider.Outgoing{URL: u, Header: header, Body: body})
}

// exchange begins a call.
func (t *Translator) exchange(c *provider.Call, in *inbound) exchange.Exchange {
	x := exchange.Exchange{Service: t.Service, Call: c, Amend: withoutField}
	if !openAI(t.Protocol) || !openAI(in.codec.Protocol) {
		x.Amend = withoutWords
	}
	return x
}

// Reader returns a reader for an answer that came in another form than was asked
// for (one JSON for a stream, or the reverse) from an upstream that speaks the
// client's own protocol. The error is a *provider.Failure.
func (t *Translator) Reader(x *exchange.Exchange) (exchange.Reader, error) {
	in, ok := inboundOf(x.Call.Request.Payload)
	m := decoded(x.Call, &in)
	if !ok || m.err != nil {
		return nil, provider.BadAnswer("the upstream's answer has another form than was asked for", m.err)
	}
	return t.newAnswer(*x, &in, m.request), nil
}

// refused says why a request cannot be translated.
func refused(err error) *provider.Failure {
	if e, ok := errors.AsType[*translate.UnsupportedError](err); ok {
		return provider.Unfit(e.Path, e.Message)
	}
	if e, ok := errors.AsType[*translate.InvalidError](err); ok {
		return provider.Invalid(e.Path, e.Message)
	}
	return &provider.Failure{Class: engine.ClassLocal, Message: "the request cannot be translated", Err: err}
}

// withoutField takes out of an error the name of a field of a body that the client
// did not write.
func withoutField(f *fault.Fault) { f.Param = "" }

// withoutWords takes the code and the type out as well: those of a protocol that
// the client does not speak.
func withoutWords(f *fault.Fault) { f.Param, f.Code, f.Type = "", "", "" }

// openAI reports whether a protocol is one of OpenAI's, which share the words of
// errors.
func openAI(p translate.Protocol) bool { return p == translate.Chat || p == translate.Responses }

// Bounds of a note: how many losses it names, and how long their names may be.
const (
	mostNoted   = 8
	longestName = 64
)

// noteOf tells what a translation leaves out, by the names of the fields alone.
// What is no name of a field may hold words of the conversation and is not shown.
func noteOf(lists ...[]translate.Loss) string {
	var names []string
	more := false
	for _, list := range lists {
		for i := range list {
			if path := list[i].Path; len(names) < mostNoted && isName(path) {
				names = append(names, path)
			} else {
				more = true
			}
		}
	}
	switch {
	case len(names) == 0 && !more:
		return ""
	case more:
		names = append(names, "…")
	}
	return "left out in translation: " + strings.Join(names, ", ")
}

// isName reports whether a path consists of names of fields.
func isName(path string) bool {
	return len(path) <= longestName && !strings.ContainsFunc(path, func(r rune) bool {
		return r != '_' && r != '.' && r != '[' && r != ']' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}
