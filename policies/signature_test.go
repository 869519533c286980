package policies

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"testing"
)

func TestSigners(t *testing.T) {
	key := func(seed byte) (ed25519.PublicKey, ed25519.PrivateKey) {
		k := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), seed))
		return k.Public().(ed25519.PublicKey), k
	}
	first, firstKey := key(1)
	second, secondKey := key(2)
	_, stranger := key(3)
	signers := Signers{first, second}
	body := []byte("package gatewright.admission")
	for _, tc := range []struct {
		name      string
		signers   Signers
		signature []byte
		want      ed25519.PublicKey // who has signed it; nil = it is refused
	}{
		{"by the first", signers, ed25519.Sign(firstKey, body), first},
		{"by the second", signers, ed25519.Sign(secondKey, body), second},
		{"by a stranger", signers, ed25519.Sign(stranger, body), nil},
		{"of other bytes", signers, ed25519.Sign(firstKey, body[1:]), nil},
		{"not at all", signers, nil, nil},
		{"too short", signers, []byte("x"), nil},
	} {
		got, err := tc.signers.Check(&Upload{Name: "p", Body: body, Signature: tc.signature})
		switch {
		case tc.want == nil && !errors.Is(err, ErrUnsigned):
			t.Errorf("%s: %q, %v", tc.name, got, err)
		case tc.want != nil && (err != nil || got != base64.StdEncoding.EncodeToString(tc.want)):
			t.Errorf("%s: %q, %v", tc.name, got, err)
		}
	}
	if got, err := Signers(nil).Check(&Upload{Signature: []byte("x")}); got != "" || err != nil {
		t.Errorf("where nobody need sign: %q, %v", got, err)
	}
}

// A version that is uploaded again with a signature is signed from then on; without one
// it stays as it is.
func TestSignedLater(t *testing.T) {
	s, err := NewState(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ signer, want string }{{"", ""}, {"k", "k"}, {"", "k"}, {"l", "l"}} {
		before := s
		if s, err = s.Upload("p", Admission, &Version{Digest: Digest([]byte("p")), SignedBy: step.signer}); err != nil {
			t.Fatal(err)
		}
		p, err := s.Policy("p")
		if err != nil || len(p.Versions) != 1 || p.Newest().SignedBy != step.want {
			t.Errorf("uploaded by %q: %+v, %v; want it signed by %q", step.signer, p, err, step.want)
		}
		if old, err := before.Policy("p"); err == nil && old.Newest() == p.Newest() {
			t.Error("the state before was changed")
		}
	}
}
