package translate_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"gatewright/internal/wire/translate"
)

// seen is an answer as a client has it in the end.
type seen struct {
	text, reasoning, refusal string
	calls                    []call
	reason                   string
	sequence                 string // the stop sequence, where a client is told
	usage                    map[string]any
	model                    string
	over                     bool
	failed                   string // the message of an error
}

// chatMessageSeen is a message or a delta.
type chatMessageSeen struct {
	Role             string
	Content          *string
	Refusal          *string
	ReasoningContent string `json:"reasoning_content"`
	ToolCalls        []struct {
		Index    *int
		ID       string
		Type     string
		Function struct{ Name, Arguments string }
		Custom   struct{ Name, Input string }
	} `json:"tool_calls"`
}

type chatSeen struct {
	ID      string
	Object  string
	Created *int64
	Model   string
	Choices []struct {
		Index        *int
		Message      *chatMessageSeen
		Delta        *chatMessageSeen
		FinishReason *string `json:"finish_reason"`
	}
	Usage map[string]any
	Error *struct{ Message string }
}

// add adds a whole answer or a chunk, as OpenAI's own libraries do.
func (s *seen) add(t *testing.T, data []byte, whole bool) {
	t.Helper()
	var c chatSeen
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatalf("a client cannot read %s: %v", data, err)
	}
	if c.Error != nil {
		s.failed = c.Error.Message
		return
	}
	if c.ID == "" || c.Created == nil || c.Model == "" || c.Object == "" {
		t.Errorf("no id, created, model or object: %s", data)
	}
	s.model = c.Model
	if c.Usage != nil {
		s.usage = c.Usage
	}
	for _, choice := range c.Choices {
		m := choice.Delta
		if whole {
			m = choice.Message
		}
		if m == nil || choice.Index == nil {
			t.Fatalf("a choice without a message or an index: %s", data)
		}
		s.message(t, m, whole)
		if choice.FinishReason != nil {
			s.reason = *choice.FinishReason
		}
	}
}

func (s *seen) message(t *testing.T, m *chatMessageSeen, whole bool) {
	t.Helper()
	if m.Content != nil {
		s.text += *m.Content
	}
	if m.Refusal != nil {
		s.refusal += *m.Refusal
	}
	s.reasoning += m.ReasoningContent
	for place, c := range m.ToolCalls {
		index := place
		if !whole {
			if c.Index == nil {
				t.Fatal("a piece of a call has no index")
			}
			index = *c.Index
		}
		switch {
		case index == len(s.calls):
			if c.ID == "" || c.Function.Name+c.Custom.Name == "" {
				t.Errorf("the first piece of a call lacks its id or its name: %+v", c)
			}
			s.calls = append(s.calls, call{ID: c.ID, Name: c.Function.Name + c.Custom.Name})
		case index > len(s.calls):
			t.Fatalf("call %d comes after %d calls", index, len(s.calls))
		}
		s.calls[index].Arguments += c.Function.Arguments + c.Custom.Input
	}
}

// readChat reads what a client of chat completions gets.
func readChat(t *testing.T, body []byte, stream bool) *seen {
	t.Helper()
	var s seen
	if !stream {
		s.add(t, body, true)
		s.over = true
		return &s
	}
	eachEvent(t, bytes.NewReader(body), func(_, data []byte) bool {
		if string(data) == "[DONE]" {
			s.over = true
			return false
		}
		s.add(t, data, false)
		return true
	})
	return &s
}

type messagesSeen struct {
	ID, Type, Role, Model string
	Content               []messagesBlockSeen
	StopReason            *string `json:"stop_reason"`
	StopSequence          *string `json:"stop_sequence"`
	Usage                 map[string]any
	Error                 *struct{ Type, Message string }
}

type messagesBlockSeen struct {
	Type                            string
	Text, Thinking, Signature, Data string
	ID, Name                        string
	Input                           json.RawMessage

	json string // pieces of the input
	over bool
}

// answer returns the message as one that can be compared.
func (m *messagesSeen) answer(t *testing.T, whole bool) *seen {
	t.Helper()
	s := seen{usage: m.Usage, model: m.Model}
	for i := range m.Content {
		b := &m.Content[i]
		s.text += b.Text
		s.reasoning += b.Thinking
		switch b.Type {
		case "text":
			if b.Text == "" {
				t.Errorf("block %d is an empty text", i)
			}
		case "tool_use":
			arguments := b.json
			if arguments == "" {
				arguments = string(b.Input)
			}
			s.calls = append(s.calls, call{ID: b.ID, Name: b.Name, Arguments: arguments})
		case "thinking":
			if b.Signature == "" && (whole || b.over) {
				t.Errorf("block %d, a thought, has no signature", i)
			}
		case "redacted_thinking":
		default:
			t.Errorf("block %d is of type %q", i, b.Type)
		}
	}
	if m.StopReason != nil {
		s.reason = *m.StopReason
	}
	if m.StopSequence != nil {
		s.sequence = *m.StopSequence
	}
	return &s
}

// readMessages reads what a client of Messages gets, as strictly as the maker's
// libraries.
func readMessages(t *testing.T, body []byte, stream bool) *seen {
	t.Helper()
	var m messagesSeen
	if !stream {
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatalf("a client cannot read %s: %v", body, err)
		}
		if m.Type != "message" || m.Role != "assistant" || m.ID == "" || m.Content == nil || m.StopReason == nil || m.Usage == nil {
			t.Errorf("not a message: %s", body)
		}
		s := m.answer(t, true)
		s.over = true
		return s
	}
	over, failed := false, ""
	eachEvent(t, bytes.NewReader(body), func(name, data []byte) bool {
		if over {
			t.Errorf("%s comes after the end", data)
		}
		over, failed = m.event(t, string(name), data)
		return true
	})
	s := m.answer(t, false)
	s.over, s.failed = over, failed
	return s
}

// event takes an event of a stream.
func (m *messagesSeen) event(t *testing.T, name string, data []byte) (over bool, failed string) {
	t.Helper()
	var ev struct {
		Type         string
		Index        int
		Message      *messagesSeen
		ContentBlock messagesBlockSeen `json:"content_block"`
		Delta        struct {
			Type, Text, Thinking, Signature string
			PartialJSON                     string  `json:"partial_json"`
			StopReason                      *string `json:"stop_reason"`
			StopSequence                    *string `json:"stop_sequence"`
		}
		Usage map[string]any
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(data, &ev); err != nil || ev.Type != name {
		t.Fatalf("event %q: a client cannot read %s: %v", name, data, err)
	}
	if m.ID == "" && name != "message_start" && name != "ping" && name != "error" {
		t.Fatalf("%s comes before the beginning", data)
	}
	switch name {
	case "message_start":
		if m.ID != "" || ev.Message == nil || ev.Message.ID == "" || ev.Message.Usage == nil || ev.Message.Content == nil {
			t.Fatalf("not the beginning of a message: %s", data)
		}
		*m = *ev.Message
	case "content_block_start":
		if n := len(m.Content); ev.Index != n || n > 0 && !m.Content[n-1].over {
			t.Fatalf("block %d begins, there are %d: %s", ev.Index, n, data)
		}
		m.Content = append(m.Content, ev.ContentBlock)
	case "content_block_delta", "content_block_stop":
		if ev.Index != len(m.Content)-1 || m.Content[ev.Index].over {
			t.Fatalf("no such block is open: %s", data)
		}
		b := &m.Content[ev.Index]
		b.Text += ev.Delta.Text
		b.Thinking += ev.Delta.Thinking
		b.Signature += ev.Delta.Signature
		b.json += ev.Delta.PartialJSON
		b.over = name == "content_block_stop"
	case "message_delta":
		m.StopReason, m.StopSequence = ev.Delta.StopReason, ev.Delta.StopSequence
		maps.Copy(m.Usage, ev.Usage)
	case "message_stop":
		over = m.StopReason != nil
	case "error":
		failed = ev.Error.Message
	}
	return over, failed
}

// readers read what clients get.
var readers = map[translate.Protocol]func(t *testing.T, body []byte, stream bool) *seen{
	translate.Chat:     readChat,
	translate.Messages: readMessages,
}
