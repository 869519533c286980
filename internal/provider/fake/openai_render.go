package fake

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"strconv"
)

// fingerprint is the system_fingerprint of every answer.
const fingerprint = "fp_simulated"

// render writes the answer in OpenAI's form.
func (openAI) render(out *rendering, c *call, a *answer) {
	switch {
	case c.endpoint == EndpointEmbeddings:
		renderEmbeddings(out, c, a)
	case c.endpoint == EndpointModels:
		renderModels(out, c, a)
	case c.responses.render != nil:
		c.responses.render(out, c, a)
	case c.media.render != nil:
		c.media.render(out, c, a)
	case c.stream:
		renderStream(out, c, a)
	default:
		renderWhole(out, c, a)
	}
}

// appendHead appends the members that every answer and every chunk begins with.
func appendHead(b []byte, c *call, a *answer, object string) []byte {
	prefix := "chatcmpl-"
	if c.endpoint == EndpointCompletions {
		prefix = "cmpl-"
	}
	b = append(b, `{"id":"`...)
	b = append(b, prefix...)
	b = append(b, a.id...)
	b = append(b, `","object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, a.created, 10)
	b = append(b, `,"model":`...)
	b = appendString(b, a.model)
	return append(b, `,"system_fingerprint":"`+fingerprint+`",`...)
}

func appendUsage(b []byte, u Usage, details bool) []byte {
	b = appendField(b, `"usage":{"prompt_tokens":`, u.Prompt)
	if details {
		b = appendField(b, `,"completion_tokens":`, u.Completion)
	}
	b = appendField(b, `,"total_tokens":`, u.Prompt+u.Completion)
	if details {
		b = appendField(b, `,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
		if u.CacheWrite > 0 {
			b = appendField(b, `,"cache_write_tokens":`, u.CacheWrite)
		}
		b = appendField(b, `,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
		b = append(b, `,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}`...)
	}
	return append(b, '}')
}

// appendPieces appends escaped pieces as one JSON string.
func appendPieces(b []byte, pieces []string) []byte {
	b = append(b, '"')
	for _, p := range pieces {
		b = append(b, p...)
	}
	return append(b, '"')
}

// renderWhole writes a chat completion or a text completion.
func renderWhole(out *rendering, c *call, a *answer) {
	object := "chat.completion"
	if c.endpoint == EndpointCompletions {
		object = "text_completion"
	}
	b := appendHead(out.buf, c, a, object)
	out.key = len(b)
	b = append(b, `"choices":`...)
	out.lo = len(b)
	b = append(b, '[')
	for i := range c.choices {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendField(b, `{"index":`, i)
		if c.endpoint == EndpointCompletions {
			b = append(b, `,"text":`...)
			b = appendPieces(b, a.pieces)
		} else {
			b = append(b, `,"message":`...)
			b = appendMessage(b, a, i)
		}
		b = append(b, `,"logprobs":null,"finish_reason":"`...)
		b = append(b, a.finish...)
		b = append(b, `"}`...)
	}
	b = append(b, ']')
	out.hi = len(b)
	b = append(b, ',')
	b = appendUsage(b, a.usage, true)
	b = append(b, `,"service_tier":"default"}`...)
	out.buf = b
}

func appendMessage(b []byte, a *answer, choice int) []byte {
	b = append(b, `{"role":"assistant","content":`...)
	if len(a.calls) > 0 || a.refusal != "" {
		b = append(b, "null"...)
	} else {
		b = appendPieces(b, a.pieces)
	}
	if len(a.reasoning) > 0 {
		b = append(b, `,"reasoning_content":`...)
		b = appendPieces(b, a.reasoning)
	}
	for i := range a.calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendToolID(b, &a.calls[i], choice)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = appendString(b, a.calls[i].name)
		b = append(b, `,"arguments":`...)
		b = appendString(b, a.calls[i].arguments)
		b = append(b, `}}`...)
	}
	if len(a.calls) > 0 {
		b = append(b, ']')
	}
	b = append(b, `,"refusal":`...)
	b = appendNullable(b, a.refusal)
	return append(b, `,"annotations":[]}`...)
}

func appendToolID(b []byte, one *toolCall, choice int) []byte {
	b = append(b, `"call_`...)
	b = append(b, one.id...)
	if choice > 0 {
		b = strconv.AppendInt(append(b, '_'), int64(choice), 10)
	}
	return append(b, '"')
}

// chunker writes the chunks of a stream.
type chunker struct {
	out  *rendering
	c    *call
	a    *answer
	head []byte // what every chunk begins with
	said int    // content events so far
}

func renderStream(out *rendering, c *call, a *answer) {
	object := "chat.completion.chunk"
	if c.endpoint == EndpointCompletions {
		object = "text_completion"
	}
	k := chunker{out: out, c: c, a: a, head: appendHead(nil, c, a, object)}
	if c.azure || a.prelude {
		out.begin(framePrelude, false)
		out.buf = append(out.buf, `{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`...)
		out.end()
	}
	if c.endpoint == EndpointChat {
		k.roles()
	}
	k.content()
	k.finish()
	if c.includeUsage && a.usageForm == usageLast {
		out.begin(frameUsage, false)
		out.buf = append(append(out.buf, k.head...), `"choices":[],`...)
		out.buf = append(appendUsage(out.buf, a.usage, true), '}')
		out.end()
	}
	out.begin(frameDone, false)
	out.buf = append(out.buf, "[DONE]"...)
	out.end()
}

// chunk writes one chunk: body is what stands in the choice between its index
// and its finish reason.
func (k *chunker) chunk(kind frameKind, choice int, finish string, body ...string) {
	k.out.begin(kind, kind == frameContent && choice == 0)
	b := k.out.buf
	b = append(b, k.head...)
	b = appendField(b, `"choices":[{"index":`, choice)
	b = append(b, ',')
	for _, part := range body {
		b = append(b, part...)
	}
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	b = appendNullable(b, finish)
	b = append(b, "}]"...)
	b = k.usage(b, kind)
	b = append(b, '}')
	k.out.buf = b
	k.out.end()
}

// usage writes the usage member of a chunk, where it has one.
func (k *chunker) usage(b []byte, kind frameKind) []byte {
	u := k.a.usage
	switch {
	case k.a.usageForm == usageRepeated && kind >= frameContent:
		if kind == frameContent {
			k.said++
			u.Completion = min(k.said, u.Completion)
		}
		return appendUsage(append(b, ','), u, true)
	case k.a.usageForm == usageOnFinish && kind == frameFinish:
		return appendUsage(append(b, ','), u, true)
	case k.c.includeUsage:
		return append(b, `,"usage":null`...)
	}
	return b
}

// roles opens each choice. A tool call opens with its id and name.
func (k *chunker) roles() {
	for i := range k.c.choices {
		content := `""`
		if len(k.a.calls) > 0 || k.a.refusal != "" {
			content = "null"
		}
		k.chunk(frameRole, i, "", `"delta":{"role":"assistant","content":`, content, `,"refusal":null}`)
	}
}

func (k *chunker) content() {
	a := k.a
	role := ""
	if a.roleEach {
		role = `"role":"assistant",`
	}
	for _, p := range a.reasoning {
		for i := range k.c.choices {
			k.chunk(frameContent, i, "", `"delta":{`, role, `"reasoning_content":"`, p, `"}`)
		}
	}
	if len(a.calls) > 0 {
		for n := range a.calls {
			k.toolCall(role, n)
		}
		return
	}
	if a.refusal != "" {
		for i := range k.c.choices {
			k.chunk(frameContent, i, "", `"delta":{"refusal":`, string(appendString(nil, a.refusal)), `}`)
		}
		return
	}
	before, after := `"delta":{`+role+`"content":"`, `"}`
	if k.c.endpoint == EndpointCompletions {
		before, after = `"text":"`, `"`
	}
	for _, p := range a.pieces {
		for i := range k.c.choices {
			k.chunk(frameContent, i, "", before, p, after)
		}
	}
}

// toolCall streams call number n: id and name first, then the arguments in
// pieces.
func (k *chunker) toolCall(role string, n int) {
	one := &k.a.calls[n]
	name, head := string(appendString(nil, one.name)), `"tool_calls":[{"index":`+strconv.Itoa(n)
	for i := range k.c.choices {
		k.chunk(frameContent, i, "", `"delta":{`, role, head, `,"id":`, string(appendToolID(nil, one, i)),
			`,"type":"function","function":{"name":`, name, `,"arguments":""}}]}`)
	}
	for _, p := range argumentPieces(one.arguments) {
		quoted := string(appendString(nil, p))
		for i := range k.c.choices {
			k.chunk(frameContent, i, "", `"delta":{`, role, head, `,"function":{"arguments":`, quoted, `}}]}`)
		}
	}
}

func (k *chunker) finish() {
	last := `"delta":{}`
	if k.c.endpoint == EndpointCompletions {
		last = `"text":""`
	}
	for i := range k.c.choices {
		k.chunk(frameFinish, i, k.a.finish, last)
	}
}

// renderModels writes the list of models, or one of them.
func renderModels(out *rendering, c *call, a *answer) {
	model := func(b []byte, id string) []byte {
		b = append(b, `{"id":`...)
		b = appendString(b, id)
		b = append(b, `,"object":"model","created":`...)
		b = strconv.AppendInt(b, modelsCreated, 10)
		return append(b, `,"owned_by":"simulation"}`...)
	}
	if c.model != "" {
		out.buf = model(out.buf, c.model)
		return
	}
	b := out.buf
	b = append(b, `{"object":"list",`...)
	out.key = len(b)
	b = append(b, `"data":`...)
	out.lo = len(b)
	b = append(b, '[')
	for i, id := range a.models {
		if i > 0 {
			b = append(b, ',')
		}
		b = model(b, id)
	}
	b = append(b, ']')
	out.hi = len(b)
	b = append(b, '}')
	out.buf = b
}

// modelsCreated is when every model was made: 1 January 2026.
const modelsCreated = 1_767_225_600

// renderEmbeddings writes a vector for each input. A vector depends on the
// input and on its length alone.
func renderEmbeddings(out *rendering, c *call, a *answer) {
	b := out.buf
	b = append(b, `{"object":"list",`...)
	out.key = len(b)
	b = append(b, `"data":`...)
	out.lo = len(b)
	b = append(b, '[')
	for i, text := range c.inputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendField(b, `{"object":"embedding","index":`, i)
		b = append(b, `,"embedding":`...)
		b = appendVector(b, text, c.dimensions, c.base64)
		b = append(b, '}')
	}
	b = append(b, ']')
	out.hi = len(b)
	b = append(b, `,"model":`...)
	b = appendString(b, a.model)
	b = append(b, ',')
	b = append(appendUsage(b, a.usage, false), '}')
	out.buf = b
}

// appendVector appends the embedding of a text: unit length, as numbers or as
// the base64 of little-endian float32.
func appendVector(b []byte, text string, n int, encoded bool) []byte {
	v := vector(text, n)
	if encoded {
		raw := make([]byte, 0, 4*len(v))
		for _, f := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, raw)
		return append(b, '"')
	}
	b = append(b, '[')
	for i, f := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(f), 'g', -1, 32)
	}
	return append(b, ']')
}

func vector(text string, n int) []float32 {
	h := fnv.New64a()
	h.Write([]byte(text)) //nolint:gosec // a hash never fails to write
	d := dice{state: h.Sum64()}
	raw := make([]float64, n)
	sum := 0.0
	for i := range raw {
		raw[i] = 2*float64(d.next()>>11)/(1<<53) - 1
		sum += raw[i] * raw[i]
	}
	scale := 1 / math.Sqrt(max(sum, math.SmallestNonzeroFloat32))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(raw[i] * scale)
	}
	return out
}
