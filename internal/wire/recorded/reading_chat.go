package recorded

import (
	"encoding/json"
	"slices"
)

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

func readChat(out *Reading, text string, streams bool) {
	var whole chatMessage
	take := func(data string) {
		var a chatAnswer
		out.decode(data, &a)
		if out.Failed = out.Failed || a.Error != nil; a.Error != nil {
			return
		}
		out.Model = a.Model
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
		events(text, func(_, data string) {
			if out.Over {
				out.fault("data after [DONE]: %.300q", data)
			}
			if data == "[DONE]" {
				out.Over = true
				return
			}
			take(data)
		})
	} else {
		take(text)
	}
	out.Text, out.Reasoning = whole.Content+whole.Refusal, whole.ReasoningContent
	for _, c := range whole.ToolCalls {
		if c.Custom != nil {
			out.Calls = append(out.Calls, Call{c.ID, c.Custom.Name, c.Custom.Input})
			continue
		}
		out.Calls = append(out.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	whole.Role = "assistant"
	out.keep(whole)
}

// add takes a message, or a piece of one.
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
