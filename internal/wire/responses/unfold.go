package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"gatewright/internal/wire/sse"
)

// UnfoldAnswer makes the framed events of a stream out of a whole answer, for a
// client that asked for a stream: the answer is announced, each item is
// announced, told in one delta for each of its texts and ended, and the final
// event repeats all. It returns nil if body is not a good answer of [Create],
// which [CheckAnswer] tells, or not whole.
func UnfoldAnswer(body []byte) []byte {
	answer, err := CheckAnswer(Create, body)
	if err != nil || answer.Status == "queued" || answer.Status == "in_progress" {
		return nil
	}
	whole, err := decode(body)
	if err != nil {
		return nil
	}
	u := unfolder{}
	begin := maps.Clone(whole)
	begin["status"], begin["output"], begin["usage"] = "in_progress", []any{}, nil
	begin["incomplete_details"], begin["completed_at"] = nil, nil
	u.add("response.created", map[string]any{"response": begin})
	u.add("response.in_progress", map[string]any{"response": begin})
	output, _ := whole["output"].([]any)
	for i, one := range output {
		if item, ok := one.(map[string]any); ok {
			u.item(i, item)
		}
	}
	final := eventCompleted
	if answer.Status == "incomplete" {
		final = eventIncomplete
	}
	u.add(final, map[string]any{"response": whole})
	if u.err != nil {
		return nil
	}
	return u.out
}

func decode(data []byte) (map[string]any, error) {
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return out, nil
}

// unfolder writes the events of an answer.
type unfolder struct {
	out      []byte
	sequence int
	err      error
}

// add adds an event.
func (u *unfolder) add(kind string, members map[string]any) {
	members["type"], members["sequence_number"] = kind, u.sequence
	u.sequence++
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		u.err = err
		return
	}
	u.out = sse.Append(u.out, kind, bytes.TrimSpace(b.Bytes()))
}

// item adds the events of one item.
func (u *unfolder) item(index int, item map[string]any) {
	begin := maps.Clone(item)
	if _, ok := item["status"]; ok {
		begin["status"] = "in_progress"
	}
	for _, list := range []string{"content", "summary"} {
		if _, ok := item[list].([]any); ok {
			begin[list] = []any{}
		}
	}
	delete(begin, "encrypted_content")
	for _, text := range []string{"arguments", "input"} {
		if _, ok := item[text].(string); ok {
			begin[text] = ""
		}
	}
	place := map[string]any{"output_index": index, "item_id": item["id"]}
	u.add(eventItemAdded, map[string]any{"output_index": index, "item": begin})
	switch item["type"] {
	case "message", "reasoning":
		u.parts(place, item, "summary", "summary_index", "response.reasoning_summary_part")
		u.parts(place, item, "content", "content_index", "response.content_part")
	case "function_call":
		u.text("response.function_call_arguments", "arguments", item["arguments"], place)
	case "custom_tool_call":
		u.text("response.custom_tool_call_input", "input", item["input"], place)
	}
	u.add(eventItemDone, map[string]any{"output_index": index, "item": item})
}

// parts adds the events of the parts in a list of an item.
func (u *unfolder) parts(place, item map[string]any, list, index, kind string) {
	parts, _ := item[list].([]any)
	for i, one := range parts {
		part, ok := one.(map[string]any)
		if !ok {
			continue
		}
		at := maps.Clone(place)
		at[index] = i
		begin := maps.Clone(part)
		field, event := textOf(part["type"])
		if field != "" {
			begin[field] = ""
		}
		u.add(kind+".added", with(at, "part", begin))
		if field != "" {
			u.text(event, field, part[field], at)
		}
		u.add(kind+".done", with(at, "part", part))
	}
}

// textOf returns the member that holds the text of a part, and the beginning of
// the names of the events that tell it.
func textOf(kind any) (field, event string) {
	switch kind {
	case "output_text":
		return "text", "response.output_text"
	case "refusal":
		return "refusal", "response.refusal"
	case "summary_text":
		return "text", "response.reasoning_summary_text"
	case "reasoning_text":
		return "text", "response.reasoning_text"
	}
	return "", ""
}

// text adds the events of one text: all of it in one delta, and its end.
func (u *unfolder) text(event, field string, text any, place map[string]any) {
	s, ok := text.(string)
	if !ok {
		return
	}
	if s != "" {
		u.add(event+".delta", with(place, "delta", s))
	}
	u.add(event+".done", with(place, field, s))
}

func with(place map[string]any, key string, value any) map[string]any {
	out := maps.Clone(place)
	out[key] = value
	return out
}
