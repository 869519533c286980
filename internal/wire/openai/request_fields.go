package openai

import (
	"fmt"
	"strconv"

	"gatewright/internal/wire/scan"
)

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
		err = s.text("model", &r.Model)
	case fieldInput:
		err = s.inputField()
	case fieldStream:
		err = s.flag("stream", &r.Stream)
	case fieldStreamOptions:
		err = s.streamOptions()
	case fieldN:
		var n int64
		err = s.number("n", 1, MaxChoices, &n)
		r.N = int(n)
	case fieldMaxTokens:
		err = s.number("max_tokens", s.leastOutput(), MaxOutput, &s.maxTokens)
	case fieldMaxCompletionTokens:
		err = s.number("max_completion_tokens", 1, MaxOutput, &s.maxCompletionTokens)
	case fieldTools, fieldFunctions:
		err = s.tools(f)
	case fieldResponseFormat:
		err = s.responseFormat()
	case fieldReasoningEffort:
		var effort string
		err = s.text("reasoning_effort", &effort)
		r.Reasoning = effort != "" && effort != "none"
	case fieldModalities:
		s.modalities()
	case fieldEncodingFormat:
		err = s.text("encoding_format", &r.EncodingFormat)
	}
	return err
}

// identity takes the fields that say who asks, and the gateway's own.
func (s *requestScan) identity(f int) error {
	r := s.r
	switch f {
	case fieldDisableFallbacks:
		return s.flag("disable_fallbacks", &r.DisableFallbacks)
	case fieldPromptCacheKey:
		return s.text("prompt_cache_key", &r.PromptCacheKey)
	case fieldSessionID:
		return s.text("session_id", &r.SessionID)
	case fieldLitellmSessionID:
		return s.text("litellm_session_id", &r.LitellmSessionID)
	case fieldUser:
		return s.text("user", &r.User)
	case fieldSafetyIdentifier:
		return s.text("safety_identifier", &s.safetyIdentifier)
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

// wrongType is the error for a value that is due and not what it should be.
func (s *requestScan) wrongType(param, want string) error {
	kind := s.Kind()
	if s.Err() != nil || kind == scan.KindInvalid {
		return jsonError(s.Close())
	}
	return &RequestError{Param: param, Code: CodeType, Message: fmt.Sprintf("%q must be %s, not %s", param, want, kind)}
}

func (s *requestScan) text(param string, into *string) error {
	raw, decoded, ok := s.Text()
	if !ok {
		return s.wrongType(param, "a string")
	}
	text, err := scan.Text(raw, decoded)
	if err != nil {
		return &RequestError{Param: param, Code: CodeValue, Message: fmt.Sprintf("%q: the %v", param, err)}
	}
	*into = text
	return nil
}

func (s *requestScan) flag(param string, into *bool) error {
	value, ok := s.Bool()
	if !ok {
		return s.wrongType(param, "true or false")
	}
	*into = value
	return nil
}

func (s *requestScan) number(param string, least, most int64, into *int64) error {
	if s.Kind() != scan.KindNumber {
		return s.wrongType(param, "an integer")
	}
	raw := s.Raw()
	n, whole := integer(raw)
	if s.Err() != nil {
		return jsonError(s.Err())
	}
	if !whole || n < least || n > most {
		return &RequestError{
			Param: param, Code: CodeValue,
			Message: fmt.Sprintf("%q must be an integer from %d to %d, not %.40s", param, least, most, raw),
		}
	}
	*into = n
	return nil
}

// integer returns the value of a JSON number that is a whole one, in whatever
// form: 512, 512.0 and 5.12e2 are the same.
func integer(raw []byte) (n int64, whole bool) {
	const longest = 40 // bytes; no number in bounds needs more
	if len(raw) == 0 || len(raw) > longest {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	const exact = 1 << 53
	if err != nil || f != float64(int64(f)) || f > exact || f < -exact {
		return 0, false
	}
	return int64(f), true
}

// streamOptions takes stream_options and remembers where include_usage is or
// belongs.
func (s *requestScan) streamOptions() error {
	const param = "stream_options"
	if !s.EnterObject() {
		return s.wrongType(param, "an object")
	}
	s.r.optionsOpen, s.r.optionsBare = s.Pos(), true
	for s.Member() {
		s.r.optionsBare = false
		if string(s.Key()) != "include_usage" {
			continue
		}
		const param = "stream_options.include_usage"
		if s.r.usage.there() {
			return twice(param)
		}
		s.Kind() // brings the position to the value
		start := s.Pos()
		if !s.Null() {
			if err := s.flag(param, &s.r.IncludeUsage); err != nil {
				return err
			}
		}
		s.r.usage = span{start, s.Pos()}
	}
	return nil
}

func (s *requestScan) responseFormat() error {
	if !s.EnterObject() {
		return s.wrongType("response_format", "an object")
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
	if !s.EnterArray() {
		return s.wrongType(param, "an array")
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
				s.r.opening.addTool(raw)
			}
		case "function", "custom":
			if levels > 0 {
				s.tool(levels - 1)
			}
		}
	}
}
