package translate

import (
	"strings"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/responses"
)

// decodeResponsesAnswer reads a whole answer.
func decodeResponsesAnswer(body []byte, r *Request, _ *Upstream) (*Answer, error) {
	checked, err := responses.CheckAnswer(responses.Create, body)
	if err != nil {
		return nil, err
	}
	if checked.Status == "queued" || checked.Status == "in_progress" {
		return nil, fault.Undecodable("the answer is not finished")
	}
	d := responsesAnswerDecoder{reader: newAnswerReader(body), r: r, a: &Answer{Usage: responsesUsage(checked.Usage)}}
	d.object(d.member)
	d.a.End = responsesEnd(checked.Status, checked.Reason, d.a.Parts)
	return d.a, nil
}

func responsesUsage(u responses.Usage) Usage {
	return Usage{
		Input: u.InputTokens, Output: u.OutputTokens, Cached: u.CachedTokens, CacheWrite: u.CacheWriteTokens,
		Reasoning: u.ReasoningTokens, Known: u.Known,
	}
}

// responsesEnd returns the end of an answer. The protocol has no word for one
// that ends to have tools called, or that is a refusal.
func responsesEnd(status, reason string, parts []Part) End {
	end := End{Finish: FinishStop, Reason: status}
	if status == "incomplete" {
		end.Reason = reason
		switch reason {
		case "content_filter":
			end.Finish = FinishFilter
		default:
			end.Finish = FinishLength
		}
		return end
	}
	for i := range parts {
		if parts[i].Kind == KindCall {
			end.Finish = FinishCalls
			return end
		}
	}
	return end
}

// responsesAnswerDecoder reads an answer.
type responsesAnswerDecoder struct {
	*reader
	r *Request
	a *Answer
}

func (d *responsesAnswerDecoder) member() {
	switch string(d.Key()) {
	case "id":
		d.a.ID = d.text()
	case "created_at":
		d.a.Created = d.tokens()
	case "output":
		d.array(func(int) {
			it := readOutputItem(d.reader)
			d.a.Parts = it.appendParts(d.a.Parts, d.r)
		})
	}
}

// outputItem is an item of an output.
type outputItem struct {
	kind, id     string
	callID, name string
	arguments    string // of a call of either kind
	content      []Part // of a message
	thoughts     []string
	encrypted    string
	image        string // base64
	imageFormat  string
}

// readOutputItem takes an item, whose members may stand in any order.
func readOutputItem(r *reader) *outputItem {
	it := &outputItem{}
	r.object(func() {
		switch string(r.Key()) {
		case "type":
			it.kind = r.text()
		case "id":
			it.id = r.text()
		case "call_id":
			it.callID = r.text()
		case "name":
			it.name = r.text()
		case "arguments", "input":
			it.arguments = r.text()
		case "encrypted_content":
			it.encrypted = r.text()
		case "result":
			it.image = r.text()
		case "output_format":
			it.imageFormat = r.text()
		case "content", "summary":
			list := string(r.Key())
			r.array(func(int) { it.part(r, list) })
		}
	})
	return it
}

// part takes a part of a message or of what the model thought.
func (it *outputItem) part(r *reader, list string) {
	var kind, text string
	r.object(func() {
		switch string(r.Key()) {
		case "type":
			kind = r.text()
		case "text", "refusal":
			text = r.text()
		}
	})
	switch {
	case kind == "refusal":
		it.content = append(it.content, Part{Kind: KindRefusal, Text: text})
	case list == "summary" || kind == "reasoning_text":
		it.thoughts = append(it.thoughts, text)
	case text != "":
		it.content = append(it.content, Part{Kind: KindText, Text: text})
	}
}

// appendParts appends what an item is to parts; nothing for what a tool of the
// upstream's own did.
func (it *outputItem) appendParts(parts []Part, r *Request) []Part {
	switch it.kind {
	case "message":
		return append(parts, it.content...)
	case "reasoning":
		p := Part{Kind: KindReasoning, Text: strings.Join(it.thoughts, reasoningBreak), Signature: openAISignature(it.id, it.encrypted)}
		p.Redacted = p.Text == ""
		if p.Redacted && p.Signature.Data == "" {
			return parts
		}
		return append(parts, p)
	case "function_call", "custom_tool_call":
		return append(parts, Part{Kind: KindCall, Call: it.call(r)})
	case "image_generation_call":
		if it.image == "" {
			return parts
		}
		return append(parts, Part{Kind: KindImage, Media: it.media()})
	}
	return parts
}

// call returns the call that the item is.
func (it *outputItem) call(r *Request) Call {
	c := Call{ID: it.callID, Name: it.name, Arguments: it.arguments}
	if c.ID == "" {
		c.ID = it.id
	}
	resolveCall(&c, r, fitOpenAIName)
	c.Custom = c.Custom || it.kind == "custom_tool_call"
	if c.Custom && it.kind == "function_call" {
		c.Arguments = unwrapCustom(c.Arguments) // the upstream made a function of the tool
	}
	return c
}

func (it *outputItem) media() Media {
	format := it.imageFormat
	if format == "" {
		format = "png"
	}
	return Media{Data: it.image, MIME: "image/" + format}
}

func openAISignature(id, encrypted string) Signature {
	if encrypted == "" {
		return Signature{}
	}
	return Signature{Origin: OriginOpenAI, ID: id, Data: encrypted}
}
