package recorded

import "encoding/json"

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

func (u *messagesUsage) tell(out *Reading) {
	if u.Input != nil {
		out.Input = *u.Input + u.Read + u.Write
	}
	out.Output = u.Output
}

// messagesEvent is any event of a stream.
type messagesEvent struct {
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

func readMessages(out *Reading, text string, streams bool) {
	var m struct {
		Model      string
		Content    []*messagesBlock
		StopReason string `json:"stop_reason"`
		Usage      messagesUsage
		Error      any
	}
	if streams {
		in := messagesStream{out: out, open: -1}
		events(text, in.take)
		m.Content = in.blocks
	} else {
		out.decode(text, &m)
		out.Model, out.Reason, out.Failed = m.Model, m.StopReason, m.Error != nil
		m.Usage.tell(out)
	}
	for _, b := range m.Content {
		switch {
		case b.Type == "text" && b.Text != nil:
			out.Text += *b.Text
		case b.Type == "thinking" && b.Thinking != nil:
			out.Reasoning += *b.Thinking
		case b.Type == "tool_use":
			if b.partial != "" {
				input := json.RawMessage(b.partial)
				b.Input = &input
			}
			call := Call{ID: b.ID, Name: b.Name}
			if b.Input != nil {
				call.Arguments = string(*b.Input)
			}
			out.Calls = append(out.Calls, call)
		case b.Type == "text", b.Type == "thinking":
			out.fault("a block of type %s has no %s", b.Type, b.Type)
		}
	}
	turn, err := json.Marshal(map[string]any{"role": "assistant", "content": m.Content})
	if err == nil { // the arguments of a call that was cut are no JSON, and not sent back
		out.Turn = turn
	}
}

// messagesStream takes the events of a stream in turn.
type messagesStream struct {
	out    *Reading
	began  bool
	open   int // the block in which the stream is; -1 = in none
	blocks []*messagesBlock
}

func (s *messagesStream) take(name, data string) {
	var ev messagesEvent
	out := s.out
	out.decode(data, &ev)
	if name != ev.Type || out.Over {
		out.fault("event %q of type %q, over %v", name, ev.Type, out.Over)
	}
	if (ev.Type == "message_start") == s.began && ev.Type != "error" {
		out.fault("%s where the message has begun: %v", ev.Type, s.began)
	}
	switch ev.Type {
	case "message_start":
		s.began, out.Model = true, ev.Message.Model
		ev.Message.Usage.tell(out)
	case "content_block_start":
		if s.open >= 0 || ev.Index != len(s.blocks) || ev.Block == nil {
			out.fault("block %d begins inside %d: %.300s", ev.Index, s.open, data)
			return
		}
		s.open, s.blocks = ev.Index, append(s.blocks, ev.Block)
	case "content_block_delta":
		s.add(&ev)
	case "content_block_stop":
		s.open = -1
	case "message_delta":
		out.Reason = ev.Delta.StopReason
		ev.Usage.tell(out)
	case "message_stop":
		out.Over = true
	case "error":
		out.Failed = true
	}
}

// add takes a piece of a block.
func (s *messagesStream) add(ev *messagesEvent) {
	if ev.Index != s.open {
		s.out.fault("a piece of block %d inside %d", ev.Index, s.open)
		return
	}
	b := s.blocks[s.open]
	switch d := &ev.Delta; {
	case d.Type == "text_delta" && b.Text != nil:
		*b.Text += d.Text
	case d.Type == "thinking_delta" && b.Thinking != nil:
		*b.Thinking += d.Thinking
	case d.Type == "signature_delta":
		b.Signature = &d.Signature
	case d.Type == "input_json_delta":
		b.partial += d.Partial
	case d.Type == "text_delta", d.Type == "thinking_delta":
		s.out.fault("a %s in a block of type %s", d.Type, b.Type)
	}
}
