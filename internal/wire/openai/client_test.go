package openai_test

import (
	"encoding/json"
	"sort"
	"testing"
)

// chunk is a chunk or a whole answer as a client library reads it.
type chunk struct {
	Model   string
	Choices []struct {
		Index          int
		Delta, Message *message
		Text           *string
		FinishReason   *string `json:"finish_reason"`
	}
	Usage map[string]any
}

type message struct {
	Role             string
	Content          *string
	Refusal          *string
	Reasoning        *string
	ReasoningContent *string `json:"reasoning_content"`
	ToolCalls        []struct {
		Index    *int
		ID       *string
		Function struct{ Name, Arguments *string }
	} `json:"tool_calls"`
}

// client reads answers as the simplest of client libraries does: it joins all
// pieces of a text, ids and names of calls too, and finds calls by index.
type client struct {
	text, reasoning, refusal string
	calls                    map[int]*expectedCall
	finish                   string
	usage                    map[string]any
	models                   map[string]bool
	chunks                   int
}

func newClient() *client {
	return &client{calls: map[int]*expectedCall{}, models: map[string]bool{}}
}

func (c *client) read(t *testing.T, data []byte) {
	t.Helper()
	var ch chunk
	if err := json.Unmarshal(data, &ch); err != nil {
		t.Fatalf("a client cannot read %s: %v", data, err)
	}
	c.chunks++
	c.models[ch.Model] = true
	if ch.Usage != nil {
		c.usage = ch.Usage
	}
	for _, choice := range ch.Choices {
		if choice.Text != nil {
			c.text += *choice.Text
		}
		if choice.FinishReason != nil {
			c.finish = *choice.FinishReason
		}
		whole := choice.Delta == nil
		if whole {
			choice.Delta = choice.Message
		}
		if choice.Delta != nil {
			c.message(t, choice.Delta, whole)
		}
	}
}

func (c *client) message(t *testing.T, m *message, whole bool) {
	t.Helper()
	join(&c.text, m.Content)
	join(&c.refusal, m.Refusal)
	join(&c.reasoning, m.ReasoningContent)
	join(&c.reasoning, m.Reasoning)
	for place, call := range m.ToolCalls {
		index := place
		switch {
		case call.Index != nil:
			index = *call.Index
		case !whole:
			t.Error("a piece of a call has no index")
		}
		if c.calls[index] == nil {
			c.calls[index] = &expectedCall{Index: index}
		}
		join(&c.calls[index].ID, call.ID)
		join(&c.calls[index].Name, call.Function.Name)
		join(&c.calls[index].Arguments, call.Function.Arguments)
	}
}

func join(into, piece *string) {
	if piece != nil {
		*into += *piece
	}
}

func (c *client) toolCalls() []expectedCall {
	calls := []expectedCall{}
	for _, call := range c.calls {
		calls = append(calls, *call)
	}
	sort.Slice(calls, func(i, j int) bool { return calls[i].Index < calls[j].Index })
	return calls
}
