package request

import (
	"bytes"
	"net/url"
	"strings"
)

// Foreign is what stands in the place of a maker's own signature in a thought
// that another maker's model wrote. Clients send such a thought back as they do
// with any other. A service would refuse it, so it is taken out before the
// request goes to one, and a translation that goes to the right maker finds the
// maker's own signature in it.
type Foreign struct {
	Origin string // the maker, empty if it signs nothing
	ID     string // the maker's id of the thought, empty if it has none
	Data   string // the maker's signature, empty if it has none
	// Before says that the signature is that of what stands before this thought,
	// which is none.
	Before bool
}

const foreignMark = "gatewright:"

// String returns the signature as it goes into an answer.
func (f Foreign) String() string {
	place := ""
	if f.Before {
		place = "before"
	}
	return foreignMark + f.Origin + ":" + place + ":" + url.QueryEscape(f.ID) + ":" + f.Data
}

// ParseForeign reads a signature, false if it is no foreign one.
func ParseForeign(signature string) (Foreign, bool) {
	const fields = 4
	rest, ok := strings.CutPrefix(signature, foreignMark)
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

// IsForeign reports whether a signature, raw as it stands in the JSON text, is
// marked as a foreign one.
func IsForeign(raw []byte) bool { return bytes.HasPrefix(raw, []byte(foreignMark)) }
