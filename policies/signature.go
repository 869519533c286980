package policies

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
)

// ErrUnsigned means that an upload is not signed by somebody who may.
var ErrUnsigned = errors.New("not accepted")

// Signers are the public keys of those who may sign uploads, 32 bytes each (RFC 8032,
// Ed25519). Without any an upload need not be signed.
type Signers []ed25519.PublicKey

// Check returns the key, as base64, that has signed an upload: its body, to the byte.
// It says who made it, not what for: names and bindings are not signed. The error is
// ErrUnsigned if there are signers and the upload is by none of them.
func (s Signers) Check(u *Upload) (signer string, err error) {
	if len(s) == 0 {
		return "", nil
	}
	if len(u.Signature) == 0 {
		return "", fmt.Errorf("policy %q: %w: it is not signed, and the configuration names signers (admin.signers)", u.Name, ErrUnsigned)
	}
	for _, key := range s {
		if ed25519.Verify(key, u.Body, u.Signature) {
			return base64.StdEncoding.EncodeToString(key), nil
		}
	}
	return "", fmt.Errorf("policy %q: %w: the signature is of other bytes, or by nobody whom the configuration names (admin.signers)", u.Name, ErrUnsigned)
}
