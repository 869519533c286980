package translate

import (
	"hash/fnv"
	"strconv"
	"strings"

	"gatewright/internal/wire/gemini"
)

// decodeGeminiAnswer reads the first candidate of an answer; the gateway asks
// for one.
func decodeGeminiAnswer(body []byte, r *Request, _ *Upstream) (*Answer, error) {
	read, err := gemini.CheckAnswer(body)
	if err != nil {
		return nil, err
	}
	a := &Answer{ID: read.ID, Usage: geminiUsage(read.Usage)}
	if len(read.Candidates) == 0 {
		a.End = End{Finish: FinishFilter, Reason: read.BlockReason}
		if read.BlockMessage != "" {
			a.Parts = []Part{{Kind: KindRefusal, Text: read.BlockMessage}}
		}
		return a, nil
	}
	one := &read.Candidates[0]
	m := geminiMapper{r: r, id: read.ID}
	if m.id == "" {
		m.id = string(body)
	}
	for i := range one.Parts {
		m.add(&a.Parts, &one.Parts[i])
	}
	a.End = geminiEnd(one.Reason, m.calls > 0)
	if a.End.Finish == FinishFilter && one.Message != "" {
		a.Parts = append(a.Parts, Part{Kind: KindRefusal, Text: one.Message})
	}
	return a, nil
}

func geminiUsage(u gemini.Usage) Usage {
	return Usage{
		Input: u.InputTokens, Output: u.OutputTokens, Cached: u.CachedTokens, Reasoning: u.ReasoningTokens,
		InputAudio: u.InputAudioTokens, OutputAudio: u.OutputAudioTokens, Known: u.Known,
	}
}

// geminiEnd returns the end of an answer. The protocol has no word for an answer
// that ends to have functions called.
func geminiEnd(reason string, calls bool) End {
	end := End{Finish: FinishStop, Reason: reason}
	switch gemini.FinishOf(reason) {
	case gemini.FinishLength:
		end.Finish = FinishLength
	case gemini.FinishPolicy:
		end.Finish = FinishFilter
	case gemini.FinishNone, gemini.FinishStop, gemini.FinishMalformed, gemini.FinishOther:
		if calls {
			end.Finish = FinishCalls
		}
	}
	return end
}

// geminiMapper turns parts of an answer into neutral ones.
type geminiMapper struct {
	r     *Request
	id    string // of the answer: what made-up ids of calls are made of
	calls int
}

// add appends a part to list. Texts side by side become one, and a signature
// that came with nothing belongs to the text before it.
func (m *geminiMapper) add(list *[]Part, p *gemini.Part) {
	signature := googleSignature(p.Signature)
	var last *Part
	if n := len(*list); n > 0 {
		last = &(*list)[n-1]
	}
	switch kind := geminiTextKind(p); {
	case kind == KindText || kind == KindReasoning:
		if last != nil && goesOn(last, kind, p.Text) {
			last.Text += p.Text
			last.Signature = signature
			return
		}
		if p.Text == "" && signature.Data == "" {
			return
		}
		if p.Text == "" {
			*list = append(*list, Part{Kind: KindReasoning, Redacted: true, Signature: signature})
			return
		}
		*list = append(*list, Part{Kind: kind, Text: p.Text, Signature: signature})
	case p.Kind == gemini.PartOther:
		// What a tool of the upstream's own did; no tool of that kind is offered.
	default:
		one := m.whole(p)
		one.Signature = signature
		*list = append(*list, one)
	}
}

// goesOn reports whether a text continues the part before it.
func goesOn(last *Part, kind Kind, text string) bool {
	isText := last.Kind == KindText || last.Kind == KindReasoning && !last.Redacted
	return isText && last.Signature.Data == "" && (last.Kind == kind || text == "")
}

// geminiTextKind returns the kind of a part that is a text or holds no more than
// a signature, and KindCall for any other.
func geminiTextKind(p *gemini.Part) Kind {
	switch p.Kind {
	case gemini.PartNothing, gemini.PartText:
		return KindText
	case gemini.PartThought:
		return KindReasoning
	case gemini.PartCall, gemini.PartBlob, gemini.PartFile, gemini.PartOther:
	}
	return KindCall
}

func googleSignature(data string) Signature {
	if data == "" {
		return Signature{}
	}
	return Signature{Origin: OriginGoogle, Data: data}
}

// whole returns a call or a medium.
func (m *geminiMapper) whole(p *gemini.Part) Part {
	if p.Kind != gemini.PartCall {
		return geminiMedia(p)
	}
	call := Call{ID: p.Call.ID, Name: p.Call.Name, Arguments: string(p.Call.Args)}
	if call.ID == "" {
		call.ID = madeUpCallID(m.id, m.calls)
	}
	m.calls++
	resolveCall(&call, m.r, fitGeminiName)
	if call.Custom {
		call.Arguments = unwrapCustom(call.Arguments)
	}
	return Part{Kind: KindCall, Call: call}
}

// madeUpCallID returns an id for a call that came without one: another one for
// each call of each answer, and always the same for the same.
func madeUpCallID(answer string, index int) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(answer + "\x00" + strconv.Itoa(index)))
	return "call_" + strconv.FormatUint(h.Sum64(), 36)
}

func geminiMedia(p *gemini.Part) Part {
	kind := KindDocument
	switch family, _, _ := strings.Cut(p.MIME, "/"); family {
	case "image":
		kind = KindImage
	case "audio":
		kind = KindAudio
	case "video":
		kind = KindVideo
	}
	return Part{Kind: kind, Media: Media{Data: p.Data, URL: p.URI, MIME: p.MIME}}
}
