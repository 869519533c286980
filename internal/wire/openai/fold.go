package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
)

// FoldStream reads a streamed answer to its end and makes the whole answer of
// it, for a client that did not ask for a stream. publicModel is the model that
// the answer names; limit bounds the bytes of all events together. The result
// is as good as an answer that came whole: judge it with [CheckAnswer].
//
// The error is a *fault.InsideError if the stream holds an error before the answer has
// ended; it wraps
// fault.ErrUndecodable if the stream is malformed, too large, or ends before the
// answer is whole; errors of the reader are wrapped.
func FoldStream(e Endpoint, events *sse.Reader, publicModel string, limit int) ([]byte, error) {
	f := folder{stream: NewStream(e, publicModel, true), e: e, head: map[string]any{}, choices: map[int]map[string]any{}}
	size, last := 0, false
	for !last {
		ev, err := events.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && ev.HasData:
			last = true
		case err != nil:
			return nil, fmt.Errorf("read a streamed answer: %w", err)
		}
		if size += len(ev.Data); size > limit {
			return nil, fault.Undecodable("the streamed answer is larger than %d bytes", limit)
		}
		done, err := f.event(ev.Data)
		if err != nil {
			return nil, err
		}
		last = last || done
	}
	if err := f.chunk(f.stream.AppendFinish(nil)); err != nil {
		return nil, err
	}
	if !f.stream.Finished() {
		return nil, fault.Undecodable("the stream ended before the answer was whole")
	}
	return f.answer()
}

// folder puts the pieces of a stream together.
type folder struct {
	stream  *Stream
	e       Endpoint
	head    map[string]any         // members of the answer beside choices
	choices map[int]map[string]any // by index, with the message under "delta"
	buf     []byte
}

// event takes the data of one event and reports whether it is the last.
func (f *folder) event(data []byte) (done bool, err error) {
	var info ChunkInfo
	f.buf, info, err = f.stream.Chunk(f.buf[:0], data)
	switch {
	case err != nil:
		return false, err
	case info.Fault != nil && f.stream.Finished():
		return true, f.last(data)
	case info.Fault != nil:
		return false, &fault.InsideError{Fault: *info.Fault}
	case info.Done || info.Drop:
		return info.Done, nil
	}
	return false, f.chunk(f.buf)
}

// last takes an error that comes when the answer has ended, and changes nothing of
// it: some services tell the usage with one.
func (f *folder) last(data []byte) error {
	chunk, err := decode(data)
	if err != nil {
		return fault.Undecodable("%v", err)
	}
	if usage := chunk["usage"]; usage != nil {
		f.head["usage"] = usage
	}
	return nil
}

// chunk takes one chunk, already mended.
func (f *folder) chunk(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	chunk, err := decode(data)
	if err != nil {
		return fault.Undecodable("%v", err)
	}
	list, _ := chunk["choices"].([]any)
	delete(chunk, "choices")
	for key, value := range chunk {
		// The first id and time stand for the answer, of the rest the last.
		if value != nil && (f.head[key] == nil || key != "id" && key != "created") {
			f.head[key] = value
		}
	}
	for _, item := range list {
		piece, _ := item.(map[string]any)
		index := indexOf(piece)
		if f.choices[index] == nil {
			if len(f.choices) == maxChoiceStates {
				continue
			}
			f.choices[index] = map[string]any{"index": index, "finish_reason": nil}
		}
		delete(piece, "message") // the answer so far, beside the delta
		merge(f.choices[index], piece)
	}
	return nil
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

// indexOf returns the index of a choice, a call or a part, 0 if it has none.
func indexOf(m map[string]any) int {
	n, ok := m["index"].(json.Number)
	if !ok {
		return 0
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return 0
	}
	return i
}

// growing are the texts that come in pieces; any other value replaces the one
// before it.
var growing = map[string]bool{
	"content": true, "reasoning_content": true, "reasoning": true, "refusal": true, "text": true, "arguments": true,
	"input": true, "data": true, "transcript": true, "summary": true, "thinking": true,
}

// pieces is a text that grows.
type pieces struct{ text []byte }

// MarshalText implements encoding.TextMarshaler.
func (p *pieces) MarshalText() ([]byte, error) { return p.text, nil }

// merge adds piece to into.
func merge(into, piece map[string]any) {
	for key, value := range piece {
		switch v := value.(type) {
		case nil:
			if into[key] == nil {
				into[key] = nil
			}
		case string:
			mergeText(into, key, v)
		case map[string]any:
			if was, ok := into[key].(map[string]any); ok {
				merge(was, v)
			} else {
				into[key] = v
			}
		case []any:
			was, _ := into[key].([]any)
			into[key] = mergeList(was, v)
		default:
			into[key] = v
		}
	}
}

func mergeText(into map[string]any, key, text string) {
	if !growing[key] {
		if text != "" || into[key] == nil {
			into[key] = text
		}
		return
	}
	switch was := into[key].(type) {
	case *pieces:
		was.text = append(was.text, text...)
	case string:
		into[key] = &pieces{text: append([]byte(was), text...)}
	default:
		into[key] = text
	}
}

// mergeList adds the elements of piece to list: to the one with the same index,
// which is looked for among the last, or at the end.
func mergeList(list, piece []any) []any {
	for _, item := range piece {
		part, _ := item.(map[string]any)
		index, ok := part["index"].(json.Number)
		at := -1
		if ok {
			from := max(len(list)-maxCalls, 0)
			at = slices.IndexFunc(list[from:], func(other any) bool {
				o, _ := other.(map[string]any)
				n, ok := o["index"].(json.Number)
				return ok && n == index
			})
			if at >= 0 {
				at += from
			}
		}
		if at < 0 {
			list = append(list, item)
			continue
		}
		if o, ok := list[at].(map[string]any); ok {
			merge(o, part)
		}
	}
	return list
}

// answer returns the whole answer.
func (f *folder) answer() ([]byte, error) {
	list := make([]any, 0, len(f.choices))
	for _, index := range slices.Sorted(maps.Keys(f.choices)) {
		list = append(list, f.whole(f.choices[index]))
	}
	f.head["choices"] = list
	f.head["object"] = "chat.completion"
	if f.e == Completions {
		f.head["object"] = "text_completion"
	}
	if f.head["usage"] == nil {
		delete(f.head, "usage")
	}
	return encode(f.head)
}

// whole turns a choice of pieces into one of a whole answer.
func (f *folder) whole(choice map[string]any) map[string]any {
	if f.e == Completions {
		return choice
	}
	message, _ := choice["delta"].(map[string]any)
	if message == nil {
		message = map[string]any{}
	}
	delete(choice, "delta")
	choice["message"] = message
	if message["role"] == nil {
		message["role"] = "assistant"
	}
	if _, ok := message["content"]; !ok {
		message["content"] = nil
	}
	calls, _ := message["tool_calls"].([]any)
	for _, item := range calls {
		call, ok := item.(map[string]any)
		if !ok {
			continue
		}
		delete(call, "index")
		if call["type"] == nil {
			call["type"] = "function"
		}
	}
	return choice
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
