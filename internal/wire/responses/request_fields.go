package responses

import (
	"fmt"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// field takes the value of field f, the member with the given index. A value
// that is null counts as absent everywhere.
func (s *requestScan) field(f, index int) (err error) {
	s.Kind() // brings the position to the value
	start := s.Pos()
	switch {
	case s.Null():
	case f >= fieldDisableFallbacks:
		err = s.identity(f)
	case f >= fieldPreviousResponseID:
		err = s.state(f)
	default:
		err = s.control(f)
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
	r := s.r
	switch f {
	case fieldModel:
		return s.TakeText("model", &r.Model)
	case fieldInput:
		return s.inputField()
	case fieldInstructions:
		return s.instructions()
	case fieldStream:
		return s.TakeFlag("stream", &r.Stream)
	case fieldMaxOutputTokens:
		return s.TakeInteger("max_output_tokens", 1, MaxOutput, &r.MaxOutput)
	case fieldTools:
		return s.tools()
	case fieldToolChoice:
		s.toolChoice()
	case fieldReasoning:
		return s.reasoning()
	case fieldText:
		return s.textOptions()
	case fieldStore:
		return s.TakeFlag("store", &r.Stored)
	case fieldBackground:
		err := s.TakeFlag("background", &r.Background)
		if r.Background {
			r.native("background")
		}
		return err
	}
	return nil
}

// state takes the fields that name what the upstream keeps.
func (s *requestScan) state(f int) error {
	o := &s.r.Owned
	switch f {
	case fieldPreviousResponseID:
		if err := s.TakeText("previous_response_id", &o.Response); err != nil {
			return err
		}
		if o.Response != "" {
			s.r.native("previous_response_id")
		}
	case fieldConversation:
		s.r.native("conversation")
		return s.owned("conversation", "the id of a conversation, or an object with it", &o.Conversation)
	case fieldPrompt:
		s.r.native("prompt")
		return s.owned("prompt", "an object with the id of a prompt", &o.Prompt)
	case fieldContextManagement:
		s.r.native("context_management")
	}
	return nil
}

// owned takes an id of something that the upstream keeps.
func (s *requestScan) owned(param, want string, into *string) error {
	if *into = ownedID(&s.Cursor); *into != "" {
		return nil
	}
	if s.Err() != nil {
		return request.InvalidJSON(s.Err())
	}
	return &request.Error{Param: param, Code: request.CodeType, Message: fmt.Sprintf("%q must be %s", param, want)}
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
	case fieldClientMetadata:
		s.clientMetadata()
	}
	return nil
}

func (s *requestScan) instructions() error {
	if s.Kind() == scan.KindArray {
		// A list of items, which some services take; it is the upstream's to judge.
		before := s.StringBytes()
		s.Skip()
		s.r.TextBytes += s.StringBytes() - before
		return nil
	}
	start := s.Pos()
	_, decoded, ok := s.Text()
	if !ok {
		return s.WrongType("instructions", "a string")
	}
	s.r.TextBytes += int64(decoded)
	s.r.instructions = span{start + 1, s.Pos() - 1}
	return nil
}

func (s *requestScan) reasoning() error {
	if err := s.Object("reasoning"); err != nil {
		return err
	}
	for s.Member() {
		if string(s.Key()) == "effort" {
			effort, _, ok := s.Text()
			s.r.Reasoning = ok && string(effort) != "none"
		}
	}
	return nil
}

// textOptions takes text: {format: {type, …}, verbosity}.
func (s *requestScan) textOptions() error {
	if err := s.Object("text"); err != nil {
		return err
	}
	for s.Member() {
		if string(s.Key()) != "format" || !s.EnterObject() {
			continue
		}
		for s.Member() {
			if string(s.Key()) == "type" {
				kind, _, ok := s.Text()
				s.r.JSONSchema = ok && string(kind) == "json_schema"
			}
		}
	}
	return nil
}
