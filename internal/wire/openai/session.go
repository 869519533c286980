package openai

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// metadata takes the session keys that clients put into metadata.
func (s *requestScan) metadata() {
	if !s.EnterObject() {
		return
	}
	var session, langfuse, user string
	for s.Member() {
		switch string(s.Key()) {
		case "session_id":
			session = s.looseText()
		case "langfuse_session_id":
			langfuse = s.looseText()
		case "user_id":
			user = s.looseText()
		}
	}
	switch {
	case session != "":
		s.r.MetadataSession = session
	case langfuse != "":
		s.r.MetadataSession = langfuse
	default:
		s.r.MetadataSession = sessionPart(user)
	}
}

// looseText takes a text; what is none is no session key and no fault either.
func (s *requestScan) looseText() string {
	raw, decoded, ok := s.Text()
	if !ok {
		return ""
	}
	text, err := scan.Text(raw, decoded)
	if err != nil {
		return ""
	}
	return text
}

// sessionPart returns the session in a user id, empty if there is none. Two
// forms are known: JSON with a session_id, and
// "user_<hash>_account_<uuid>_session_<uuid>".
func sessionPart(user string) string {
	if strings.HasPrefix(user, "{") {
		const depth = 4
		var session string
		c := scan.NewCursor([]byte(user), depth)
		for c.EnterObject(); c.Member(); {
			if string(c.Key()) != "session_id" {
				continue
			}
			if raw, decoded, ok := c.Text(); ok {
				session, _ = scan.Text(raw, decoded)
			}
		}
		if c.Close() != nil {
			return ""
		}
		return session
	}
	const mark = "_session_"
	if i := strings.LastIndex(user, mark); i >= 0 {
		return user[i+len(mark):]
	}
	return ""
}
