package translation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewright/engine"
	"gatewright/internal/wire/translate"
)

// recordedError is an error answer of an upstream and what it is.
type recordedError struct {
	name     string
	protocol translate.Protocol
	status   int
	body     []byte
	class    string // of the attempt
}

// errorClasses are the classes of attempts by the words of the index.
var errorClasses = map[string]string{
	"context_window_exceeded": "context_window", "bad_request": "client", "request_too_large": "client", "rate_limit": "rate_limit",
	"quota_exhausted": "quota", "content_policy": "content_policy", "overloaded": "server", "auth": "auth",
}

// makerOf returns the protocol that a maker speaks.
func makerOf(name string) translate.Protocol {
	switch {
	case strings.HasPrefix(name, "anthropic-openai"):
		return translate.Chat
	case strings.HasPrefix(name, "anthropic"):
		return translate.Messages
	case strings.HasPrefix(name, "gemini"), strings.HasPrefix(name, "vertex"):
		return translate.Gemini
	case strings.Contains(name, "responses"):
		return translate.Responses
	}
	return translate.Chat
}

func recordedErrors(t *testing.T) (all []recordedError) {
	t.Helper()
	read := func(into any, name ...string) {
		text, err := os.ReadFile(filepath.Join(append([]string{material, "errors"}, name...)...))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var quoted struct {
		Bodies []struct {
			ID, Class string
			Status    int
			Body      json.RawMessage
		}
	}
	read(&quoted, "bodies.json")
	for _, b := range quoted.Bodies {
		e := recordedError{b.ID, makerOf(b.ID), b.Status, b.Body, errorClasses[b.Class]}
		if strings.HasPrefix(b.ID, "gemini-rate") && strings.Contains(string(b.Body), "retryDelay") {
			e.class = "rate_limit_timed" // its body says for how long
		}
		all = append(all, e)
	}
	var index struct {
		Files []struct {
			File, Protocol string
			Status         int
		}
	}
	read(&index, "recorded", "index.json")
	classes := map[string]string{
		"error-404-": "not_found", "error-400-responses-model-not-found": "not_found", "error-429-retry-info": "rate_limit_timed",
		"error-429-": "rate_limit", "insufficient-quota": "quota", "error-400-": "client",
	}
	for _, f := range index.Files {
		if f.Protocol == "embeddings" {
			continue
		}
		var body json.RawMessage
		read(&body, "recorded", f.File)
		var exchange struct {
			Response struct{ Body json.RawMessage }
		}
		if json.Unmarshal(body, &exchange) == nil && exchange.Response.Body != nil {
			body = exchange.Response.Body
		}
		e := recordedError{name: f.File, protocol: makerOf(f.File), status: f.Status, body: body}
		longest := 0
		for part, class := range classes {
			if strings.Contains(f.File, part) && len(part) > longest {
				e.class, longest = class, len(part)
			}
		}
		all = append(all, e)
	}
	return all
}

// TestRecordedErrors gives every client the error of every recorded error answer:
// classed by what it says, and in words that tell what is wrong.
func TestRecordedErrors(t *testing.T) {
	for _, e := range recordedErrors(t) {
		for _, client := range clients {
			t.Run(fmt.Sprintf("%s/%v", e.name, client), func(t *testing.T) {
				t.Parallel()
				up := upstream{id: "a", protocol: e.protocol, handler: func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(e.status)
					_, _ = w.Write(e.body)
				}}
				for _, streams := range []bool{false, true} {
					out, d, err := newRig(t, up).ask(client, body(client, streams, ""))
					if got := attempts(d); err == nil || got != "a:"+e.class || out.out.Len() > 0 {
						t.Fatalf("got %s, %v, %q, want %s", got, err, out.out.String(), e.class)
					}
					u := upstreamError(t, err)
					if u.Status < 400 || u.Message == "" || strings.ContainsAny(u.Message, "{}") || u.Committed {
						t.Errorf("got %+v", u)
					}
					if e.class == "context_window" && u.Code != engine.CodeContextLengthExceeded || e.class == "auth" && u.Status < 500 {
						t.Errorf("got %+v", u)
					}
				}
			})
		}
	}
}
