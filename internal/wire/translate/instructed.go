package translate

import "slices"

// withoutInstructions returns a request like r whose instructions, those inside
// the conversation too, stand at the head of what the user says first. r stays
// as it is.
func withoutInstructions(r *Request) *Request {
	texts := instructions(r)
	if len(texts) == 0 {
		return r
	}
	moved := *r
	moved.System = nil
	moved.Turns = make([]Turn, 0, len(r.Turns)+1)
	host := -1
	for i := range r.Turns {
		t := r.Turns[i]
		if t.Role == RoleSystem {
			continue
		}
		if t.Role == RoleUser && host < 0 {
			host = len(moved.Turns)
		}
		moved.Turns = append(moved.Turns, t)
	}
	if host < 0 {
		moved.Turns = slices.Insert(moved.Turns, 0, Turn{Role: RoleUser})
		host = 0
	}
	t := &moved.Turns[host]
	t.Parts = slices.Clone(t.Parts)
	at := 0 // results of calls come before all else
	for at < len(t.Parts) && t.Parts[at].Kind == KindResult {
		at++
	}
	if at < len(t.Parts) && t.Parts[at].Kind == KindText {
		t.Parts[at].Text = joinTexts(append(texts, t.Parts[at]))
		return &moved
	}
	t.Parts = slices.Insert(t.Parts, at, Part{Kind: KindText, Text: joinTexts(texts)})
	return &moved
}
