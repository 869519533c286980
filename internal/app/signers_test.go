package app

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"gatewright/internal/server/admin"
)

// With signers in the configuration an upload counts only if one of them signed it.
func TestSignedUploads(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	_, upstream := upstream(t)
	g := startPolicyGateway(t, t.TempDir(), upstream, "", "signers: ["+public+"]")
	g.call("POST", "/policies?name=guard", noA, http.StatusForbidden)
	for signature, want := range map[string]int{
		base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(noA))):       http.StatusCreated,
		base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(noneAtAll))): http.StatusForbidden,
		"short": http.StatusBadRequest,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+g.admin+"/admin/v1/policies?name=guard", strings.NewReader(noA))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+operatorToken)
		req.Header.Set(admin.SignatureHeader, signature)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("signature %s: %d, want %d", signature, resp.StatusCode, want)
		}
	}
	version, _ := g.call("GET", "/policies/guard", "", http.StatusOK)["newest"].(string)
	if v := g.call("GET", "/policies/guard/versions/"+version, "", http.StatusOK); v["signed_by"] != public {
		t.Errorf("signed by %v, want %s", v["signed_by"], public)
	}
}
