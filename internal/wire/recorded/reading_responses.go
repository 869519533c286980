package recorded

import "encoding/json"

type responsesAnswer struct {
	Model      string
	Status     string
	Incomplete *struct{ Reason string } `json:"incomplete_details"`
	Output     []json.RawMessage
	Usage      *struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
	Error any
}

// responsesItem is any item of an answer's output.
type responsesItem struct {
	Type             string
	Content, Summary []struct{ Text, Refusal string }
	CallID           string `json:"call_id"`
	Name, Arguments  string
	Input            string
}

func readResponses(out *Reading, text string, streams, native bool) {
	in := responsesStream{out: out, native: native}
	if streams {
		events(text, in.take)
	} else {
		out.decode(text, &in.whole)
		out.Failed = in.whole.Error != nil
	}
	whole := &in.whole
	if !streams || out.Over {
		out.Model = whole.Model
	}
	if out.Reason = whole.Status; whole.Incomplete != nil {
		out.Reason += ", " + whole.Incomplete.Reason
	}
	if whole.Usage != nil {
		out.Input, out.Output = whole.Usage.Input, whole.Usage.Output
	}
	for _, raw := range whole.Output {
		var item responsesItem
		out.decode(string(raw), &item)
		for _, part := range item.Content {
			if item.Type == "message" {
				out.Text += part.Text + part.Refusal
			}
		}
		for _, part := range item.Summary {
			out.Reasoning += part.Text
		}
		if item.Type == "function_call" || item.Type == "custom_tool_call" {
			out.Calls = append(out.Calls, Call{item.CallID, item.Name, item.Arguments + item.Input})
		}
	}
	if streams {
		if out.Over && in.deltas != out.Text && !native {
			out.fault("the pieces make %q, the whole is %q", in.deltas, out.Text)
		}
		out.Text = in.deltas
	}
	out.keep(whole.Output)
}

// responsesStream takes the events of a stream in turn.
type responsesStream struct {
	out      *Reading
	native   bool
	sequence int    // the number that is due
	deltas   string // the pieces of the text
	whole    responsesAnswer
}

func (s *responsesStream) take(name, data string) {
	out := s.out
	var ev struct {
		Type     string
		Sequence int `json:"sequence_number"`
		Response *responsesAnswer
		Delta    string
	}
	out.decode(data, &ev)
	broken := ev.Type == "error" || out.Failed // the event that was cut may have had a number
	gap := ev.Sequence < s.sequence || ev.Sequence != s.sequence && !broken
	if name != ev.Type || gap && !s.native || out.Over {
		out.fault("event %q of type %q, number %d where %d is due, over %v", name, ev.Type, ev.Sequence, s.sequence, out.Over)
	}
	s.sequence = ev.Sequence + 1
	switch ev.Type {
	case "response.created", "response.completed", "response.incomplete":
		if ev.Response == nil {
			out.fault("an event of type %s has no response", ev.Type)
			return
		}
		if out.Model = ev.Response.Model; ev.Type != "response.created" {
			out.Over, s.whole = true, *ev.Response
		}
	case "response.output_text.delta", "response.refusal.delta":
		s.deltas += ev.Delta
	case "error", "response.failed":
		out.Failed = true
	}
}
