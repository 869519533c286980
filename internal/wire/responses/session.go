package responses

import (
	"strings"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// metadata takes the session keys that clients put into metadata.
func (s *requestScan) metadata() {
	m := s.Metadata()
	if s.r.MetadataSession = m.Session; m.Session == "" {
		s.r.MetadataSession = sessionPart(m.User)
	}
}

// clientMetadata takes the session that Codex puts into client_metadata.
func (s *requestScan) clientMetadata() {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		if string(s.Key()) == "session_id" {
			s.clientSession = request.LooseText(&s.Cursor)
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
			session = request.LooseText(&c)
		}
	}
	if c.Close() != nil {
		return ""
	}
	return session
}
