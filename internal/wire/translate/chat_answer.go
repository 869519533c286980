package translate

import (
	"hash/fnv"
	"strconv"
	"strings"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
)

// decodeChatAnswer reads the first choice of an answer; the gateway asks for
// one. The package of the protocol mends what services do differently.
func decodeChatAnswer(body []byte, r *Request, up *Upstream) (*Answer, error) {
	checked, err := openai.CheckAnswer(openai.Chat, body)
	if err != nil {
		return nil, err
	}
	if up.ThinkTags {
		checked.SplitThinking(body)
	}
	d := chatAnswer{reader: newAnswerReader(checked.AppendWithModel(nil, body, "")), r: r}
	a := &Answer{Usage: chatUsage(checked.Usage)}
	d.object(func() {
		switch string(d.Key()) {
		case "id":
			a.ID = d.text()
		case "created":
			a.Created = d.tokens()
		case "usage":
			d.audioTokens(&a.Usage)
		case "choices":
			d.array(func(i int) {
				if i == 0 {
					d.object(d.choice)
				}
			})
		}
	})
	if err := d.finish(); err != nil {
		return nil, fault.Undecodable("%v", err)
	}
	a.Parts = d.parts()
	a.End = End{Finish: chatFinish(d.reason, len(d.calls) > 0), Reason: d.reason}
	return a, nil
}

// audioTokens reads the tokens of sound in a usage.
func (r *reader) audioTokens(u *Usage) {
	r.object(func() {
		into := &u.InputAudio
		switch string(r.Key()) {
		case "prompt_tokens_details":
		case "completion_tokens_details":
			into = &u.OutputAudio
		default:
			return
		}
		r.object(func() {
			if string(r.Key()) == "audio_tokens" {
				*into = r.tokens()
			}
		})
	})
}

// chatAnswer is the message of an answer, or the delta of a chunk, as it is
// read.
type chatAnswer struct {
	*reader
	r      *Request
	reason string

	content, refusal string
	thoughts         chatThoughts
	calls            []chatCall
	images           []Part
	signature        Signature

	halves *[3]pieces // of a stream: content, reasoning, refusal
	args   func(index int64) *pieces
}

// chatCall is a call, or a piece of one.
type chatCall struct {
	index     int64
	call      Call
	signature Signature
}

func (d *chatAnswer) choice() {
	switch string(d.Key()) {
	case "finish_reason":
		d.reason = d.text()
	case "message", "delta":
		d.object(d.message)
	}
}

// piece takes a text that may be a piece of one.
func (d *chatAnswer) piece(i int) string {
	if d.halves == nil {
		return d.text()
	}
	return d.halves[i].text(d.reader)
}

func (d *chatAnswer) message() {
	switch string(d.Key()) {
	case "content":
		d.content = d.piece(0)
	case "reasoning_content", "reasoning":
		if said := d.piece(1); said != "" {
			d.thoughts.plain = said
		}
	case "refusal":
		d.refusal = d.piece(2)
	case "reasoning_details":
		d.array(func(int) { d.thoughts.detail(d.reader) })
	case "tool_calls":
		d.array(func(i int) { d.call(int64(i)) })
	case "images":
		d.array(func(int) { d.image() })
	case "extra_content":
		d.signature = d.extraContent()
	}
}

func (d *chatAnswer) call(index int64) {
	c := chatCall{index: index}
	arguments := func() {
		switch string(d.Key()) {
		case "name":
			c.call.Name = d.text()
		case "arguments", "input":
			if d.args == nil {
				c.call.Arguments = d.text()
			} else {
				c.call.Arguments = d.args(c.index).text(d.reader)
			}
		}
	}
	d.object(func() {
		switch string(d.Key()) {
		case "index":
			c.index = d.tokens()
		case "id":
			c.call.ID = d.text()
		case "function":
			d.object(arguments)
		case "custom":
			c.call.Custom = true
			d.object(arguments)
		case "extra_content":
			c.signature = d.extraContent()
		}
	})
	d.calls = append(d.calls, c)
}

// image reads an image that the model made, in OpenRouter's form.
func (d *chatAnswer) image() {
	var m Media
	d.object(func() {
		if string(d.Key()) != "image_url" {
			return
		}
		d.object(func() {
			if string(d.Key()) == "url" {
				m.URL = d.text()
			}
		})
	})
	if mime, data, ok := cutDataURL(m.URL); ok {
		m = Media{MIME: mime, Data: data}
	}
	if m.URL != "" || m.Data != "" {
		d.images = append(d.images, Part{Kind: KindImage, Media: m})
	}
}

// parts returns the parts of a whole message in order.
func (d *chatAnswer) parts() []Part {
	parts := d.thoughts.all()
	if d.content != "" {
		parts = append(parts, Part{Kind: KindText, Text: d.content, Signature: d.signature})
	}
	if d.refusal != "" {
		parts = append(parts, Part{Kind: KindRefusal, Text: d.refusal})
	}
	parts = append(parts, d.images...)
	for i := range d.calls {
		c := &d.calls[i]
		if c.signature.Data == "" {
			c.signature = d.thoughts.ofCall(c.call.ID)
		}
		native := c.call.Custom
		resolveCall(&c.call, d.r, fitOpenAIName)
		if c.call.Custom && !native {
			c.call.Arguments = unwrapCustom(c.call.Arguments)
		}
		parts = append(parts, Part{Kind: KindCall, Call: c.call, Signature: c.signature})
	}
	return parts
}

// encodeChatAnswer writes an answer for a client.
func encodeChatAnswer(dst []byte, a *Answer, r *Request, model string) []byte {
	w := writer{b: append(dst, '{')}
	w.key("id")
	w.text(chatID(a))
	w.textMember("object", "chat.completion")
	w.key("created")
	w.integer(a.Created)
	w.key("model")
	w.text(model)
	w.raw([]byte(`"choices":[{"index":0,"message":{"role":"assistant"`))
	w.chatMessage(a.Parts, r)
	w.close('}')
	w.raw([]byte(`"logprobs":null,"finish_reason":`))
	w.text(chatReason(a.End.Finish))
	w.close('}', ']')
	if a.Usage.Known {
		w.key("usage")
		w.chatUsage(&a.Usage)
	}
	w.close('}')
	return w.b
}

// chatID returns the id of an answer: the upstream's, or one made of what the
// answer says.
func chatID(a *Answer) string {
	if a.ID != "" {
		return a.ID
	}
	h := fnv.New64a()
	for i := range a.Parts {
		_, _ = h.Write([]byte(a.Parts[i].Text + a.Parts[i].Call.ID + a.Parts[i].Call.Arguments))
	}
	return "chatcmpl-" + strconv.FormatUint(h.Sum64(), 36)
}

// chatMessage writes the members of a message that come from the parts of an
// answer.
func (w *writer) chatMessage(parts []Part, r *Request) {
	var said, thought, refusal strings.Builder
	var signature Signature
	var calls, images, details bool
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case KindText:
			said.WriteString(p.Text)
			signature = p.Signature
		case KindReasoning:
			thought.WriteString(p.Text)
			details = details || p.Signature.Data != ""
		case KindRefusal:
			refusal.WriteString(p.Text)
		case KindCall:
			calls = true
		case KindImage:
			images = true
		case KindAudio, KindVideo, KindDocument, KindResult:
		}
	}
	w.key("content")
	if said.Len() > 0 || !calls && refusal.Len() == 0 {
		w.text(said.String())
	} else {
		w.raw([]byte("null"))
	}
	w.key("refusal")
	if refusal.Len() > 0 {
		w.text(refusal.String())
	} else {
		w.raw([]byte("null"))
	}
	if r.Thinking.Summary != "none" {
		w.textMember("reasoning_content", thought.String())
	}
	if details {
		w.list("reasoning_details", parts, KindReasoning, func(p *Part, n int) int { return w.reasoningDetails(p, n) })
	}
	w.extraContent(signature)
	if images {
		w.list("images", parts, KindImage, func(p *Part, _ int) int { return w.chatImage(p) })
	}
	if calls {
		w.list("tool_calls", parts, KindCall, func(p *Part, _ int) int { return w.chatCall(p) })
	}
}

// list writes a member that is a list of the parts of a kind; each tells how many
// elements it made of a part, of which it is told how many there are.
func (w *writer) list(name string, parts []Part, kind Kind, each func(p *Part, n int) int) {
	w.key(name)
	w.open('[')
	n := 0
	for i := range parts {
		if parts[i].Kind == kind {
			n += each(&parts[i], n)
		}
	}
	w.close(']')
}

func (w *writer) chatCall(p *Part) int {
	kind, input := "function", "arguments"
	if p.Call.Custom {
		kind, input = "custom", "input"
	}
	w.open('{')
	w.key("id")
	w.text(p.Call.ID)
	w.textMember("type", kind)
	w.key(kind)
	w.open('{')
	w.key("name")
	w.text(p.Call.Name)
	w.key(input)
	w.text(p.Call.Arguments)
	w.close('}')
	w.extraContent(p.Signature)
	w.close('}')
	return 1
}

func (w *writer) chatImage(p *Part) int {
	url := p.Media.URL
	if p.Media.Data != "" {
		url = dataURL(&p.Media, imageType(p.Media.Data))
	}
	w.open('{')
	w.textMember("type", "image_url")
	w.key("image_url")
	w.open('{')
	w.key("url")
	w.text(url)
	w.close('}', '}')
	return 1
}
