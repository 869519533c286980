package request

import "cmp"

// Metadata is what clients put into metadata to say whose conversation it is.
type Metadata struct {
	Session string // session_id, else langfuse_session_id
	User    string // user_id
}

// Metadata takes metadata. What is no text there is no key and no fault either.
func (r *Reader) Metadata() (m Metadata) {
	if !r.EnterObject() {
		return m
	}
	var langfuse string
	for r.Member() {
		switch string(r.Key()) {
		case "session_id":
			m.Session = LooseText(&r.Cursor)
		case "langfuse_session_id":
			langfuse = LooseText(&r.Cursor)
		case "user_id":
			m.User = LooseText(&r.Cursor)
		}
	}
	m.Session = cmp.Or(m.Session, langfuse)
	return m
}
