package responses

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
			session = looseText(&s.Cursor)
		case "langfuse_session_id":
			langfuse = looseText(&s.Cursor)
		case "user_id":
			user = looseText(&s.Cursor)
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

// clientMetadata takes the session that Codex puts into client_metadata.
func (s *requestScan) clientMetadata() {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		if string(s.Key()) == "session_id" {
			s.clientSession = looseText(&s.Cursor)
		}
	}
}

// sessionPart returns the session in a user id, empty if there is none. Two
// forms are known: JSON with a session_id, and
// "user_<hash>_account_<uuid>_session_<uuid>".
func sessionPart(user string) (session string) {
	if !strings.HasPrefix(user, "{") {
		const mark = "_session_"
		if i := strings.LastIndex(user, mark); i >= 0 {
			return user[i+len(mark):]
		}
		return ""
	}
	const depth = 4
	c := scan.NewCursor([]byte(user), depth)
	for c.EnterObject(); c.Member(); {
		if string(c.Key()) == "session_id" {
			session = looseText(&c)
		}
	}
	if c.Close() != nil {
		return ""
	}
	return session
}
