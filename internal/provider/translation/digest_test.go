package translation_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// digest is a text, or the digest of a long one.
type digest struct{ text, sha256 string }

// UnmarshalJSON implements [json.Unmarshaler].
func (d *digest) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		var long struct{ SHA256 string }
		err := json.Unmarshal(data, &long)
		d.sha256 = long.SHA256
		return err
	}
	return json.Unmarshal(data, &d.text)
}

func (d *digest) is(text string) bool {
	sum := sha256.Sum256([]byte(text))
	return d.sha256 == "" && d.text == text || d.sha256 == hex.EncodeToString(sum[:])
}
