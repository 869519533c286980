package openai

import "gatewright/internal/wire/scan"

// field takes the value of field f, the member with the given index. A value
// that is null counts as absent everywhere.
func (s *requestScan) field(f, index int) (err error) {
	s.Kind() // brings the position to the value
	r, start := s.r, s.Pos()
	switch {
	case s.Null():
		if f == fieldStreamOptions {
			r.options = span{start, s.Pos()}
		}
	case f >= fieldDisableFallbacks:
		err = s.identity(f)
	default:
		err = s.control(f)
	}
	if into := r.place(f); into != nil {
		*into = scan.Member{Index: index, KeyStart: s.KeyStart(), Start: start, End: s.Pos()}
	}
	switch f {
	case fieldModel:
		r.model = span{start, s.Pos()}
	case fieldInput:
		r.input = span{start, s.Pos()}
	}
	return err
}

// place returns where the place of a field is remembered whose member may have
// to go, nil for the others.
func (r *Request) place(f int) *scan.Member {
	switch f {
	case fieldStreamOptions:
		return &r.optionsMember
	case fieldMaxTokens:
		return &r.maxTokens
	case fieldMaxCompletionTokens:
		return &r.maxNewTokens
	case fieldEncodingFormat:
		return &r.encoding
	case fieldDisableFallbacks, fieldLitellmSessionID:
		r.owns++
		return &r.own[r.owns-1]
	}
	return nil
}

// control takes the fields that say what is asked for.
func (s *requestScan) control(f int) (err error) {
	r := s.r
	switch f {
	case fieldModel:
		err = s.TakeText("model", &r.Model)
	case fieldInput:
		err = s.inputField()
	case fieldStream:
		err = s.TakeFlag("stream", &r.Stream)
	case fieldStreamOptions:
		err = s.streamOptions()
	case fieldN:
		var n int64
		err = s.TakeInteger("n", 1, MaxChoices, &n)
		r.N = int(n)
	case fieldMaxTokens:
		err = s.TakeInteger("max_tokens", s.leastOutput(), MaxOutput, &s.maxTokens)
	case fieldMaxCompletionTokens:
		err = s.TakeInteger("max_completion_tokens", 1, MaxOutput, &s.maxCompletionTokens)
	case fieldTools, fieldFunctions:
		err = s.tools(f)
	case fieldResponseFormat:
		err = s.responseFormat()
	case fieldReasoningEffort:
		var effort string
		err = s.TakeText("reasoning_effort", &effort)
		r.Reasoning = effort != "" && effort != "none"
	case fieldModalities:
		s.modalities()
	case fieldEncodingFormat:
		err = s.TakeText("encoding_format", &r.EncodingFormat)
	}
	return err
}

// identity takes the fields that say who asks, and the gateway's own.
func (s *requestScan) identity(f int) error {
	r := s.r
	switch f {
	case fieldDisableFallbacks:
		return s.TakeFlag("disable_fallbacks", &r.DisableFallbacks)
	case fieldPromptCacheKey:
		return s.TakeText("prompt_cache_key", &r.PromptCacheKey)
	case fieldSessionID:
		return s.TakeText("session_id", &r.SessionID)
	case fieldLitellmSessionID:
		return s.TakeText("litellm_session_id", &r.LitellmSessionID)
	case fieldUser:
		return s.TakeText("user", &r.User)
	case fieldSafetyIdentifier:
		return s.TakeText("safety_identifier", &s.safetyIdentifier)
	case fieldMetadata:
		s.metadata()
	}
	return nil
}

// leastOutput is the smallest max_tokens: a completion of no tokens is how
// prompts are scored.
func (s *requestScan) leastOutput() int64 {
	if s.e == Completions {
		return 0
	}
	return 1
}

// streamOptions takes stream_options and remembers where include_usage is or
// belongs.
func (s *requestScan) streamOptions() error {
	const param = "stream_options"
	if err := s.Object(param); err != nil {
		return err
	}
	s.r.optionsOpen, s.r.optionsBare = s.Pos(), true
	for s.Member() {
		s.r.optionsBare = false
		if string(s.Key()) != "include_usage" {
			continue
		}
		const param = "stream_options.include_usage"
		if s.r.usage.there() {
			return s.Twice(param)
		}
		s.Kind() // brings the position to the value
		start := s.Pos()
		if !s.Null() {
			if err := s.TakeFlag(param, &s.r.IncludeUsage); err != nil {
				return err
			}
		}
		s.r.usage = span{start, s.Pos()}
	}
	return nil
}

func (s *requestScan) responseFormat() error {
	if err := s.Object("response_format"); err != nil {
		return err
	}
	for s.Member() {
		if string(s.Key()) == "type" {
			raw, _, ok := s.Text()
			s.r.JSONSchema = ok && string(raw) == "json_schema"
		}
	}
	return nil
}

// modalities takes the kinds of output that are asked for.
func (s *requestScan) modalities() {
	if !s.EnterArray() {
		return
	}
	for s.Element() {
		if raw, _, ok := s.Text(); ok && string(raw) == "audio" {
			s.r.Audio = true
		}
	}
}

// tools takes tools or functions: whether there are any, their names, and the
// text in them.
func (s *requestScan) tools(f int) error {
	param := "tools"
	if f == fieldFunctions {
		param = "functions"
	}
	before := s.StringBytes()
	if err := s.Array(param); err != nil {
		return err
	}
	for s.Element() {
		s.r.Tools = true
		s.tool(1)
	}
	s.r.TextBytes += s.StringBytes() - before
	return nil
}

// tool takes one tool: {type, function: {name, …}}, {type, custom: {name, …}}
// or {name, …}.
func (s *requestScan) tool(levels int) {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		switch string(s.Key()) {
		case "name":
			if raw, _, ok := s.Text(); ok {
				s.r.opening.Tools.Add(raw)
			}
		case "function", "custom":
			if levels > 0 {
				s.tool(levels - 1)
			}
		}
	}
}
