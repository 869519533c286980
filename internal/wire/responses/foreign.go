package responses

import (
	"bytes"
	"net/url"
	"strings"
)

// Foreign is what stands in the place of encrypted_content in a reasoning item
// that another maker's model wrote. Clients send such an item back as they do
// with any other; OpenAI's service would refuse it, so [Request.Rewrite] takes it
// out, and a translation that goes to the right maker finds the maker's own
// signature in it.
type Foreign struct {
	Origin string // the maker
	ID     string // the maker's id of the thought, empty if it has none
	Data   string // the maker's signature
	// Before says that the signature is that of what stands before this item,
	// which is no thought.
	Before bool
}

const foreignMark = "gatewright:"

// String returns the content.
func (f Foreign) String() string {
	place := ""
	if f.Before {
		place = "before"
	}
	return foreignMark + f.Origin + ":" + place + ":" + url.QueryEscape(f.ID) + ":" + f.Data
}

// ParseForeign reads an encrypted_content, false if it is no foreign one.
func ParseForeign(content string) (Foreign, bool) {
	const fields = 4
	rest, ok := strings.CutPrefix(content, foreignMark)
	parts := strings.SplitN(rest, ":", fields)
	if !ok || len(parts) < fields {
		return Foreign{}, false
	}
	id, err := url.QueryUnescape(parts[2])
	if err != nil {
		return Foreign{}, false
	}
	return Foreign{Origin: parts[0], Before: parts[1] == "before", ID: id, Data: parts[3]}, true
}

func isForeign(raw []byte) bool { return bytes.HasPrefix(raw, []byte(foreignMark)) }
