package config

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// masked stands for every secret in any output.
const masked = "***"

// Secret is text that must not be printed: it shows *** in every fmt verb, in
// JSON, in YAML and in logs, also as a field of another value. The zero value
// is no secret. It is immutable and safe for use by many goroutines.
type Secret struct {
	// A pointer, because fmt prints unexported fields of other structs without
	// asking their methods, and shows of a pointer only the address.
	text *string
}

// NewSecret returns a secret that holds text; empty text gives the zero value.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text. Call it only where the text is sent or hashed.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a secret.
func (s Secret) IsSet() bool { return s.text != nil }

// Equal reports whether both hold the same text, in a time that depends on the
// lengths alone.
func (s Secret) Equal(t Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(t.Reveal())) == 1
}

// String returns ***.
func (Secret) String() string { return masked }

// Format writes *** for every verb and flag.
func (Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, masked) // fmt keeps the error of its own writer
}

// MarshalText returns ***, for JSON, XML and whatever else asks for text.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// MarshalYAML returns ***.
func (Secret) MarshalYAML() (any, error) { return masked, nil }

// LogValue returns ***.
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
)

// minSecret is the length in bytes below which a caller's secret is refused.
const minSecret = 16

// commonWords are what example and forgotten secrets are made of.
var commonWords = []string{
	"placeholder", "gatewright", "changethis", "changeme", "password", "passwort", "replaceme", "letmein", "example",
	"default", "replace", "secret", "qwerty", "master", "change", "sample", "admin", "dummy", "token", "this",
	"test", "demo", "pass", "user", "your", "here", "key", "api", "abc", "xxx", "sk", "my", "me",
}

// weakSecret says why text is no secret although it is long enough; "" = it
// may be one. The reason never shows a part of it.
func weakSecret(text string) string {
	distinct := make(map[rune]struct{})
	for _, r := range text {
		distinct[r] = struct{}{}
	}
	if len(distinct) < 5 {
		return "it repeats a few characters"
	}
	letters := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(text))
	if letters == "" && len(text) < 2*minSecret {
		return "it has no letters"
	}
	rest := letters
	for _, w := range commonWords {
		rest = strings.ReplaceAll(rest, w, "")
	}
	if letters != "" && rest == "" {
		return "it is made of common words"
	}
	return ""
}

// secretPrefixes begin the credentials of well-known makers.
var secretPrefixes = []string{"sk-", "sk_", "gsk_", "xai-", "AIza", "pplx-", "hf_", "ghp_", "Bearer ", "Basic "}

// looksSecret reports whether text is shaped like a credential, wherever it
// stands: pasted at a wrong place it must not be echoed either.
func looksSecret(text string) bool {
	if len(text) < minSecret {
		return false
	}
	for _, p := range secretPrefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}
