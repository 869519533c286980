package request_test

import (
	"testing"

	"gatewright/internal/wire/request"
)

func TestMetadata(t *testing.T) {
	for body, want := range map[string]request.Metadata{
		`{"user_id":"u","session_id":"s","langfuse_session_id":"l"}`: {Session: "s", User: "u"},
		`{"langfuse_session_id":"l","x":[1]}`:                        {Session: "l"},
		`{"session_id":"","langfuse_session_id":"l"}`:                {Session: "l"},
		`{"user_id":7,"session_id":{"session_id":"s"}}`:              {},
		`"session_id"`: {},
	} {
		r := request.NewReader([]byte(body), maxDepth, request.Quoted)
		if got := r.Metadata(); got != want || r.Close() != nil {
			t.Errorf("%s: got %+v, want %+v; %v", body, got, want, r.Err())
		}
	}
}
