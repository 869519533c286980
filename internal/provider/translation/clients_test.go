package translation_test

import (
	"strings"
	"testing"

	"gatewright/internal/wire/recorded"
	"gatewright/internal/wire/translate"
)

// asking is how a client asks in these tests: a client of chat does not ask for
// the usage of a stream.
func asking(client translate.Protocol, streams bool) recorded.Ask {
	return recorded.Ask{Client: recorded.Protocol(client.String()), Stream: streams}
}

// read reads an answer as a client of a protocol does.
func (s *sink) read(t *testing.T, client translate.Protocol, streams bool) *recorded.Reading {
	t.Helper()
	out := recorded.Read(asking(client, streams), s.out.String(), s.native)
	for _, fault := range out.Faults {
		t.Error(fault)
	}
	kind := "application/json"
	if streams {
		kind = "text/event-stream"
	}
	if got := s.answer.Header["Content-Type"]; len(got) != 1 || got[0] != kind {
		t.Errorf("content type %q", got)
	}
	if out.Model != publicModel {
		t.Errorf("the client sees the model %q", out.Model)
	}
	if strings.Contains(s.out.String(), upstreamModel) {
		t.Errorf("the client sees the upstream's name: %.300s", s.out.String())
	}
	return out
}
