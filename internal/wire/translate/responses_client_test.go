package translate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// responsesSeen is an answer as a client of Responses reads it.
type responsesSeen struct {
	ID, Object, Status, Model string
	CreatedAt                 *int64 `json:"created_at"`
	Output                    []responsesItemSeen
	Usage                     map[string]any
	IncompleteDetails         *struct{ Reason string } `json:"incomplete_details"`
	Error                     *struct{ Code, Message string }
	ParallelToolCalls         *bool           `json:"parallel_tool_calls"`
	Tools                     json.RawMessage `json:"tools"`
	ToolChoice                json.RawMessage `json:"tool_choice"`
	Store                     *bool
}

type responsesItemSeen struct {
	ID, Type, Role, Status string
	CallID                 string `json:"call_id"`
	Name, Arguments, Input string
	Content, Summary       []responsesPartSeen
	EncryptedContent       string `json:"encrypted_content"`
	Result                 string
}

type responsesPartSeen struct{ Type, Text, Refusal string }

// check compares an answer with what the maker's libraries demand of one.
func (a *responsesSeen) check(t *testing.T) {
	t.Helper()
	if len(a.ID) < 6 || a.ID[:5] != "resp_" || a.Object != "response" || a.CreatedAt == nil || a.Status == "" || a.Model == "" ||
		a.Output == nil || a.ParallelToolCalls == nil || len(a.Tools) == 0 || len(a.ToolChoice) == 0 || a.Store == nil || *a.Store {
		t.Errorf("not an answer of the protocol: %+v", a)
	}
}

// reasonWords are the words of a client of Responses for the ways to end, in
// those of chat completions.
func (a *responsesSeen) reason() string {
	switch {
	case a.Status == "incomplete" && a.IncompleteDetails != nil && a.IncompleteDetails.Reason == "max_output_tokens":
		return "length"
	case a.Status == "incomplete" && a.IncompleteDetails != nil && a.IncompleteDetails.Reason == "content_filter":
		return "content_filter"
	case a.Status != "completed":
		return a.Status
	}
	for i := range a.Output {
		if kind := a.Output[i].Type; kind == "function_call" || kind == "custom_tool_call" {
			return "tool_calls"
		}
	}
	return "stop"
}

// answer returns it as one that can be compared.
func (a *responsesSeen) answer(t *testing.T) *seen {
	t.Helper()
	a.check(t)
	s := &seen{reason: a.reason(), usage: a.Usage, model: a.Model}
	ids := map[string]bool{}
	for i := range a.Output {
		it := &a.Output[i]
		if it.ID == "" || ids[it.ID] {
			t.Errorf("the id %q of item %d is missing or taken", it.ID, i)
		}
		ids[it.ID] = true
		switch it.Type {
		case "message":
			if it.Role != "assistant" || it.Status == "" || len(it.Content) == 0 {
				t.Errorf("not a message: %+v", it)
			}
			for _, p := range it.Content {
				s.text += p.Text
				s.refusal += p.Refusal
			}
		case "reasoning":
			for _, p := range it.Summary {
				s.reasoning += p.Text
			}
			if len(it.Summary) == 0 && it.EncryptedContent == "" {
				t.Errorf("a reasoning item that says nothing: %+v", it)
			}
		case "function_call", "custom_tool_call":
			s.calls = append(s.calls, call{ID: it.CallID, Name: it.Name, Arguments: it.Arguments + it.Input})
		case "image_generation_call":
		default:
			t.Errorf("item %d is of type %q", i, it.Type)
		}
	}
	return s
}

// readResponses reads what a client of Responses gets, as strictly as the
// protocol lets it be read: numbers rise, items and parts are announced, grow
// and end with all that they said, and the last event repeats all items.
func readResponses(t *testing.T, body []byte, stream bool) *seen {
	t.Helper()
	if !stream {
		var a responsesSeen
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatalf("a client cannot read %s: %v", body, err)
		}
		s := a.answer(t)
		s.over = true
		return s
	}
	c := responsesClient{open: map[string]string{}}
	eachEvent(t, bytes.NewReader(body), func(name, data []byte) bool {
		c.event(t, string(name), data)
		return true
	})
	if c.final == nil {
		return &seen{failed: c.failed}
	}
	if diff := cmp.Diff(c.done, c.final.Output, cmpopts.EquateEmpty()); diff != "" && c.failed == "" {
		t.Errorf("the items that ended and the last event (-ended +last):\n%s", diff)
	}
	if len(c.open) > 0 {
		t.Errorf("these never ended: %v", c.open)
	}
	s := c.final.answer(t)
	s.over, s.failed = c.final.Status != "failed", c.failed
	return s
}

// responsesClient reads a stream.
type responsesClient struct {
	next    int
	open    map[string]string // what grows, by its place, and what it has said
	items   int
	done    []responsesItemSeen
	final   *responsesSeen
	failed  string
	created bool
}

func (c *responsesClient) event(t *testing.T, name string, data []byte) {
	t.Helper()
	var ev struct {
		Type           string
		SequenceNumber *int   `json:"sequence_number"`
		OutputIndex    int    `json:"output_index"`
		ContentIndex   *int   `json:"content_index"`
		SummaryIndex   *int   `json:"summary_index"`
		ItemID         string `json:"item_id"`
		Delta          string
		Text, Refusal  string
		Arguments      string
		Input          string
		Part           responsesPartSeen
		Item           *responsesItemSeen
		Response       *responsesSeen
		Error          *struct{ Message string }
		Message        string
	}
	if err := json.Unmarshal(data, &ev); err != nil || ev.Type != name {
		t.Fatalf("event %q: a client cannot read %s: %v", name, data, err)
	}
	if ev.SequenceNumber == nil || *ev.SequenceNumber != c.next {
		t.Fatalf("event %d has another number: %s", c.next, data)
	}
	c.next++
	if c.final != nil {
		t.Fatalf("%s comes behind the end", data)
	}
	place := fmt.Sprintf("%s %d", ev.ItemID, ev.OutputIndex)
	if ev.ContentIndex != nil {
		place += fmt.Sprintf(" content %d", *ev.ContentIndex)
	}
	if ev.SummaryIndex != nil {
		place += fmt.Sprintf(" summary %d", *ev.SummaryIndex)
	}
	switch name {
	case "response.created", "response.in_progress":
		c.created = true
		if ev.Response.Status != "in_progress" || len(ev.Response.Output) > 0 || c.next > 2 {
			t.Errorf("not a beginning: %s", data)
		}
		ev.Response.check(t)
	case "response.output_item.added":
		if ev.OutputIndex != c.items || !c.created {
			t.Errorf("item %d is announced as %d", c.items, ev.OutputIndex)
		}
		c.items++
		c.begin(t, fmt.Sprintf("%s %d", ev.Item.ID, ev.OutputIndex))
	case "response.output_item.done":
		c.end(t, fmt.Sprintf("%s %d", ev.Item.ID, ev.OutputIndex), ev.Item.Arguments+ev.Item.Input)
		c.done = append(c.done, *ev.Item)
	case "response.content_part.added", "response.reasoning_summary_part.added":
		c.begin(t, place)
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_summary_text.delta",
		"response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		if _, ok := c.open[place]; !ok || ev.Delta == "" {
			t.Fatalf("%s: nothing is open there: %v", data, c.open)
		}
		c.open[place] += ev.Delta
	case "response.output_text.done", "response.refusal.done", "response.reasoning_summary_text.done",
		"response.function_call_arguments.done", "response.custom_tool_call_input.done":
		all := ev.Text + ev.Refusal + ev.Arguments + ev.Input
		if said, ok := c.open[place]; !ok || said != all && (said != "" || all != "{}") {
			t.Errorf("%s: its pieces make %q", data, said)
		}
		if name == "response.function_call_arguments.done" && c.open[place] == "" {
			c.open[place] = all
		}
	case "response.content_part.done", "response.reasoning_summary_part.done":
		c.end(t, place, ev.Part.Text+ev.Part.Refusal)
	case "response.completed", "response.incomplete", "response.failed":
		c.final = ev.Response
		if "response."+c.final.Status != name {
			t.Errorf("%s: its status is %q", name, c.final.Status)
		}
		if name == "response.failed" {
			clear(c.open)
		}
	case "error":
		if c.failed = ev.Message; ev.Error == nil || ev.Error.Message != ev.Message {
			t.Errorf("not an error: %s", data)
		}
		if !c.created {
			c.final = &responsesSeen{Status: "failed"}
		}
	default:
		t.Errorf("unknown event %s", data)
	}
}

func (c *responsesClient) begin(t *testing.T, place string) {
	t.Helper()
	if _, ok := c.open[place]; ok {
		t.Errorf("%s begins twice", place)
	}
	c.open[place] = ""
}

// end ends an item or a part, which repeats what its pieces said.
func (c *responsesClient) end(t *testing.T, place, all string) {
	t.Helper()
	said, ok := c.open[place]
	if !ok || said != all {
		t.Errorf("%s ends with %q after %q; open are %v", place, all, said, maps.Clone(c.open))
	}
	delete(c.open, place)
}
