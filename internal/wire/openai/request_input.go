package openai

import (
	"bytes"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// inputField takes messages, prompt or input.
func (s *requestScan) inputField() error {
	s.input = true
	if s.e == Chat {
		return s.Objects("messages", s.message)
	}
	switch s.Kind() {
	case scan.KindString:
		s.prompt()
		return nil
	case scan.KindArray:
		return s.prompts()
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber, scan.KindObject:
	}
	return s.WrongType(s.e.input(), "a string or an array")
}

// prompt takes one text of a prompt or an input.
func (s *requestScan) prompt() {
	start := s.Pos()
	if _, decoded, ok := s.Text(); ok {
		s.r.TextBytes += int64(decoded)
		if s.e == Completions {
			s.r.opening.Add(request.PartUser, start+1, s.Pos()-1)
		}
	}
}

// prompts takes a list: of texts, of tokens, of lists of tokens.
func (s *requestScan) prompts() error {
	s.EnterArray()
	n := 0
	for ; s.Element(); n++ {
		switch s.Kind() {
		case scan.KindString:
			s.prompt()
		case scan.KindNumber:
			s.Skip()
			s.r.TextBytes += TokenBytes
		case scan.KindArray:
			if tokens := s.Raw(); len(tokens) > len("[]") {
				s.r.TextBytes += TokenBytes * int64(1+bytes.Count(tokens, []byte{','}))
			}
		case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindObject:
			s.Skip() // the upstream's to judge
		}
	}
	return s.Some(s.e.input(), n)
}

// message takes one message, of which the cursor is inside. Its role may stand
// behind its content, so what it adds to the opening is decided at its end.
func (s *requestScan) message() {
	role, mark := request.PartNone, s.r.opening.Len()
	for s.Member() {
		switch string(s.Key()) {
		case "role":
			role = s.Role()
		case "content":
			s.content()
		case "tool_calls":
			s.calls()
		case "function_call":
			s.call()
		case "refusal":
			s.r.TextBytes += s.TextBytes()
		case "reasoning_content", "reasoning":
			s.r.echoes = true
			s.r.TextBytes += s.TextBytes()
		case "reasoning_details", "thinking_blocks", "extra_content":
			s.r.echoes = true
		}
	}
	s.r.instructed = s.r.instructed || role == request.PartSystem
	s.r.opening.Settle(mark, role)
}

// content takes the content of a message: a text, or a list of parts.
func (s *requestScan) content() {
	if s.Kind() == scan.KindString {
		s.contentText()
		return
	}
	if !s.EnterArray() {
		return // null, or the upstream's to judge
	}
	for s.Element() {
		if s.Kind() == scan.KindString {
			s.contentText()
			continue
		}
		if s.EnterObject() {
			s.part()
		}
	}
}

func (s *requestScan) contentText() {
	start := s.Pos()
	s.r.TextBytes += s.TextBytes()
	s.r.opening.Add(request.PartNone, start+1, s.Pos()-1)
}

// part takes a part of a content, of which the cursor is inside. Its type says
// what the model must be able to read, and is looked at nowhere else: a tool
// may well have a property called image_url.
func (s *requestScan) part() {
	var start, end int
	for s.Member() {
		switch string(s.Key()) {
		case "type":
			s.partType()
		case "text":
			if s.Kind() == scan.KindString {
				s.contentText()
			}
		case "refusal":
			s.r.TextBytes += s.TextBytes()
		case "image_url", "input_audio", "file", "video_url":
			start, end = s.Skip()
		}
	}
	s.r.opening.Add(request.PartNone, start, end)
}

func (s *requestScan) partType() {
	raw, _, _ := s.Text()
	switch string(raw) {
	case "image_url":
		s.r.Vision = true
	case "input_audio":
		s.r.Audio = true
	case "file":
		s.r.Files = true
	case "video_url":
		s.r.Video = true
	}
}

// calls takes the tool calls of an assistant's message.
func (s *requestScan) calls() {
	if !s.EnterArray() {
		return
	}
	for s.Element() {
		if !s.EnterObject() {
			continue
		}
		for s.Member() {
			switch string(s.Key()) {
			case "function", "custom":
				s.call()
			case "extra_content":
				s.r.echoes = true
			}
		}
	}
}

// call takes what a model reads of one call.
func (s *requestScan) call() {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		switch string(s.Key()) {
		case "name", "arguments", "input":
			s.r.TextBytes += s.TextBytes()
		}
	}
}
