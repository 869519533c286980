package fake

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const material = "../../../testdata/wire"

// recordedRequest is a request that a real service has taken, or that a real
// client has sent.
type recordedRequest struct {
	name, path string
	body       json.RawMessage
}

func recordedRequests(t *testing.T) (all []recordedRequest) {
	t.Helper()
	type entry struct {
		File    string
		Request struct {
			Method, Path string
			Body         json.RawMessage
		}
	}
	add := func(name string, e *entry) {
		if e.Request.Method == http.MethodPost && len(e.Request.Body) > 0 && !strings.Contains(string(e.Request.Body), "left out]") {
			all = append(all, recordedRequest{name, e.Request.Path, e.Request.Body})
		}
	}
	for _, maker := range []string{"anthropic", "gemini"} {
		root := filepath.Join(material, maker)
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".json" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var one entry
			if json.Unmarshal(text, &one) == nil {
				add(path, &one)
			}
			var many []entry
			if json.Unmarshal(text, &many) == nil {
				for i := range many {
					add(many[i].File, &many[i])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What real services have taken and real clients send is taken here.
func TestRecordedRequests(t *testing.T) {
	r := newRig(t, oneUpstream("answer: {reasoning: hm}"), Options{})
	all := recordedRequests(t)
	if len(all) < 15 {
		t.Fatalf("%d requests", len(all))
	}
	for _, one := range all {
		body := own(t, one.body)
		got := r.send(t, "POST", "/a"+one.path, body, headerVersion, versionOld)
		if got.status != 200 {
			t.Errorf("%s: %d %s\n%s", one.name, got.status, got.body, body)
		}
		if strings.Contains(body, `"temperature"`) {
			continue
		}
		if got := r.send(t, "POST", "/a"+one.path, body, headerVersion, versionNew); got.status != 200 {
			t.Errorf("%s in the newer interface: %d %s", one.name, got.status, got.body)
		}
	}
}

// own puts signatures of the simulation in the place of the services' own.
func own(t *testing.T, body []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, ok := v["thoughtSignature"]; ok {
				v["thoughtSignature"] = signatureOf(makerGoogle, "")
			}
			if _, ok := v["thought_signature"]; ok {
				v["thought_signature"] = signatureOf(makerGoogle, "")
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(v)
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
