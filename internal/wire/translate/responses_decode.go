package translate

import (
	"slices"

	"gatewright/internal/wire/scan"
)

// responsesCodec returns the codec of OpenAI's Responses: of the part of the
// protocol that needs no state at the upstream.
func responsesCodec() Codec {
	return Codec{
		Protocol:      Responses,
		DecodeRequest: decodeResponsesRequest,
		EncodeRequest: encodeResponsesRequest,
		DecodeAnswer:  decodeResponsesAnswer,
		EncodeAnswer:  encodeResponsesAnswer,
		NewDecoder:    newResponsesDecoder,
		NewEncoder:    newResponsesEncoder,
	}
}

// decodeResponsesRequest reads a request. Refused is what only an upstream of
// the protocol itself can do: go on from what it keeps (previous_response_id,
// conversation, prompt, references to items), answer later (background), manage
// the context, and items of tools that it runs where the model must see them.
func decodeResponsesRequest(body []byte) (*Request, []Loss, error) {
	d := responsesRequestDecoder{reader: newReader(body), r: &Request{IncludeUsage: true}, names: map[string]string{}}
	d.object(d.member)
	if err := d.finish(); err != nil {
		return nil, nil, err
	}
	if d.r.Model == "" {
		return nil, nil, invalid("model", "is missing; name the model to use")
	}
	if len(d.r.Turns) == 0 && len(d.input) == 0 {
		return nil, nil, invalid("input", "is missing; it is what the model answers to")
	}
	d.r.System = slices.Concat(d.instructions, d.input)
	return d.r, d.losses, nil
}

// responsesRequestDecoder reads one request.
type responsesRequestDecoder struct {
	*reader
	r *Request

	instructions []Part            // instructions
	input        []Part            // developer and system messages that open the input
	names        map[string]string // of tools, by the ids of their calls
}

// Why fields are lost that many requests hold.
const (
	whyNoState = "the answer is not kept for later"

	whyNoLogprobs = "an upstream of another protocol tells no probabilities"
	maxLogprobs   = 20
)

func (d *responsesRequestDecoder) member() {
	if d.said() || d.asked() {
		return
	}
	switch key := string(d.Key()); key {
	case "previous_response_id", "conversation", "prompt":
		d.unsupported("only the upstream that keeps it can go on from it; send the whole conversation as input")
	case "background":
		if d.flag() {
			d.unsupported("an upstream of another protocol cannot answer later; leave it out")
		}
	case "context_management":
		d.unsupported("an upstream of another protocol does not manage the context")
	case "store":
		if d.flag() {
			d.lose(whyNoState)
		}
	case "truncation":
		if d.text() != "disabled" {
			d.lose("an upstream of another protocol does not shorten the input")
		}
	case "max_tool_calls":
		d.drop("it counts calls of tools that the upstream runs")
	case "include":
		d.array(func(int) { d.included() })
	case "top_logprobs":
		if d.integer(0, maxLogprobs) > 0 {
			d.unsupported(whyNoLogprobs)
		}
	case "stream_options", "client_metadata", "prompt_cache_retention", "prompt_cache_options", "moderation":
		d.drop("other protocols have no such setting")
	case "disable_fallbacks", "session_id", "litellm_session_id":
		d.Skip() // the gateway's own
	default:
		d.unknown()
	}
}

// included takes one of the things that the answer is to hold beside itself.
func (d *responsesRequestDecoder) included() {
	switch d.text() {
	case "reasoning.encrypted_content": // as far as the upstream signs what it thinks
	case "message.output_text.logprobs":
		d.unsupported(whyNoLogprobs)
	default:
		d.lose("the upstream does not give it")
	}
}

// said takes the fields that hold what the model reads.
func (d *responsesRequestDecoder) said() bool {
	switch string(d.Key()) {
	case "instructions":
		d.instructions = append(d.instructions, Part{Kind: KindText, Text: d.text()})
	case "input":
		d.inputField()
	case "tools":
		d.array(func(int) { d.tool() })
	case "tool_choice":
		d.choice()
	default:
		return false
	}
	return true
}

// asked takes the fields that say how the model is to answer.
func (d *responsesRequestDecoder) asked() bool {
	const most = 1_000_000_000
	r := d.r
	switch string(d.Key()) {
	case "model":
		r.Model = d.text()
	case "parallel_tool_calls":
		r.Serial = !d.flag()
	case "max_output_tokens":
		r.MaxOutput = d.integer(1, most)
	case "temperature":
		r.Sampling.Temperature = d.float()
	case "top_p":
		r.Sampling.TopP = d.float()
	case "reasoning":
		d.object(d.reasoning)
	case "text":
		d.object(d.textOptions)
	case "stream":
		r.Stream = d.flag()
	case "safety_identifier":
		r.User = d.text()
	case "user":
		if user := d.text(); r.User == "" {
			r.User = user
		}
	case "prompt_cache_key":
		r.CacheKey = d.text()
	case "service_tier":
		r.Tier = d.text()
	case "metadata":
		r.Metadata = map[string]string{}
		d.object(func() {
			key := string(d.Key())
			r.Metadata[key] = d.text()
		})
	default:
		return false
	}
	return true
}

func (d *responsesRequestDecoder) reasoning() {
	switch string(d.Key()) {
	case "effort":
		d.r.Thinking.Effort = Effort(d.text())
	case "summary", "generate_summary":
		d.r.Thinking.Summary = d.text()
	default:
		d.unknown()
	}
}

func (d *responsesRequestDecoder) textOptions() {
	switch string(d.Key()) {
	case "verbosity":
		d.r.Verbosity = d.text()
	case "format":
		d.format()
	default:
		d.unknown()
	}
}

func (d *responsesRequestDecoder) format() {
	f := &d.r.Format
	d.object(func() {
		switch string(d.Key()) {
		case "type":
			switch kind := d.text(); kind {
			case "text":
			case "json_object":
				f.Kind = FormatJSON
			case "json_schema":
				f.Kind = FormatSchema
			default:
				d.unsupported("no other protocol has the format %.40q", kind)
			}
		case "name":
			f.Name = d.text()
		case "description":
			f.Description = d.text()
		case "schema":
			f.Schema = d.raw()
		case "strict":
			strict := d.flag()
			f.Strict = &strict
		default:
			d.unknown()
		}
	})
}

// tool takes a tool: a function, one that takes free text, or one of the
// upstream's own, of which only the type matters.
func (d *responsesRequestDecoder) tool() {
	var t Tool
	d.object(func() {
		switch string(d.Key()) {
		case "type":
			t.Type = d.text()
		case "name":
			t.Name = d.text()
		case "description":
			t.Description = d.text()
		case "parameters":
			t.Schema = d.raw()
		case "strict":
			strict := d.flag()
			t.Strict = &strict
		case "format":
			t.Grammar = d.raw()
		default:
			d.Skip()
			if t.Type == "function" || t.Type == "custom" {
				d.lose("not known to the translation")
			}
		}
	})
	switch t.Type {
	case "function":
		t.Kind, t.Type = ToolFunction, ""
	case "custom":
		t.Kind, t.Type = ToolCustom, ""
		if formatType(t.Grammar) == "text" {
			t.Grammar = nil // any text, which is what none means
		}
	case "":
		d.invalid("%q is missing", "type")
	default:
		t = Tool{Kind: ToolServer, Type: t.Type, Name: t.Type}
	}
	d.r.Tools = append(d.r.Tools, t)
}

// formatType returns the type of the format of a custom tool's input.
func formatType(raw []byte) (kind string) {
	r := newAnswerReader(raw)
	if r.Kind() == scan.KindObject {
		r.object(func() {
			if string(r.Key()) == "type" {
				kind = r.text()
			}
		})
	}
	return kind
}

// choice takes tool_choice: a mode, a tool, or the tools that are allowed.
func (d *responsesRequestDecoder) choice() {
	c := &d.r.ToolChoice
	if mode, isMode := d.choiceMode(); isMode {
		c.Mode = mode
		return
	}
	var kind, name, mode string
	d.object(func() {
		switch string(d.Key()) {
		case "type":
			kind = d.text()
		case "name":
			name = d.text()
		case "mode":
			mode = d.text()
		case "tools":
			d.array(func(int) { d.allowed() })
		default:
			d.unknown()
		}
	})
	switch kind {
	case "allowed_tools":
		c.Mode = ChoiceAuto
		if mode == "required" {
			c.Mode = ChoiceRequired
		}
	case "function", "custom":
		c.Mode, c.Name = ChoiceTool, name
	default:
		c.Mode, c.Name = ChoiceTool, kind // a tool of the upstream's own
	}
}

func (d *responsesRequestDecoder) choiceMode() (mode ChoiceMode, ok bool) {
	raw, _, ok := d.Text()
	if !ok {
		return 0, false
	}
	switch string(raw) {
	case "auto":
		mode = ChoiceAuto
	case "none":
		mode = ChoiceNone
	case "required":
		mode = ChoiceRequired
	default:
		d.invalid("must be auto, none, required or a tool, not %.40q", raw)
	}
	return mode, true
}

// allowed takes one of the tools that are allowed.
func (d *responsesRequestDecoder) allowed() {
	var kind, name string
	d.object(func() {
		switch string(d.Key()) {
		case "type":
			kind = d.text()
		case "name":
			name = d.text()
		default:
			d.unknown()
		}
	})
	if name == "" {
		name = kind
	}
	d.r.ToolChoice.Allowed = append(d.r.ToolChoice.Allowed, name)
}
