package translate

import "strings"

// fence takes the code fence off a text that should be JSON and nothing else.
// Models that were only asked for JSON like to put one around it. The zero value
// is ready; a text may come in pieces.
type fence struct {
	begun  bool   // it is known whether there is one
	there  bool   // there is
	waits  string // at the beginning: what may become a fence
	behind string // blanks and backticks that may be its end
}

const (
	fenceMark = "```"
	fenceLine = 24 // bytes of the longest first line that is taken for one
)

// add takes a piece and returns what is known to be JSON.
func (f *fence) add(text string) string {
	if !f.begun {
		f.waits += text
		if !f.begin() {
			return ""
		}
		text, f.waits = f.waits, ""
	}
	if !f.there {
		return text
	}
	text = f.behind + text
	kept := strings.TrimRight(text, "` \t\r\n")
	f.behind = text[len(kept):]
	return kept
}

// begin decides whether there is a fence, as soon as enough came, and takes its
// first line off.
func (f *fence) begin() bool {
	text := strings.TrimLeft(f.waits, " \t\r\n")
	switch line := strings.IndexByte(text, '\n'); {
	case strings.HasPrefix(text, fenceMark) && line >= 0 && line < fenceLine:
		f.begun, f.there, f.waits = true, true, text[line+1:]
	case strings.HasPrefix(text, fenceMark) && len(text) < fenceLine, strings.HasPrefix(fenceMark, text):
		return false
	default:
		f.begun = true
	}
	return true
}

// rest returns what is left when the text has ended: nothing but a fence's end,
// if there is one.
func (f *fence) rest() string {
	rest := f.waits + f.behind
	if f.there && strings.TrimSpace(f.behind) == fenceMark {
		rest = ""
	}
	*f = fence{}
	return rest
}

// trim returns a whole text without its fence.
func (f *fence) trim(text string) string { return f.add(text) + f.rest() }
