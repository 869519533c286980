package prompt

import (
	"gatewright/internal/wire/scan"
)

// maxDepth is how deeply a body may be nested; what a server takes is less.
const maxDepth = 10_000

// reader is one walk over a body.
type reader struct {
	scan.Cursor
	out  []byte
	last bool
}

// text walks a body. One that is broken gives what stands before the fault.
func text(body []byte, last bool) string {
	r := &reader{Cursor: scan.NewCursor(body, maxDepth), last: last}
	for r.EnterObject(); r.Member(); {
		switch string(r.Key()) {
		case "system", "instructions":
			if !last {
				r.content()
			}
		case "messages", "input", "prompt":
			r.turns()
		}
	}
	return string(r.out)
}

// turns takes a text, which is a user's, or messages.
func (r *reader) turns() {
	switch r.Kind() {
	case scan.KindString:
		r.newest()
		r.text()
	case scan.KindArray:
		for r.EnterArray(); r.Element(); {
			r.turn()
		}
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber, scan.KindObject:
		r.Skip()
	}
}

// newest forgets what came before, if only the last message counts.
func (r *reader) newest() {
	if r.last {
		r.out = r.out[:0]
	}
}

// turn takes one message; its role may stand behind its content.
func (r *reader) turn() {
	if r.Kind() == scan.KindString { // one of several prompts
		r.newest()
		r.text()
		return
	}
	if r.Kind() != scan.KindObject {
		r.Skip()
		return
	}
	before := len(r.out)
	user := false
	for r.EnterObject(); r.Member(); {
		switch string(r.Key()) {
		case "role":
			raw, _, ok := r.Text()
			if !ok {
				r.Skip()
			}
			user = string(raw) == "user"
		case "content":
			r.content()
		}
	}
	if !r.last {
		return
	}
	if added := len(r.out) > before; user && added {
		r.out = append(r.out[:0], r.out[before:]...)
		if r.out[0] == '\n' {
			r.out = r.out[1:]
		}
		return
	}
	r.out = r.out[:before]
}

// content takes a text, or parts of which some are texts.
func (r *reader) content() {
	switch r.Kind() {
	case scan.KindString:
		r.text()
	case scan.KindArray:
		for r.EnterArray(); r.Element(); {
			r.part()
		}
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber, scan.KindObject:
		r.Skip()
	}
}

// part takes one part of a content; only texts have a text.
func (r *reader) part() {
	switch r.Kind() {
	case scan.KindString:
		r.text()
	case scan.KindObject:
		for r.EnterObject(); r.Member(); {
			if string(r.Key()) == "text" {
				r.text()
			}
		}
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber, scan.KindArray:
		r.Skip()
	}
}

// text takes a string.
func (r *reader) text() {
	raw, _, ok := r.Text()
	if !ok {
		r.Skip()
		return
	}
	if len(raw) == 0 {
		return
	}
	if len(r.out) > 0 {
		r.out = append(r.out, '\n')
	}
	r.out = scan.AppendText(r.out, raw)
}
