package responses_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gatewright/internal/wire/sse"
)

// client reads a stream as a simple client library does: it joins deltas by the
// ids of their items, wants them announced, and takes the final event's word for
// the usage.
type client struct {
	items    map[string]*clientItem
	order    []string
	types    map[string]bool
	models   map[string]bool
	events   int
	sequence int
	status   string
	usage    *usage
	failure  *struct{ Code, Message string }
}

type clientItem struct {
	Type, CallID, Name string
	pieces             map[string]string // by kind and number of the part
	text               string            // of the calls
	done               bool
}

func newClient() *client {
	return &client{items: map[string]*clientItem{}, types: map[string]bool{}, models: map[string]bool{}, sequence: -1}
}

// event is an event as a library reads it.
type event struct {
	Type           string
	SequenceNumber *int   `json:"sequence_number"`
	ItemID         string `json:"item_id"`
	ContentIndex   int    `json:"content_index"`
	SummaryIndex   int    `json:"summary_index"`
	Delta          string
	Item           *item
	Response       *answer
	Error          *struct{ Code, Message string }
	Code, Message  string
}

type item struct {
	ID, Type, Name, Arguments, Input string
	CallID                           string `json:"call_id"`
	Status, Role                     string
	Content, Summary                 []struct{ Type, Text, Refusal string }
	EncryptedContent                 string `json:"encrypted_content"`
}

type answer struct {
	ID, Object, Model, Status string
	Output                    []item
	Usage                     *usage
	Error                     *struct{ Code, Message string }
}

func (c *client) read(t *testing.T, ev sse.Event) {
	t.Helper()
	var e event
	if err := json.Unmarshal(ev.Data, &e); err != nil {
		t.Fatalf("a client cannot read %s: %v", ev.Data, err)
	}
	c.events++
	c.types[e.Type] = true
	if string(ev.Name) != e.Type {
		t.Errorf("event %q has the type %q", ev.Name, e.Type)
	}
	if e.SequenceNumber != nil {
		if *e.SequenceNumber <= c.sequence {
			t.Errorf("%s: number %d comes after %d", e.Type, *e.SequenceNumber, c.sequence)
		}
		c.sequence = *e.SequenceNumber
	}
	switch {
	case e.Type == "response.output_item.added":
		c.items[e.Item.ID] = &clientItem{Type: e.Item.Type, CallID: e.Item.CallID, Name: e.Item.Name, pieces: map[string]string{}}
		c.order = append(c.order, e.Item.ID)
	case e.Type == "response.output_item.done":
		it := c.find(t, e.Item.ID)
		it.done = true
		if text := e.Item.Arguments + e.Item.Input; text != "" {
			it.text = text
		}
	case e.Delta != "":
		it := c.find(t, e.ItemID)
		it.pieces[fmt.Sprintf("%s %d %d", e.Type, e.SummaryIndex, e.ContentIndex)] += e.Delta
	case e.Type == "error":
		c.failure = e.Error
		if e.Error == nil || e.Error.Code != e.Code && e.Code != "" {
			c.failure = &struct{ Code, Message string }{e.Code, e.Message}
		}
	}
	if e.Response != nil {
		c.models[e.Response.Model] = true
		c.status, c.usage = e.Response.Status, e.Response.Usage
		if e.Response.Object != "response" || e.Response.ID == "" {
			t.Errorf("%s: the answer is %+v", e.Type, e.Response)
		}
	}
}

func (c *client) find(t *testing.T, id string) *clientItem {
	t.Helper()
	it := c.items[id]
	if it == nil {
		t.Fatalf("the item %q was not announced", id)
	}
	return it
}

// text joins the pieces of all items of a type.
func (c *client) text(kind string) string {
	var text strings.Builder
	for _, id := range c.order {
		it := c.items[id]
		if it.Type != kind {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(it.pieces)) {
			text.WriteString(it.pieces[key])
		}
	}
	return text.String()
}

// calls returns the calls, with what their pieces say.
func (c *client) calls() (calls []expectedCall) {
	for _, id := range c.order {
		it := c.items[id]
		switch it.Type {
		case "function_call":
			calls = append(calls, expectedCall{CallID: it.CallID, Name: it.Name, Arguments: it.text})
		case "custom_tool_call":
			calls = append(calls, expectedCall{CallID: it.CallID, Name: it.Name, Input: it.text})
		}
	}
	return calls
}
