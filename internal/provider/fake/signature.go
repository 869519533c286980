package fake

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// signatureMark begins every signature, before it is encoded.
const signatureMark = "simulated "

// signatureOf is what a maker seals a thought with. Each upstream of a maker takes
// it, as each account does.
func signatureOf(maker, thought string) string {
	sum := sha256.Sum256([]byte(thought))
	return base64.StdEncoding.EncodeToString([]byte(signatureMark + maker + " " + hex.EncodeToString(sum[:12])))
}

// isSignature reports whether a maker has signed anything so.
func isSignature(maker, signature string) bool {
	text, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && strings.HasPrefix(string(text), signatureMark+maker+" ")
}
