package recorded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Text is a text as an index tells it: the text, or the digest of a long one.
type Text struct {
	Whole  string
	SHA256 string // of the UTF-8 bytes, in hex; "" = Whole is the text
}

// UnmarshalJSON implements [json.Unmarshaler]; null is no text.
func (t *Text) UnmarshalJSON(data []byte) error {
	*t = Text{}
	if len(data) > 0 && data[0] == '{' {
		return json.Unmarshal(data, &struct{ SHA256 *string }{&t.SHA256})
	}
	return json.Unmarshal(data, &t.Whole)
}

// Is reports whether a text is the one that is meant.
func (t *Text) Is(text string) bool {
	if t.SHA256 == "" {
		return t.Whole == text
	}
	sum := sha256.Sum256([]byte(text))
	return t.SHA256 == hex.EncodeToString(sum[:])
}

// String returns the text, or the digest of a long one.
func (t *Text) String() string {
	if t.SHA256 != "" {
		return "the text with SHA-256 " + t.SHA256
	}
	return t.Whole
}
