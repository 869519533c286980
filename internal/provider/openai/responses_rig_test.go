package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/engine"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
)

// answersBody is a request of a client of Responses, with fields that nobody
// knows.
func answersBody(streams bool, members string) string {
	return fmt.Sprintf(`{"x_new_field":{"a":[1,2]}, "model":%q, "stream":%v, "input":"say something"%s}`, publicModel, streams, members)
}

// answersRequest makes the engine's request of a body, as a server would.
func answersRequest(t *testing.T, e responses.Endpoint, body string) *engine.Request {
	t.Helper()
	found, err := responses.ScanRequest(e, []byte(body), 64)
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Request{
		ID: "req", Caller: &engine.Caller{Key: "k"}, Model: found.Model, Endpoint: engine.EndpointResponses,
		Stream: found.Stream, Async: found.Background, Now: time.Now(),
		Payload: &responses.Payload{Endpoint: e, Request: found, Body: []byte(body)},
	}
}

// create asks for an answer of the Responses endpoint.
func (r *rig) create(ctx context.Context, streams bool, members string) (*sink, *engine.Decision, error) {
	r.t.Helper()
	return r.serve(ctx, answersRequest(r.t, responses.Create, answersBody(streams, members)))
}

// stored asks a for something about an answer that it keeps.
func (r *rig) stored(ctx context.Context, action wire.StoredAction, id, query string) (*sink, *engine.Decision, error) {
	r.t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.serve(ctx, &engine.Request{
		ID: "req", Caller: &engine.Caller{Key: "k"}, Model: publicModel, Endpoint: engine.EndpointStored, Owner: "a",
		Stream: action == wire.StoredGet && q.Get("stream") == "true", Now: time.Now(),
		Payload: &wire.Stored{Action: action, ID: id, Query: q, Header: http.Header{"Traceparent": {"00-1-1-00"}}},
	})
}

// issued is what an adapter was told to remember, in order, each once: the
// deployment and the thing, "kind:id".
type issued struct {
	mu   sync.Mutex
	list []string
}

// Put implements [Issues].
func (i *issued) Put(c *engine.Caller, deployment string, list ...engine.Issue) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, one := range list {
		kind := map[engine.IssueKind]string{
			engine.IssueResponse: "response", engine.IssueConversation: "conversation", engine.IssueItem: "item", engine.IssueSealed: "sealed",
		}[one.Kind]
		id := one.ID
		if one.Kind == engine.IssueSealed {
			id = fmt.Sprintf("%d bytes", len(id))
		}
		if text := c.Key + " " + deployment + " " + kind + ":" + id; !slices.Contains(i.list, text) {
			i.list = append(i.list, text)
		}
	}
}

// Forget implements [Issues].
func (i *issued) Forget(c *engine.Caller, one engine.Issue) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, c.Key+" forgot "+one.ID)
}

func (i *issued) all() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.list)
}

// answersRig is a rig whose adapters remember what was issued.
func answersRig(t *testing.T, o rigOptions, a, b string) (*rig, *issued) {
	t.Helper()
	i := &issued{}
	o.config = func(_ string, c *Config) { c.Issues = i }
	return newRig(t, o, a, b), i
}

// answersReply is what a client reads of an answer.
type answersReply struct {
	ID, Text, Status string
	Models           []string // that the answer or its events name, each once
	Usage            bool
	Events           []string
	Failed           string // code of an error in the stream
}

type answersObject struct {
	ID, Status, Model string
	Usage             *struct{}
	Error             *struct{ Code, Message string }
	Output            []struct {
		Content []struct{ Text, Refusal string }
	}
}

func (r *answersReply) take(o *answersObject) {
	r.ID, r.Status = o.ID, o.Status
	if !slices.Contains(r.Models, o.Model) {
		r.Models = append(r.Models, o.Model)
	}
	r.Usage = r.Usage || o.Usage != nil
}

// readAnswers decodes the answer, whole or streamed, more strictly than a
// client.
func (s *sink) readAnswers(t *testing.T, streams bool) answersReply {
	t.Helper()
	var r answersReply
	if !streams {
		var o answersObject
		if err := json.Unmarshal([]byte(s.out.String()), &o); err != nil {
			t.Errorf("client cannot read %.200q: %v", s.out.String(), err)
		}
		r.take(&o)
		for _, item := range o.Output {
			for _, part := range item.Content {
				r.Text += part.Text
			}
		}
		return r
	}
	return readAnswerEvents(t, s.out.String())
}

// readAnswerEvents reads the events of a stream: each has its name in front of
// it, and their numbers rise.
func readAnswerEvents(t *testing.T, stream string) (r answersReply) {
	t.Helper()
	number := -1
	for block := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		if block == "" {
			continue
		}
		name, data, ok := strings.Cut(block, "\ndata: ")
		var ev struct {
			Type     string
			Sequence int `json:"sequence_number"`
			Delta    string
			Response *answersObject
			Error    *struct{ Code string }
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil || !ok || strings.Contains(data, "\n") || name != "event: "+ev.Type {
			t.Fatalf("client cannot read %.200q: %v", block, err)
		}
		if ev.Sequence <= number {
			t.Errorf("event %s has the number %d after %d", ev.Type, ev.Sequence, number)
		}
		number = ev.Sequence
		r.Events = append(r.Events, strings.TrimPrefix(ev.Type, "response."))
		if ev.Type == "response.output_text.delta" {
			r.Text += ev.Delta
		}
		if ev.Response != nil {
			r.take(ev.Response)
		}
		if ev.Error != nil {
			r.Failed = ev.Error.Code
		}
	}
	return r
}
