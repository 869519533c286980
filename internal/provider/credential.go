package provider

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// Credential is a secret and the header that carries it. It prints as "***".
type Credential struct {
	header string
	secret string
	value  []string // the header's value, shared by all requests
}

var (
	_ fmt.Formatter  = (*Credential)(nil)
	_ slog.LogValuer = (*Credential)(nil)
)

// NewCredential returns a credential that is sent as header: prefix + secret,
// for example Authorization: "Bearer " + secret. It refuses what cannot stand
// in a header.
func NewCredential(header, prefix, secret string) (*Credential, error) {
	switch {
	case secret == "":
		return nil, fmt.Errorf("credential for header %q is empty: give it a value, or set auth to none", header)
	case strings.ContainsFunc(prefix+secret, unprintable):
		return nil, fmt.Errorf("credential for header %q holds a control character: write it without line breaks", header)
	case header == "":
		return nil, errors.New("credential has no header: name one, for example Authorization")
	}
	return &Credential{header: http.CanonicalHeaderKey(header), secret: secret, value: []string{prefix + secret}}, nil
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7f }

// Set puts the credential into a request's headers.
func (c *Credential) Set(h http.Header) { h[c.header] = c.value }

// Mask replaces the secret in a text by "***", also where it is written as in a
// URL.
func (c *Credential) Mask(text string) string { return Mask(text, c.secret) }

// Mask replaces a secret in a text by "***", also where it is written as in a
// URL.
func Mask(text, secret string) string {
	text = strings.ReplaceAll(text, secret, "***")
	if escaped := url.QueryEscape(secret); escaped != secret {
		text = strings.ReplaceAll(text, escaped, "***")
	}
	return text
}

// Format implements [fmt.Formatter]: every verb prints "***".
func (c *Credential) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("***")) }

// LogValue implements [slog.LogValuer].
func (c *Credential) LogValue() slog.Value { return slog.StringValue("***") }

// Keyring hands out the credentials of one provider in turn. It may be used in
// parallel.
type Keyring struct {
	keys []*Credential
	turn atomic.Uint32
}

// NewKeyring returns a keyring of the given credentials; none stands for an
// upstream that takes no credential.
func NewKeyring(keys ...*Credential) *Keyring { return &Keyring{keys: keys} }

// Len returns how many credentials there are.
func (k *Keyring) Len() int { return len(k.keys) }

// At returns the credential at an index from 0 to Len()-1.
func (k *Keyring) At(i int) *Credential { return k.keys[i] }

// Turn returns the index of the credential whose turn it is; -1 when there is
// none.
func (k *Keyring) Turn() int {
	switch n := len(k.keys); n {
	case 0:
		return -1
	case 1:
		return 0
	default:
		return int((k.turn.Add(1) - 1) % uint32(n)) //nolint:gosec // keys come from configuration: few
	}
}

// Mask replaces every secret of the keyring in a text by "***".
func (k *Keyring) Mask(text string) string {
	for _, c := range k.keys {
		text = c.Mask(text)
	}
	return text
}
