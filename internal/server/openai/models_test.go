package openai_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func TestModels(t *testing.T) {
	r := start(t, nil)
	for _, c := range []struct {
		key  string
		want []string
	}{
		{keyAll, []string{"model-m", "m", "llama3.1:70b", "model-n", "openrouter/gpt-4", "x-v2:0", "mixed"}},
		{keyNarrow, []string{"model-n"}},
	} {
		t.Run(c.key, func(t *testing.T) {
			status, header, body := r.do(http.MethodGet, "/v1/models", c.key, "")
			var got struct {
				Object string
				Data   []model
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.Object != "list" {
				t.Fatalf("status %d, %v: %s", status, err, body)
			}
			var ids []string
			for _, m := range got.Data {
				ids = append(ids, m.ID)
				if want := (model{m.ID, "model", 1767225600, "gatewright"}); m != want {
					t.Errorf("model %+v, want %+v", m, want)
				}
			}
			if diff := cmp.Diff(c.want, ids); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			if header.Get("Content-Type") != "application/json" {
				t.Errorf("content type %q", header.Get("Content-Type"))
			}
			if _, _, again := r.do(http.MethodGet, "/v1/models", c.key, ""); again != body {
				t.Errorf("the list changes: %s, %s", body, again)
			}
			for _, id := range []string{"model-m", "model-n", "off", "bare", "halted"} {
				want := http.StatusNotFound
				if slices.Contains(ids, id) {
					want = http.StatusOK
				}
				if status, _, body := r.do(http.MethodGet, "/v1/models/"+id, c.key, ""); status != want {
					t.Errorf("%s: status %d, want %d: %s", id, status, want, body)
				}
			}
		})
	}
}

func TestOneModel(t *testing.T) {
	r := start(t, nil)
	for _, c := range []struct {
		path, key string
		status    int
		want      string // id, or code
	}{
		{"m", keyAll, 200, "m"},
		{"llama3.1:70b", keyAll, 200, "llama3.1:70b"},
		{"llama3.1%3A70b", keyAll, 200, "llama3.1:70b"},
		{"openrouter/gpt-4", keyAll, 200, "openrouter/gpt-4"},
		{"openrouter%2Fgpt-4", keyAll, 200, "openrouter/gpt-4"},
		{"x-v2:0", keyAll, 200, "x-v2:0"},
		{"x-v2:0:a", keyAll, 200, "x-v2:0:a"},
		{"openrouter/gpt-4:b", keyAll, 200, "openrouter/gpt-4:b"},
		{"b/openrouter/gpt-4", keyAll, 200, "b/openrouter/gpt-4"},
		{"llama3.1:70b:b", keyAll, 200, "llama3.1:70b:b"},
		{"m:@price", keyAll, 200, "m:@price"},
		{"m:@price", keyPlain, 400, "strategy_override_not_allowed"},
		{"b/model-m", keyNarrow, 400, "provider_not_allowed"},
		{"model-m", keyNarrow, 404, "model_not_found"},
		{"gpt-9", keyAll, 404, "model_not_found"},
		{"m/", keyAll, 404, "model_not_found"},
		{"a%0Ab", keyAll, 404, "model_not_found"},
	} {
		t.Run(c.key+" "+c.path, func(t *testing.T) {
			status, _, body := r.do(http.MethodGet, "/v1/models/"+c.path, c.key, "")
			if status != c.status {
				t.Fatalf("status %d, want %d: %s", status, c.status, body)
			}
			if status != http.StatusOK {
				if e := toldIn(t, body); e.code() != c.want || e.param() != "model" {
					t.Errorf("told %+v, want %s", e, c.want)
				}
				return
			}
			var got model
			if err := json.Unmarshal([]byte(body), &got); err != nil || got.ID != c.want || got.Object != "model" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	if r.last() != nil {
		t.Errorf("the executor was called with %+v", r.last())
	}
}
