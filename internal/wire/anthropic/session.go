package anthropic

import (
	"cmp"
	"strings"

	"gatewright/internal/wire/scan"
)

// metadata takes the user and the session keys that clients put into metadata.
// What is no text there is no key and no fault either.
func (s *requestScan) metadata() {
	if !s.EnterObject() {
		return
	}
	var session, langfuse string
	for s.Member() {
		switch string(s.Key()) {
		case "user_id":
			s.r.User = looseText(&s.Cursor)
		case "session_id":
			session = looseText(&s.Cursor)
		case "langfuse_session_id":
			langfuse = looseText(&s.Cursor)
		}
	}
	s.r.MetadataSession = cmp.Or(session, langfuse, sessionPart(s.r.User))
}

// looseText takes a string; anything else is an empty one.
func looseText(c *scan.Cursor) string {
	raw, decoded, ok := c.Text()
	if !ok {
		return ""
	}
	text, err := scan.Text(raw, decoded)
	if err != nil {
		return ""
	}
	return text
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
			session = looseText(&c)
		}
	}
	if c.Close() != nil {
		return ""
	}
	return session
}
