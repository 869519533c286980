package openai

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// metadata takes the session keys that clients put into metadata.
func (s *requestScan) metadata() {
	m := s.Metadata()
	if s.r.MetadataSession = m.Session; m.Session == "" {
		s.r.MetadataSession = sessionPart(m.User)
	}
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
