package openai

import (
	"bytes"

	"gatewright/internal/wire/scan"
)

// Some models write what they think into the text of the answer, between tags at
// its beginning. Here it is moved to where clients look for it,
// reasoning_content, with the white space around the tags.
const (
	openTag  = "<think>"
	closeTag = "</think>"
	// leadSpace bounds the white space before the tag.
	leadSpace = 64
)

// thinkPhase is how far the text of an answer has come.
type thinkPhase uint8

const (
	thinkBefore thinkPhase = iota // nothing but white space and a part of the tag so far
	thinkInside
	thinkAfter // the answer itself, to its end
)

// thinking splits the text of one choice, piece by piece. It works on the inside
// of JSON texts, whose escapes stay as they are, so a piece must not end inside
// an escape.
type thinking struct {
	phase   thinkPhase
	trim    bool   // white space that follows a tag is left out
	held    []byte // read, but not known to be what
	matched int    // how much of a tag is at the end of held
	spaces  int    // before the tag
}

// feed takes the next piece and appends what of it is a thought and what is the
// answer.
func (t *thinking) feed(raw, thought, said []byte) (newThought, newSaid []byte) {
	for len(raw) > 0 {
		switch {
		case t.trim:
			c, size := logical(raw)
			if t.trim = isBlank(c); t.trim {
				raw = raw[size:]
			}
		case t.phase == thinkAfter:
			return thought, append(said, raw...)
		case t.phase == thinkBefore:
			raw, said = t.before(raw, said)
		default:
			raw, thought = t.inside(raw, thought)
		}
	}
	return thought, said
}

// before looks for the tag at the beginning. It returns what is left of raw.
func (t *thinking) before(raw, said []byte) (rest, newSaid []byte) {
	c, size := logical(raw)
	switch {
	case c == openTag[t.matched]:
		if t.matched++; t.matched == len(openTag) {
			t.enter(thinkInside)
			return raw[size:], said
		}
	case t.matched == 0 && isBlank(c) && t.spaces < leadSpace:
		t.spaces++
	default:
		said = append(said, t.held...)
		t.phase, t.held, t.matched = thinkAfter, t.held[:0], 0
		return raw, said
	}
	t.held = append(t.held, raw[:size]...)
	return raw[size:], said
}

// inside looks for the closing tag.
func (t *thinking) inside(raw, thought []byte) (rest, newThought []byte) {
	if t.matched == 0 {
		run := bytes.IndexAny(raw, `<\`) // a tag may be written with escapes
		if run < 0 {
			run = len(raw)
		}
		if run > 0 {
			return raw[run:], append(thought, raw[:run]...)
		}
	}
	c, size := logical(raw)
	switch {
	case c == closeTag[t.matched]:
		if t.matched++; t.matched == len(closeTag) {
			t.enter(thinkAfter)
			return raw[size:], thought
		}
		t.held = append(t.held, raw[:size]...)
	case t.matched > 0: // no tag after all; one may begin here
		thought = append(thought, t.held...)
		t.held, t.matched = t.held[:0], 0
		return raw, thought
	default:
		thought = append(thought, raw[:size]...)
	}
	return raw[size:], thought
}

// enter goes on behind a tag.
func (t *thinking) enter(phase thinkPhase) {
	t.phase, t.trim, t.held, t.matched = phase, true, t.held[:0], 0
}

// flush appends what is still held: the text has ended.
func (t *thinking) flush(thought, said []byte) (newThought, newSaid []byte) {
	if t.phase == thinkInside {
		thought = append(thought, t.held...)
	} else {
		said = append(said, t.held...)
	}
	t.phase, t.trim, t.held, t.matched = thinkAfter, false, t.held[:0], 0
	return thought, said
}

// settled reports whether the text passes as it is from here on.
func (t *thinking) settled() bool { return t.phase == thinkAfter && !t.trim }

// logical returns the character that raw begins with, which is not empty, and
// the length of its text; 0 stands for all that is neither white space nor part
// of a tag.
func logical(raw []byte) (c byte, size int) {
	if raw[0] != '\\' || len(raw) == 1 {
		return raw[0], 1
	}
	switch raw[1] {
	case 'n', 'r', 't':
		return ' ', len(`\n`)
	case '/':
		return '/', len(`\/`)
	case 'u':
		const escape = len(`\u003c`)
		if len(raw) < escape {
			return 0, len(raw)
		}
		var room [4]byte
		if text := scan.AppendText(room[:0], raw[:escape]); len(text) == 1 {
			return text[0], escape
		}
		return 0, escape
	}
	return 0, len(`\n`)
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
