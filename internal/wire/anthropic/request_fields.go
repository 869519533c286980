package anthropic

import "gatewright/internal/wire/scan"

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
		return s.TakeText("model", &s.r.Model)
	case fieldMessages:
		s.input = true
		return s.Objects("messages", s.message)
	case fieldSystem:
		s.system()
	case fieldStream:
		return s.TakeFlag("stream", &s.r.Stream)
	case fieldMaxTokens:
		s.limit = true
		return s.TakeInteger("max_tokens", 0, MaxOutput, &s.r.MaxOutput) // whether the service takes 0 is its own to say
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
		return s.TakeText("session_id", &s.r.SessionID)
	case fieldLitellmSessionID:
		return s.TakeText("litellm_session_id", &s.r.LitellmSessionID)
	case fieldDisableFallbacks:
		return s.TakeFlag("disable_fallbacks", &s.r.DisableFallbacks)
	}
	return nil
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
	if err := s.Array("tools"); err != nil {
		return err
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
				s.r.opening.tools.Add(raw)
			}
		}
	}
	return client
}
