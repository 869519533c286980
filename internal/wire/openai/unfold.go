package openai

import "maps"

// UnfoldAnswer makes the chunks of a stream out of a whole answer, for a client
// that asked for a stream: for each choice one chunk with all it holds and one
// that ends it, and with includeUsage a last one with the usage. [DONE] is not
// among them. publicModel is the model that the chunks name. It returns nil if
// body is not a good answer of chat or completions, which [CheckAnswer] tells.
func UnfoldAnswer(body []byte, publicModel string, includeUsage bool) [][]byte {
	e := Chat
	answer, err := CheckAnswer(e, body)
	if err != nil {
		e = Completions
		if answer, err = CheckAnswer(e, body); err != nil {
			return nil
		}
	}
	whole, err := decode(answer.AppendWithModel(nil, body, publicModel))
	if err != nil {
		return nil
	}
	u := unfolder{e: e, head: map[string]any{}, usage: includeUsage}
	for _, key := range []string{"id", "created", "model", "system_fingerprint", "service_tier"} {
		if value, ok := whole[key]; ok {
			u.head[key] = value
		}
	}
	u.head["object"] = "chat.completion.chunk"
	if e == Completions {
		u.head["object"] = "text_completion"
	}
	choices, _ := whole["choices"].([]any)
	usage := whole["usage"]
	u.extra = whole // what no other chunk tells goes with the first
	for _, key := range []string{"choices", "usage", "object"} {
		delete(u.extra, key)
	}
	for i, item := range choices {
		choice, _ := item.(map[string]any)
		if choice["index"] == nil {
			choice["index"] = i
		}
		u.choice(choice)
	}
	if includeUsage && usage != nil {
		u.add(nil, usage)
	}
	if u.err != nil {
		return nil
	}
	return u.chunks
}

// unfolder collects the chunks of an answer.
type unfolder struct {
	e      Endpoint
	head   map[string]any
	extra  map[string]any
	usage  bool
	chunks [][]byte
	err    error
}

// add adds a chunk; choice is nil in the one that tells the usage.
func (u *unfolder) add(choice map[string]any, usage any) {
	chunk := maps.Clone(u.head)
	if len(u.chunks) == 0 {
		maps.Copy(u.extra, chunk)
		chunk = u.extra
	}
	if u.usage {
		chunk["usage"] = usage
	}
	chunk["choices"] = []any{}
	if choice != nil {
		chunk["choices"] = []any{choice}
	}
	text, err := encode(chunk)
	if err != nil {
		u.err = err
		return
	}
	u.chunks = append(u.chunks, text)
}

// choice adds the two chunks of a choice.
func (u *unfolder) choice(choice map[string]any) {
	end := map[string]any{"index": choice["index"], "finish_reason": choice["finish_reason"], "logprobs": nil}
	choice["finish_reason"] = nil
	if end["finish_reason"] == nil {
		end["finish_reason"] = "stop"
	}
	if u.e == Completions {
		end["text"] = ""
	} else {
		message, _ := choice["message"].(map[string]any)
		delete(choice, "message")
		calls, _ := message["tool_calls"].([]any)
		for i, item := range calls {
			if call, ok := item.(map[string]any); ok {
				call["index"] = i
			}
		}
		choice["delta"], end["delta"] = message, map[string]any{}
	}
	u.add(choice, nil)
	u.add(end, nil)
}
