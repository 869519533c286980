package anthropic_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// message is an answer as a client library has it in the end.
type message struct {
	ID         string
	Type       string
	Model      string
	Content    []block
	StopReason *string `json:"stop_reason"`
	Usage      map[string]any
}

type block struct {
	Type, Text, Thinking, Signature, Data string
	ID, Name                              string
	Input                                 any

	json string // of the input, from a stream
	done bool
}

func (m *message) text() (text, reasoning string) {
	var said, thought strings.Builder
	for i := range m.Content {
		said.WriteString(m.Content[i].Text)
		thought.WriteString(m.Content[i].Thinking)
	}
	return said.String(), thought.String()
}

// client reads streams as strictly as the makers' own libraries: by the order
// of the events, and by their names.
type client struct {
	message
	started, stopped bool
	pings            int
}

func (c *client) read(t *testing.T, name, data string) {
	t.Helper()
	var ev struct {
		Type         string
		Index        int
		Message      *message
		ContentBlock block `json:"content_block"`
		Delta        struct {
			Type, Text, Thinking, Signature string
			PartialJSON                     string  `json:"partial_json"`
			StopReason                      *string `json:"stop_reason"`
		}
		Usage map[string]any
	}
	if err := json.Unmarshal([]byte(data), &ev); err != nil {
		t.Fatalf("a client cannot read %s: %v", data, err)
	}
	if name != ev.Type {
		t.Errorf("the event of type %q is named %q", ev.Type, name)
	}
	if c.stopped {
		t.Errorf("%s comes after the end", data)
	}
	if !c.started && ev.Type != "message_start" && ev.Type != "ping" {
		t.Errorf("%s comes before the beginning", data)
	}
	switch ev.Type {
	case "ping":
		c.pings++
	case "message_start":
		if c.started {
			t.Errorf("the message begins twice: %s", data)
		}
		if ev.Message == nil || ev.Message.Content == nil || ev.Message.Usage == nil {
			t.Fatalf("a message without content or usage: %s", data)
		}
		c.started, c.message = true, *ev.Message
	case "content_block_start":
		if ev.Index != len(c.Content) || len(c.Content) > 0 && !c.Content[ev.Index-1].done {
			t.Errorf("block %d comes while there are %d: %s", ev.Index, len(c.Content), data)
		}
		c.Content = append(c.Content, ev.ContentBlock)
	case "content_block_delta", "content_block_stop":
		if ev.Index >= len(c.Content) || c.Content[ev.Index].done {
			t.Fatalf("no such block is open: %s", data)
		}
		b := &c.Content[ev.Index]
		b.Text += ev.Delta.Text
		b.Thinking += ev.Delta.Thinking
		b.Signature += ev.Delta.Signature
		b.json += ev.Delta.PartialJSON
		b.done = ev.Type == "content_block_stop"
	case "message_delta":
		if ev.Usage == nil {
			t.Errorf("no usage: %s", data)
		}
		maps.Copy(c.Usage, ev.Usage)
		if ev.Delta.StopReason != nil {
			c.StopReason = ev.Delta.StopReason
		}
	case "message_stop":
		c.stopped = true
	}
}

// end checks what must hold when the stream is over.
func (c *client) end(t *testing.T) {
	t.Helper()
	if !c.stopped || c.StopReason == nil {
		t.Errorf("the stream is not whole: stopped %v, stop_reason %v", c.stopped, c.StopReason)
	}
	for i := range c.Content {
		if b := &c.Content[i]; !b.done {
			t.Errorf("block %d has not ended", i)
		}
	}
}
