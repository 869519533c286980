package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

// sign signs what is uploaded with the Ed25519 key in a PEM file, as openssl genpkey
// -algorithm ed25519 makes it (PKCS #8, RFC 8410).
func sign(body []byte, file string) ([]byte, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	fail := func(what string) error {
		return fmt.Errorf("--sign %s: %s; openssl genpkey -algorithm ed25519 -out KEY.pem makes such a file", file, what)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fail("it holds no private key in PEM without a password")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fail("it holds no Ed25519 key")
	}
	return ed25519.Sign(key, body), nil
}
