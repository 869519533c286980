package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// The statuses of a response.
const (
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusQueued     = "queued"
	statusInProgress = "in_progress"
	statusCancelled  = "cancelled"
	statusFailed     = "failed"
)

// renderResponses writes what the Responses endpoints answer.
func renderResponses(out *rendering, c *call, a *answer) {
	q := &c.responses
	switch {
	case c.endpoint == EndpointInputTokens:
		out.buf = appendField(append(out.buf, `{"object":"response.input_tokens",`...), `"input_tokens":`, c.promptTokens)
		out.buf = append(out.buf, '}')
	case c.endpoint == EndpointCompact:
		renderCompaction(out, a)
	case q.action == storedDelete:
		out.buf = append(appendString(append(out.buf, `{"id":`...), q.id), `,"object":"response","deleted":true}`...)
	case q.action == storedInputItems:
		renderInputItems(out, q)
	case c.stream:
		r := responder{out: out, c: c, a: a}
		r.stream()
	default:
		r := responder{out: out, c: c, a: a}
		r.response(r.status())
	}
}

// name gives each item of the input an id, as the upstream does that keeps it.
func (r *responsesCall) name(a *answer) {
	named := make([]json.RawMessage, len(r.items))
	for i, raw := range r.items {
		var item map[string]json.RawMessage
		if json.Unmarshal(raw, &item) != nil || item == nil {
			item = map[string]json.RawMessage{}
		}
		if len(item["id"]) == 0 {
			item["id"] = appendString(nil, fmt.Sprintf("msg_%s_in%d", a.id, i))
		}
		text, err := json.Marshal(item)
		if err != nil {
			text = raw // cannot be: it was read from JSON
		}
		named[i] = text
	}
	r.items = named
}

// itemIDs are the ids by which items of a response can be referred to.
func itemIDs(c *call, a *answer) []string {
	var ids []string
	for _, raw := range c.responses.items {
		var item struct{ ID string }
		if json.Unmarshal(raw, &item) == nil && item.ID != "" {
			ids = append(ids, item.ID)
		}
	}
	ids = append(ids, "rs_"+string(a.id), "msg_"+string(a.id))
	for n := range a.calls {
		ids = append(ids, callItem(a, n))
	}
	return ids
}

func renderInputItems(out *rendering, q *responsesCall) {
	out.buf = append(out.buf, `{"object":"list","data":[`...)
	out.buf = append(out.buf, bytes.Join(rawList(q.items), []byte(","))...)
	out.buf = append(out.buf, `],"has_more":false}`...)
}

func rawList(items []json.RawMessage) [][]byte {
	list := make([][]byte, len(items))
	for i := range items {
		list[i] = items[i]
	}
	return list
}

// renderCompaction writes the input's messages and, sealed, the rest.
func renderCompaction(out *rendering, a *answer) {
	b := out.buf
	b = append(b, `{"id":"resp_`...)
	b = append(b, a.id...)
	b = append(b, `","object":"response.compaction","created_at":`...)
	b = strconv.AppendInt(b, a.created, 10)
	b = append(b, `,"output":[{"id":"cmp_`...)
	b = append(b, a.id...)
	b = append(b, `","type":"compaction","encrypted_content":`...)
	b = appendString(b, sealOf(a.issuer)+string(a.id))
	b = append(b, `}],`...)
	out.buf = append(appendResponsesUsage(b, a.usage), '}')
}

func appendResponsesUsage(b []byte, u Usage) []byte {
	b = appendField(b, `"usage":{"input_tokens":`, u.Prompt)
	b = appendField(b, `,"input_tokens_details":{"cached_tokens":`, u.Cached)
	if u.CacheWrite > 0 {
		b = appendField(b, `,"cache_write_tokens":`, u.CacheWrite)
	}
	b = appendField(b, `},"output_tokens":`, u.Completion)
	b = appendField(b, `,"output_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	b = appendField(b, `},"total_tokens":`, u.Prompt+u.Completion)
	return append(b, '}')
}

// responder writes one response, whole or as events.
type responder struct {
	out *rendering
	c   *call
	a   *answer
	seq int // number of the next event
}

// status is the one that the response ends with, or has so far.
func (r *responder) status() string {
	switch {
	case r.a.status != "":
		return r.a.status
	case r.a.finish == finishLength, r.a.finish == finishFilter:
		return statusIncomplete
	}
	return statusCompleted
}

// whole reports whether a status comes with the output.
func whole(status string) bool { return status == statusCompleted || status == statusIncomplete }

// response appends the response object.
func (r *responder) response(status string) {
	b := r.out.buf
	b = append(b, `{"id":"resp_`...)
	b = append(b, r.a.id...)
	b = append(b, `","object":"response","created_at":`...)
	b = strconv.AppendInt(b, r.a.created, 10)
	b = append(b, `,"status":"`...)
	b = append(b, status...)
	b = append(b, `","background":`...)
	b = strconv.AppendBool(b, r.c.responses.background)
	b = append(b, `,"error":null,"incomplete_details":`...)
	b = append(b, r.incomplete(status)...)
	b = append(b, `,"instructions":null,"max_output_tokens":null,"model":`...)
	b = appendString(b, r.a.model)
	b = append(b, ',')
	r.out.key = len(b)
	b = append(b, `"output":`...)
	r.out.lo = len(b)
	b = append(b, '[')
	if whole(status) {
		b = r.items(b)
	}
	b = append(b, ']')
	r.out.hi = len(b)
	b = append(b, `,"parallel_tool_calls":true,"previous_response_id":`...)
	b = appendNullable(b, r.c.responses.previous)
	b = append(b, `,"conversation":`...)
	if id := r.c.responses.conversation; id != "" {
		b = append(appendString(append(b, `{"id":`...), id), '}')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"store":`...)
	b = strconv.AppendBool(b, r.c.responses.store)
	b = append(b, `,"temperature":1,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1,"truncation":"disabled",`...)
	if whole(status) {
		b = appendResponsesUsage(b, r.a.usage)
	} else {
		b = append(b, `"usage":null`...)
	}
	b = append(b, `,"user":null,"metadata":{}}`...)
	r.out.buf = b
}

// incomplete is what incomplete_details says.
func (r *responder) incomplete(status string) string {
	switch {
	case status != statusIncomplete:
		return "null"
	case r.a.finish == finishFilter:
		return `{"reason":"content_filter"}`
	}
	return `{"reason":"max_output_tokens"}`
}

// items appends the output, item by item.
func (r *responder) items(b []byte) []byte {
	start := len(b)
	add := func(item func([]byte, bool) []byte) {
		if len(b) > start {
			b = append(b, ',')
		}
		b = item(b, true)
	}
	if len(r.a.reasoning) > 0 {
		add(r.reasoning)
	}
	for n := range r.a.calls {
		add(r.toolCall(n))
	}
	if len(r.a.calls) == 0 {
		add(r.message)
	}
	return b
}

// reasoning appends the item of the reasoning, announced or done.
func (r *responder) reasoning(b []byte, done bool) []byte {
	b = append(b, `{"id":"rs_`...)
	b = append(b, r.a.id...)
	b = append(b, `","type":"reasoning","summary":[`...)
	if done {
		b = append(appendPieces(append(b, `{"type":"summary_text","text":`...), r.a.reasoning), '}')
	}
	b = append(b, ']')
	if r.c.responses.seal && done {
		b = appendString(append(b, `,"encrypted_content":`...), sealOf(r.a.issuer)+string(r.a.id))
	}
	return append(b, '}')
}

// toolCall returns what appends the item of call number n.
func (r *responder) toolCall(n int) func(b []byte, done bool) []byte {
	one := &r.a.calls[n]
	return func(b []byte, done bool) []byte {
		b = appendString(append(b, `{"id":`...), callItem(r.a, n))
		b = append(b, `,"type":"function_call","status":"`...)
		b = append(b, progress(done)...)
		b = append(b, `","call_id":`...)
		b = appendToolID(b, one, 0)
		b = append(b, `,"name":`...)
		b = appendString(b, one.name)
		b = append(b, `,"arguments":`...)
		if done {
			b = appendString(b, one.arguments)
		} else {
			b = append(b, `""`...)
		}
		return append(b, '}')
	}
}

// callItem is the id of the item of call number n.
func callItem(a *answer, n int) string {
	id := "fc_" + string(a.id)
	if n > 0 {
		id += "_" + strconv.Itoa(n)
	}
	return id
}

// message appends the item of the message.
func (r *responder) message(b []byte, done bool) []byte {
	b = append(b, `{"id":"msg_`...)
	b = append(b, r.a.id...)
	b = append(b, `","type":"message","status":"`...)
	b = append(b, progress(done)...)
	b = append(b, `","role":"assistant","content":[`...)
	if done {
		b = r.part(b, true)
	}
	return append(b, `]}`...)
}

func progress(done bool) string {
	if done {
		return statusCompleted
	}
	return statusInProgress
}

// part appends the content of the message.
func (r *responder) part(b []byte, done bool) []byte {
	if r.a.refusal != "" {
		b = append(b, `{"type":"refusal","refusal":`...)
		if done {
			return append(appendString(b, r.a.refusal), '}')
		}
		return append(b, `""}`...)
	}
	b = append(b, `{"type":"output_text","annotations":[],"logprobs":[],"text":`...)
	if done {
		return append(appendPieces(b, r.a.pieces), '}')
	}
	return append(b, `""}`...)
}
