package translation_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gatewright/internal/wire/translate"
)

// speaker is an upstream of one protocol that answers what a test says, whole or
// streamed as it is asked, and keeps what it was asked.
type speaker struct {
	t        *testing.T
	protocol translate.Protocol
	answer   func(r *translate.Request) *translate.Answer

	mu    sync.Mutex
	asked []asked
}

// asked is one request as the upstream got it.
type asked struct {
	path    string
	header  http.Header
	body    []byte
	request *translate.Request
}

// speaks returns an upstream that gives an answer.
func speaks(t *testing.T, p translate.Protocol, answer func(r *translate.Request) *translate.Answer) *speaker {
	t.Helper()
	return &speaker{t: t, protocol: p, answer: answer}
}

// says is an answer of one text.
func says(text string) func(*translate.Request) *translate.Answer {
	return func(*translate.Request) *translate.Answer {
		return &translate.Answer{
			ID: "answer-1", Created: 1_700_000_000,
			Parts: []translate.Part{{Kind: translate.KindText, Text: text}},
			End:   translate.End{Finish: translate.FinishStop},
			Usage: translate.Usage{Known: true, Input: 11, Output: 7},
		}
	}
}

// ServeHTTP answers a request.
func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("read the request: %v", err)
		return
	}
	codec, _ := translate.For(s.protocol)
	text := body
	if s.protocol == translate.Gemini { // its model and the wish for a stream stand in the path
		text = []byte(strings.Replace(string(body), "{", `{"model":"`+upstreamModel+`",`, 1))
	}
	request, _, err := codec.DecodeRequest(text)
	if err != nil {
		s.t.Errorf("%v upstream cannot read %s: %v", s.protocol, body, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, asked{path: r.URL.RequestURI(), header: r.Header, body: body, request: request})
	s.mu.Unlock()
	if request.Stream || strings.Contains(r.URL.Path, ":stream") {
		request.IncludeUsage = true
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(s.streamed(request))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.whole(request))
}

// whole returns the answer as JSON.
func (s *speaker) whole(r *translate.Request) []byte {
	codec, _ := translate.For(s.protocol)
	return codec.EncodeAnswer(nil, s.answer(r), r, upstreamModel)
}

// streamed returns the answer as a stream.
func (s *speaker) streamed(r *translate.Request) []byte {
	codec, _ := translate.For(s.protocol)
	encoder := codec.NewEncoder(r, upstreamModel)
	var out []byte
	for _, ev := range translate.Unfold(s.answer(r)) {
		out = encoder.Event(out, &ev)
	}
	return out
}

// last returns the newest request.
func (s *speaker) last() asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) == 0 {
		s.t.Fatalf("%v upstream was not asked", s.protocol)
	}
	return s.asked[len(s.asked)-1]
}

func (s *speaker) upstream(id string) upstream {
	return upstream{id: id, protocol: s.protocol, handler: s.ServeHTTP}
}
