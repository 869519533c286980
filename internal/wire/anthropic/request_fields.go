package anthropic

import (
	"fmt"
	"strconv"

	"gatewright/internal/wire/scan"
)

// field takes the value of field f, the member with the given index. A value
// that is null counts as absent everywhere.
func (s *requestScan) field(f, index int) (err error) {
	s.Kind() // brings the position to the value
	start := s.Pos()
	if !s.Null() {
		if f < fieldMetadata {
			err = s.control(f)
		} else {
			err = s.identity(f)
		}
	}
	switch f {
	case fieldModel:
		s.r.model = span{start, s.Pos()}
	case fieldDisableFallbacks, fieldLitellmSessionID:
		s.r.own[s.r.owns] = scan.Member{Index: index, KeyStart: s.KeyStart(), Start: start, End: s.Pos()}
		s.r.owns++
	}
	return err
}

// control takes the fields that say what is asked for.
func (s *requestScan) control(f int) error {
	switch f {
	case fieldModel:
		return s.text("model", &s.r.Model)
	case fieldMessages:
		return s.messages()
	case fieldSystem:
		s.system()
	case fieldStream:
		return s.flag("stream", &s.r.Stream)
	case fieldMaxTokens:
		s.limit = true
		return s.number("max_tokens", &s.r.MaxOutput)
	case fieldTools:
		return s.tools()
	case fieldThinking:
		s.thinking()
	case fieldOutputConfig:
		s.outputConfig()
	case fieldOutputFormat:
		s.format()
	}
	return nil
}

// identity takes the fields that say who asks, and the gateway's own.
func (s *requestScan) identity(f int) error {
	switch f {
	case fieldMetadata:
		s.metadata()
	case fieldSessionID:
		return s.text("session_id", &s.r.SessionID)
	case fieldLitellmSessionID:
		return s.text("litellm_session_id", &s.r.LitellmSessionID)
	case fieldDisableFallbacks:
		return s.flag("disable_fallbacks", &s.r.DisableFallbacks)
	}
	return nil
}

// wrongType is the error for a value that is due and not what it should be.
func (s *requestScan) wrongType(param, want string) error {
	kind := s.Kind()
	if s.Err() != nil || kind == scan.KindInvalid {
		return jsonError(s.Close())
	}
	return &RequestError{Param: param, Code: CodeType, Message: fmt.Sprintf("%s must be %s, not %s", param, want, kind)}
}

func (s *requestScan) text(param string, into *string) error {
	raw, decoded, ok := s.Text()
	if !ok {
		return s.wrongType(param, "a string")
	}
	text, err := scan.Text(raw, decoded)
	if err != nil {
		return &RequestError{Param: param, Code: CodeValue, Message: fmt.Sprintf("%s: the %v", param, err)}
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

// number takes a number of tokens. Whether the service takes 0 is its own to
// say.
func (s *requestScan) number(param string, into *int64) error {
	if s.Kind() != scan.KindNumber {
		return s.wrongType(param, "an integer")
	}
	raw := s.Raw()
	n, whole := integer(raw)
	if s.Err() != nil {
		return jsonError(s.Err())
	}
	if !whole || n < 0 || n > MaxOutput {
		return &RequestError{
			Param: param, Code: CodeValue,
			Message: fmt.Sprintf("%s must be an integer from 0 to %d, not %.40s", param, MaxOutput, raw),
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

// thinking takes thinking, which wants a model that can unless it is disabled.
func (s *requestScan) thinking() {
	s.Kind()
	start, budget := s.Pos(), false
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		if string(s.Key()) == "type" {
			raw, _, ok := s.Text()
			s.r.Reasoning = ok && string(raw) != "disabled"
			budget = string(raw) == "enabled"
		}
	}
	if budget {
		s.r.budget = span{start, s.Pos()}
	}
}

func (s *requestScan) outputConfig() {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		if string(s.Key()) == "format" {
			s.format()
		}
	}
}

// format takes the form that the answer's text is to have.
func (s *requestScan) format() {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		if string(s.Key()) == "type" {
			raw, _, ok := s.Text()
			s.r.JSONSchema = ok && string(raw) == "json_schema"
		}
	}
}

// tools takes the tools: whether there are any, who runs them, their names, and
// the text in them.
func (s *requestScan) tools() error {
	before := s.StringBytes()
	if !s.EnterArray() {
		return s.wrongType("tools", "an array")
	}
	client := false
	for s.Element() {
		s.r.Tools = true
		client = s.tool() || client
	}
	if s.r.Tools && !client {
		s.r.native("tools")
	}
	s.r.TextBytes += s.StringBytes() - before
	return nil
}

// tool takes a tool and reports whether it is the client's own, which any model
// can be offered. Those of another type only models of the maker's know.
func (s *requestScan) tool() (client bool) {
	client = true
	if !s.EnterObject() {
		return client // the upstream's to judge
	}
	for s.Member() {
		switch string(s.Key()) {
		case "type":
			raw, _, ok := s.Text()
			client = !ok || len(raw) == 0 || string(raw) == "custom"
		case "name":
			if raw, _, ok := s.Text(); ok {
				s.r.opening.addTool(raw)
			}
		}
	}
	return client
}
