package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// adminSecret is the admin token of the gateways of these tests.
const adminSecret = "gwa_of-the-tests-0123456789"

// adminRest lets a gateway have an admin API.
const adminRest = "admin: {listen: \"127.0.0.1:0\", token: " + adminSecret + "}\n"

// operator calls the admin API of a gateway.
type operator struct {
	t      *testing.T
	client *http.Client
	base   string // URL of the API
}

// operate waits until the gateway has said where its admin API is.
func operate(t *testing.T, gw *process) *operator {
	t.Helper()
	address, _ := gw.wait("serving the admin API", 20*time.Second)["address"].(string)
	if address == "" {
		t.Fatalf("it did not say where its admin API is:\n%s", gw.log())
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	return &operator{t: t, client: &http.Client{Transport: transport, Timeout: time.Minute}, base: "http://" + address + "/admin/v1"}
}

// admitted is an answer of the admin API.
type admitted struct {
	status int // 0: no answer
	body   []byte
	err    error
}

// try makes a call as curl does it with --data-binary.
func (o *operator) try(method, path string, body []byte) admitted {
	req, err := http.NewRequestWithContext(o.t.Context(), method, o.base+path, bytes.NewReader(body))
	if err != nil {
		return admitted{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+adminSecret)
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return admitted{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return admitted{err: err}
	}
	return admitted{status: resp.StatusCode, body: text}
}

// call makes a call that must have the status, and returns the answer's object.
func (o *operator) call(method, path, body string, want int) map[string]any {
	o.t.Helper()
	got := o.try(method, path, []byte(body))
	if got.err != nil || got.status != want {
		o.t.Fatalf("%s %s: got %d %s, %v, want %d", method, path, got.status, got.body, got.err, want)
	}
	return got.object(o.t)
}

func (a *admitted) object(t *testing.T) map[string]any {
	t.Helper()
	if len(a.body) == 0 {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal(a.body, &out); err != nil {
		t.Fatalf("%q: %v", a.body, err)
	}
	return out
}

// upload makes a draft of a policy and returns its version.
func (o *operator) upload(name string, source []byte) string {
	o.t.Helper()
	version, _ := o.call("POST", "/policies?name="+name, string(source), http.StatusCreated)["version"].(string)
	return version
}

// activate makes a version the one that is used.
func (o *operator) activate(name, version string) {
	o.t.Helper()
	o.call("POST", "/policies/"+name+"/activate", `{"version":"`+version+`"}`, http.StatusOK)
}

// testdata is a file of the gateway's testdata.
func testdata(t *testing.T, parts ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// only is an admission policy that lets one provider serve.
func only(provider string) []byte {
	return []byte(strings.ReplaceAll(`package gatewright.admission

exclude contains {"id": c.id, "reason": "not_PROVIDER"} if {
	some c in input.candidates
	c.provider != "PROVIDER"
}
`, "PROVIDER", provider))
}

// digest is the name of the version that a source becomes.
func digest(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}
