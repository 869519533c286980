package anthropic_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type model struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

type page struct {
	Data    []model `json:"data"`
	HasMore *bool   `json:"has_more"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
}

var version = [2]string{"anthropic-version", "2023-06-01"}

func TestModels(t *testing.T) {
	r := start(t, nil)
	all := []string{"claude-a", "sonnet", "org/claude", "claude-b", "small"}
	for _, c := range []struct {
		name, key, query string
		want             []string
		more             bool
	}{
		{"all", keyAll, "", all, false},
		{"what a key may use", keyNarrow, "", []string{"claude-b"}, false},
		{"the first page", keyAll, "?limit=2", all[:2], true},
		{"the next page", keyAll, "?limit=2&after_id=sonnet", all[2:4], true},
		{"the last page", keyAll, "?limit=2&after_id=claude-b", all[4:], false},
		{"behind the last", keyAll, "?after_id=small", nil, false},
		{"the page before", keyAll, "?limit=2&before_id=claude-b", all[1:3], true},
		{"the page before that", keyAll, "?limit=2&before_id=sonnet", all[:1], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, header, body := r.do(http.MethodGet, "/v1/models"+c.query, c.key, "", version)
			var got page
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.HasMore == nil {
				t.Fatalf("status %d, %v: %s", status, err, body)
			}
			var ids []string
			for _, m := range got.Data {
				ids = append(ids, m.ID)
				if want := (model{"model", m.ID, m.ID, "2026-01-01T00:00:00Z"}); m != want {
					t.Errorf("model %+v, want %+v", m, want)
				}
			}
			if diff := cmp.Diff(c.want, ids); diff != "" || *got.HasMore != c.more {
				t.Errorf("more %v, ids (-want +got):\n%s", *got.HasMore, diff)
			}
			if n := len(ids); n == 0 && (got.FirstID != nil || got.LastID != nil || got.Data == nil) ||
				n > 0 && (*got.FirstID != ids[0] || *got.LastID != ids[n-1]) {
				t.Errorf("page %s", body)
			}
			if header.Get("Request-Id") == "" {
				t.Error("no request-id")
			}
		})
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?limit=x", "?after_id=nobody", "?before_id=nobody", "?after_id=small&before_id=small"} {
		status, header, body := r.do(http.MethodGet, "/v1/models"+query, keyAll, "", version)
		if e := toldIn(t, body, header); status != http.StatusBadRequest || e.Error.Details.Code != "invalid_value" {
			t.Errorf("%s: status %d, %+v", query, status, e)
		}
	}
	if status, _, body := r.do(http.MethodGet, "/v1/models", keyAll, "", [2]string{"Authorization", "Bearer " + keyAll}); status != http.StatusOK || body != `"another protocol's list"` {
		t.Errorf("without a version: status %d, %s", status, body)
	}
}

func TestOneModel(t *testing.T) {
	r := start(t, nil)
	for id, want := range map[string]int{"claude-a": 200, "org/claude": 200, "a/claude-a": 200, "claude-9": 404} {
		status, header, body := r.do(http.MethodGet, "/v1/models/"+id, keyAll, "", version)
		if status != want {
			t.Errorf("%s: status %d, want %d", id, status, want)
		}
		if status != http.StatusOK {
			toldIn(t, body, header)
			continue
		}
		var got model
		if err := json.Unmarshal([]byte(body), &got); err != nil || got.ID != id {
			t.Errorf("%s: %s, %v", id, body, err)
		}
	}
	if status, _, _ := r.do(http.MethodGet, "/v1/models/claude-a", keyNarrow, "", version); status != http.StatusNotFound {
		t.Errorf("a model of others: status %d", status)
	}
}
