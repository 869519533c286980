package recorded

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"
)

// Error is an error that a service answered with, recorded or quoted, and what it
// is.
type Error struct {
	Name     string
	Upstream Protocol
	Kind     string // as of [Entry]
	Status   int    // 200 = it comes in the body of what seems to be an answer
	Header   http.Header
	Body     []byte
	Class    string // of the attempt that fails with it, as in the gateway's logs
	// Message is what it says to people, as far as an index tells that.
	Message string
}

// errorClasses are the classes of attempts by the words of the index of quoted
// errors.
var errorClasses = map[string]string{
	"context_window_exceeded": "context_window", "bad_request": "client", "request_too_large": "client", "rate_limit": "rate_limit",
	"quota_exhausted": "quota", "content_policy": "content_policy", "overloaded": "server", "auth": "auth",
}

// recordedClasses are the classes by parts of the names of recorded errors, of
// which the longest counts.
var recordedClasses = map[string]string{
	"error-404-": "not_found", "error-400-responses-model-not-found": "not_found", "error-429-retry-info": "rate_limit_timed",
	"error-429-": "rate_limit", "insufficient-quota": "quota", "error-400-": "client",
}

// Errors returns every error in testdata/wire.
func Errors(wire fs.FS) (all []Error, err error) {
	text, err := fs.ReadFile(wire, "errors/bodies.json")
	if err != nil {
		return nil, err
	}
	var quoted struct {
		Bodies []struct {
			ID, Class string
			Status    int
			Body      json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &quoted); err != nil {
		return nil, err
	}
	for _, b := range quoted.Bodies {
		p := makerOf(b.ID)
		e := Error{Name: b.ID, Upstream: p, Kind: string(p), Status: b.Status, Header: header(nil, false), Body: b.Body, Class: errorClasses[b.Class]}
		if strings.HasPrefix(b.ID, "gemini-rate") && strings.Contains(string(b.Body), "retryDelay") {
			e.Class = "rate_limit_timed" // its body says for how long
		}
		all = append(all, e)
	}
	list, err := entries(wire, "errors/recorded", "")
	if err != nil {
		return nil, err
	}
	for i := range list {
		f := &list[i]
		e := Error{Name: f.File, Upstream: makerOf(f.File), Kind: f.Kind, Status: f.Status, Header: f.Header, Body: f.Body}
		var expect struct{ Error struct{ Message string } }
		if err := json.Unmarshal(f.Expect, &expect); err != nil {
			return nil, err
		}
		e.Message = expect.Error.Message
		longest := 0
		for part, class := range recordedClasses {
			if strings.Contains(f.File, part) && len(part) > longest {
				e.Class, longest = class, len(part)
			}
		}
		all = append(all, e)
	}
	return all, nil
}

// makerOf returns the protocol of the maker whose name is in front of another.
func makerOf(name string) Protocol {
	switch {
	case strings.HasPrefix(name, "anthropic-openai"):
		return Chat
	case strings.HasPrefix(name, "anthropic"):
		return Messages
	case strings.HasPrefix(name, "gemini"), strings.HasPrefix(name, "vertex"):
		return Gemini
	case strings.Contains(name, "responses"):
		return Responses
	}
	return Chat
}
