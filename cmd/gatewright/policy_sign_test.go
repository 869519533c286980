package main

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files are those of openssl genpkey -algorithm ed25519 and -algorithm x25519.
func TestSign(t *testing.T) {
	const (
		private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n"
		other   = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n"
		public  = "\x19\xbf\x44\x09\x69\x84\xcd\xfe\x85\x41\xba\xc1\x67\xdc\x3b\x96\xc8\x50\x86\xaa\x30\xb6\xb6\xcb\x0c\x5c\x38\xad\x70\x31\x66\xe1"
	)
	file := filepath.Join(t.TempDir(), "key.pem")
	for text, ok := range map[string]bool{private: true, other: false, "no PEM": false, strings.Replace(private, "MC4", "MC5", 1): false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		signature, err := sign([]byte("body"), file)
		if ok != (err == nil) || ok && !ed25519.Verify(ed25519.PublicKey(public), []byte("body"), signature) {
			t.Errorf("%s: %x, %v", text, signature, err)
		}
	}
	if _, err := sign(nil, file+"x"); err == nil {
		t.Error("signed without a key")
	}
}
