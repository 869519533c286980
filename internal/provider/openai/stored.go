package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/fault"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/scan"
)

// retrieval is a call about an answer that the upstream keeps.
type retrieval struct {
	call
	ask *wire.Stored
}

var _ exchange.Reader = (*retrieval)(nil)

// fetch asks for what the upstream keeps of an answer.
func (a *Adapter) fetch(ctx context.Context, c *provider.Call, p *wire.Stored) (*provider.Response, error) {
	if p.ID == "" || p.ID == "." || p.ID == ".." {
		return nil, &provider.Failure{Class: engine.ClassClient, Status: http.StatusNotFound, Message: "no response has this id"}
	}
	header := maps.Clone(a.header(p.Header, c.Request.Stream))
	delete(header, "Content-Type") // there is no body
	x := &retrieval{call: a.newCall(c, &responses.Owned{Response: p.ID}), ask: p}
	out, err := x.Run(ctx, x, &provider.Outgoing{Method: p.Action.Method(), URL: a.storedURL(p), Header: header})
	if f, ok := errors.AsType[*provider.Failure](err); ok && f.Class == engine.ClassNotFound {
		// It is the answer that is not there, whatever the words: nothing is wrong
		// with the deployment.
		f.Class = engine.ClassClient
	}
	if err == nil && p.Action == wire.StoredDelete {
		a.issues.Forget(c.Request.Caller, engine.Issue{Kind: engine.IssueResponse, ID: p.ID})
	}
	return out, err
}

// storedURL returns the address of an answer with the client's query. What the
// configuration has in its query cannot be replaced by a client.
func (a *Adapter) storedURL(p *wire.Stored) *url.URL {
	path := []string{url.PathEscape(p.ID)}
	if suffix := p.Action.Suffix(); suffix != "" {
		path = append(path, suffix)
	}
	u := a.responsesURL(path...)
	query := u.Query()
	for name, values := range p.Query {
		if _, taken := query[name]; !taken {
			query[name] = values
		}
	}
	u.RawQuery = query.Encode()
	return u
}

// Whole implements [exchange.Reader].
func (x *retrieval) Whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	return x.checked(raw.B)
}

// Folded implements [exchange.Reader].
func (x *retrieval) Folded() (*provider.Response, error) {
	raw, err := responses.FoldStream(x.Unread(), int(min(x.AnswerLimit(), math.MaxInt32)))
	if err != nil {
		return nil, x.Undecodable(err)
	}
	return x.checked(raw)
}

// checked makes the response of a JSON text. An answer that failed is a good
// answer here: it is what was asked for.
func (x *retrieval) checked(raw []byte) (*provider.Response, error) {
	found, err := readKept(raw)
	switch {
	case err != nil:
		return nil, provider.BadAnswer("the upstream's answer is not one", err)
	case found.fault:
		f := fault.Parse(http.StatusOK, raw)
		return nil, x.Failure(&f)
	}
	owned := responses.Owned{Items: found.items}
	if answer, err := responses.CheckAnswer(responses.Create, raw); err == nil {
		owned = answer.Owned
	}
	if x.ask.Action != wire.StoredDelete {
		x.issued(&owned, true)
	}
	out := provider.NewBuffer()
	out.B = withModel(out.B, raw, x.Call.PublicModel)
	header := x.ResponseHeader(exchange.JSONType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{Header: header, Body: out.B, Free: out.Free}, nil
}

// Streamed implements [exchange.Reader].
func (x *retrieval) Streamed(ctx context.Context, body io.Reader) (*provider.Response, error) {
	s := newEventStream(ctx, &x.call, body)
	s.keeps, s.past = true, true
	return &provider.Response{Header: x.ResponseHeader(exchange.EventsType), Stream: s}, nil
}

// Unfolded implements [exchange.Reader].
func (x *retrieval) Unfolded(ctx context.Context) (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	events := responses.UnfoldAnswer(raw.B)
	if events == nil {
		return nil, provider.BadAnswer("the upstream does not stream what it keeps", nil)
	}
	return x.Streamed(ctx, bytes.NewReader(events))
}

// kept is what a JSON text says that was asked for by an id.
type kept struct {
	items []string // ids in a list of items
	fault bool     // it is nothing but an error
}

// readKept reads a JSON text.
func readKept(raw []byte) (k kept, err error) {
	const depth = 256
	c := scan.NewCursor(raw, depth)
	var named, wrong bool
	if !c.EnterObject() {
		c.Fail("the body is not an object")
	}
	for c.Member() {
		switch string(c.Key()) {
		case "error":
			wrong = c.Kind() == scan.KindObject
		case "id", "object":
			named = true
		case "data":
			k.items = idsIn(&c)
		}
	}
	k.fault = wrong && !named
	return k, c.Close()
}

// idsIn takes a list and returns the ids of its objects.
func idsIn(c *scan.Cursor) (ids []string) {
	if !c.EnterArray() {
		return nil
	}
	for c.Element() {
		if !c.EnterObject() {
			continue
		}
		for c.Member() {
			if string(c.Key()) != "id" {
				continue
			}
			if id, decoded, ok := c.Text(); ok {
				if text, err := scan.Text(id, decoded); err == nil {
					ids = append(ids, text)
				}
			}
		}
	}
	return ids
}

// withModel appends a JSON text to dst with model in the place of the one that
// it names, in the members that path leads through; what names none gets none.
func withModel(dst, text []byte, model string, path ...string) []byte {
	const depth = 256
	var edits []scan.Edit
	c := scan.NewCursor(text, depth)
	models(&c, path, func(start, end int) {
		edits = append(edits, scan.Edit{Start: start, End: end, Text: scan.AppendString(nil, model)})
	})
	if c.Close() != nil {
		edits = nil
	}
	return scan.Splice(dst, text, edits)
}

// models reports where the value that is due names a model.
func models(c *scan.Cursor, path []string, found func(start, end int)) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch key := string(c.Key()); {
		case len(path) > 0 && key == path[0]:
			models(c, path[1:], found)
		case len(path) == 0 && key == "model" && c.Kind() == scan.KindString:
			found(c.Skip())
		}
	}
}

// kindOf returns the type that an event tells in its data.
func kindOf(data []byte) string {
	const depth = 256
	c := scan.NewCursor(data, depth)
	kind := ""
	for c.EnterObject(); c.Member(); {
		if string(c.Key()) == "type" {
			raw, _, _ := c.Text()
			kind = string(raw)
		}
	}
	return kind
}
