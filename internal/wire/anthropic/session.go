package anthropic

import (
	"strings"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// metadata takes the user and the session keys that clients put into metadata.
func (s *requestScan) metadata() {
	m := s.Metadata()
	if s.r.User, s.r.MetadataSession = m.User, m.Session; m.Session == "" {
		s.r.MetadataSession = sessionPart(m.User)
	}
}

// sessionPart returns the session that a user id of Claude Code holds, empty if
// there is none: newer builds send JSON with a session_id, older ones
// "user_<hash>_account_<uuid>_session_<uuid>".
func sessionPart(user string) (session string) {
	const mark = "_session_"
	if i := strings.LastIndex(user, mark); i >= 0 && !strings.HasPrefix(user, "{") {
		return user[i+len(mark):]
	}
	const depth = 4
	c := scan.NewCursor([]byte(user), depth)
	if !c.EnterObject() {
		return ""
	}
	for c.Member() {
		if string(c.Key()) == "session_id" {
			session = request.LooseText(&c)
		}
	}
	if c.Close() != nil {
		return ""
	}
	return session
}
