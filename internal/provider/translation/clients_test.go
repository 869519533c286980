package translation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

// seen is what a client reads in an answer.
type seen struct {
	Text, Reasoning string
	Calls           []call
	Reason          string // in the client's own words
	Input, Output   int64
	over            bool // the stream came to its end
	failed          bool // an error stands in it
	model           string
	turn            []byte // what the client sends back of it, as JSON of its protocol
}

// call is a call of a tool as a client sees it.
type call struct{ ID, Name, Arguments string }

// read reads an answer as a client of a protocol does.
func (s *sink) read(t *testing.T, client translate.Protocol, streams bool) *seen {
	t.Helper()
	out := &seen{over: !streams}
	switch client {
	case translate.Chat:
		readChat(t, out, s.out.String(), streams)
	case translate.Messages:
		readMessages(t, out, s.out.String(), streams)
	case translate.Responses:
		readResponses(t, out, s.out.String(), streams, s.native)
	case translate.Gemini:
	}
	kind := "application/json"
	if streams {
		kind = "text/event-stream"
	}
	if got := s.answer.Header["Content-Type"]; len(got) != 1 || got[0] != kind {
		t.Errorf("content type %q", got)
	}
	if out.model != publicModel {
		t.Errorf("the client sees the model %q", out.model)
	}
	if strings.Contains(s.out.String(), upstreamModel) {
		t.Errorf("the client sees the upstream's name: %.300s", s.out.String())
	}
	return out
}

// events calls take with each event of a stream.
func events(t *testing.T, text string, take func(name string, data []byte)) {
	t.Helper()
	in := sse.NewReader(strings.NewReader(text), 64<<20)
	for {
		ev, err := in.Next()
		if err != nil {
			return
		}
		if ev.HasData {
			take(string(ev.Name), ev.Data)
		}
	}
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Errorf("the client cannot read %.300q: %v", data, err)
	}
}

type chatMessage struct {
	Role             string          `json:"role,omitempty"`
	Content          string          `json:"content,omitempty"`
	Refusal          string          `json:"refusal,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	ReasoningDetails []any           `json:"reasoning_details,omitempty"`
	ToolCalls        []*chatToolCall `json:"tool_calls,omitempty"`
}

type chatToolCall struct {
	Index    int    `json:"-"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Custom       *customCall `json:"custom,omitempty"`
	ExtraContent any         `json:"extra_content,omitempty"`
}

// customCall is a call of a tool that takes free text.
type customCall struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

// UnmarshalJSON reads the index of a delta, which is not sent back.
func (c *chatToolCall) UnmarshalJSON(data []byte) error {
	type plain chatToolCall
	in := struct {
		*plain
		Index int `json:"index"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(data, &in)
	c.Index = in.Index
	return err
}

type chatAnswer struct {
	Model   string
	Choices []struct {
		Message, Delta chatMessage
		FinishReason   string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	}
	Error any
}

func readChat(t *testing.T, out *seen, text string, streams bool) {
	t.Helper()
	var whole chatMessage
	take := func(data []byte) {
		var a chatAnswer
		decode(t, data, &a)
		if out.failed = out.failed || a.Error != nil; a.Error != nil {
			return
		}
		out.model = a.Model
		if a.Usage != nil {
			out.Input, out.Output = a.Usage.Prompt, a.Usage.Completion
		}
		for _, c := range a.Choices {
			whole.add(&c.Message)
			whole.add(&c.Delta)
			if c.FinishReason != "" {
				out.Reason = c.FinishReason
			}
		}
	}
	if streams {
		events(t, text, func(_ string, data []byte) {
			if out.over {
				t.Errorf("data after [DONE]: %q", data)
			}
			if string(data) == "[DONE]" {
				out.over = true
				return
			}
			take(data)
		})
	} else {
		take([]byte(text))
	}
	out.Text, out.Reasoning = whole.Content+whole.Refusal, whole.ReasoningContent
	for _, c := range whole.ToolCalls {
		if c.Custom != nil {
			out.Calls = append(out.Calls, call{c.ID, c.Custom.Name, c.Custom.Input})
			continue
		}
		out.Calls = append(out.Calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	whole.Role = "assistant"
	out.turn, _ = json.Marshal(whole)
}

func (m *chatMessage) add(piece *chatMessage) {
	m.Content += piece.Content
	m.Refusal += piece.Refusal
	m.ReasoningContent += piece.ReasoningContent
	m.ReasoningDetails = append(m.ReasoningDetails, piece.ReasoningDetails...)
	for _, c := range piece.ToolCalls {
		at := slices.IndexFunc(m.ToolCalls, func(have *chatToolCall) bool { return have.Index == c.Index })
		if at < 0 || piece.Role != "" && c.ID != "" && c.ID != m.ToolCalls[at].ID {
			m.ToolCalls = append(m.ToolCalls, c)
			continue
		}
		last := m.ToolCalls[at]
		last.Function.Arguments += c.Function.Arguments
		if c.Custom != nil {
			last.Custom.Input += c.Custom.Input
		}
		if c.ExtraContent != nil {
			last.ExtraContent = c.ExtraContent
		}
	}
}

type messagesBlock struct {
	Type      string           `json:"type"`
	Text      *string          `json:"text,omitempty"`
	Thinking  *string          `json:"thinking,omitempty"`
	Signature *string          `json:"signature,omitempty"`
	Data      string           `json:"data,omitempty"`
	ID        string           `json:"id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Input     *json.RawMessage `json:"input,omitempty"`
	partial   string
}

type messagesUsage struct {
	Input  *int64 `json:"input_tokens"`
	Read   int64  `json:"cache_read_input_tokens"`
	Write  int64  `json:"cache_creation_input_tokens"`
	Output int64  `json:"output_tokens"`
}

func (u *messagesUsage) tell(out *seen) {
	if u.Input != nil {
		out.Input = *u.Input + u.Read + u.Write
	}
	out.Output = u.Output
}

func readMessages(t *testing.T, out *seen, text string, streams bool) {
	t.Helper()
	type message struct {
		Model      string
		Content    []*messagesBlock
		StopReason string `json:"stop_reason"`
		Usage      messagesUsage
	}
	var m message
	if streams {
		m.Content = readMessagesStream(t, out, text)
	} else {
		decode(t, []byte(text), &m)
		out.model, out.Reason = m.Model, m.StopReason
		m.Usage.tell(out)
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			out.Text += *b.Text
		case "thinking":
			out.Reasoning += *b.Thinking
		case "tool_use":
			if b.partial != "" {
				input := json.RawMessage(b.partial)
				b.Input = &input
			}
			out.Calls = append(out.Calls, call{b.ID, b.Name, string(*b.Input)})
		}
	}
	out.turn, _ = json.Marshal(map[string]any{"role": "assistant", "content": m.Content})
}

func readMessagesStream(t *testing.T, out *seen, text string) (blocks []*messagesBlock) {
	t.Helper()
	began, open := false, -1
	events(t, text, func(name string, data []byte) {
		var ev struct {
			Type    string
			Index   int
			Message struct {
				Model string
				Usage messagesUsage
			}
			Block *messagesBlock `json:"content_block"`
			Delta struct {
				Type, Text, Thinking, Signature string
				Partial                         string `json:"partial_json"`
				StopReason                      string `json:"stop_reason"`
			}
			Usage messagesUsage
		}
		decode(t, data, &ev)
		if name != ev.Type || out.over {
			t.Errorf("event %q of type %q, over %v", name, ev.Type, out.over)
		}
		if (ev.Type == "message_start") == began && ev.Type != "error" {
			t.Errorf("%s where the message has begun: %v", ev.Type, began)
		}
		switch ev.Type {
		case "message_start":
			began, out.model = true, ev.Message.Model
		case "content_block_start":
			if open >= 0 || ev.Index != len(blocks) {
				t.Errorf("block %d begins inside %d", ev.Index, open)
			}
			open, blocks = ev.Index, append(blocks, ev.Block)
		case "content_block_delta":
			if ev.Index != open {
				t.Errorf("a piece of block %d inside %d", ev.Index, open)
				return
			}
			b := blocks[open]
			switch ev.Delta.Type {
			case "text_delta":
				*b.Text += ev.Delta.Text
			case "thinking_delta":
				*b.Thinking += ev.Delta.Thinking
			case "signature_delta":
				b.Signature = &ev.Delta.Signature
			case "input_json_delta":
				b.partial += ev.Delta.Partial
			}
		case "content_block_stop":
			open = -1
		case "message_delta":
			out.Reason = ev.Delta.StopReason
			ev.Usage.tell(out)
		case "message_stop":
			out.over = true
		case "error":
			out.failed = true
		}
	})
	return blocks
}

type responsesAnswer struct {
	Model      string
	Status     string
	Incomplete *struct{ Reason string } `json:"incomplete_details"`
	Output     []json.RawMessage
	Usage      *struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

func readResponses(t *testing.T, out *seen, text string, streams, native bool) {
	t.Helper()
	var whole responsesAnswer
	if !streams {
		decode(t, []byte(text), &whole)
	}
	sequence, deltas := 0, ""
	if streams {
		events(t, text, func(name string, data []byte) {
			var ev struct {
				Type     string
				Sequence int `json:"sequence_number"`
				Response *responsesAnswer
				Delta    string
			}
			decode(t, data, &ev)
			broken := ev.Type == "error" || out.failed // the event that was cut may have had a number
			gap := ev.Sequence < sequence || ev.Sequence != sequence && !broken
			if name != ev.Type || gap && !native || out.over {
				t.Errorf("event %q of type %q, number %d where %d is due, over %v", name, ev.Type, ev.Sequence, sequence, out.over)
			}
			sequence = ev.Sequence + 1
			switch ev.Type {
			case "response.output_text.delta", "response.refusal.delta":
				deltas += ev.Delta
			case "response.created":
				out.model = ev.Response.Model
			case "response.completed", "response.incomplete":
				out.over, whole = true, *ev.Response
			case "error", "response.failed":
				out.failed = true
			}
		})
	}
	if !streams || out.over {
		out.model = whole.Model
	}
	if out.Reason = whole.Status; whole.Incomplete != nil {
		out.Reason += ", " + whole.Incomplete.Reason
	}
	if whole.Usage != nil {
		out.Input, out.Output = whole.Usage.Input, whole.Usage.Output
	}
	for _, raw := range whole.Output {
		var item struct {
			Type             string
			Content, Summary []struct{ Text, Refusal string }
			CallID           string `json:"call_id"`
			Name, Arguments  string
			Input            string
		}
		decode(t, raw, &item)
		for _, part := range item.Content {
			if item.Type == "message" {
				out.Text += part.Text + part.Refusal
			}
		}
		for _, part := range item.Summary {
			out.Reasoning += part.Text
		}
		if item.Type == "function_call" || item.Type == "custom_tool_call" {
			out.Calls = append(out.Calls, call{item.CallID, item.Name, item.Arguments + item.Input})
		}
	}
	if streams {
		if out.over && deltas != out.Text && !native {
			t.Errorf("the pieces make %q, the whole is %q", deltas, out.Text)
		}
		out.Text = deltas
	}
	out.turn, _ = json.Marshal(whole.Output)
}
