package recorded

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Protocol is what a service or a client speaks, in the words of the indexes and
// of the gateway's logs.
type Protocol string

// The protocols of which answers were recorded. No client of the gateway speaks
// Gemini's.
const (
	Chat      Protocol = "chat"
	Messages  Protocol = "messages"
	Gemini    Protocol = "gemini"
	Responses Protocol = "responses"
)

// folders are those of the indexes below testdata/wire, by the protocol that
// upstreams of the files speak.
var folders = map[Protocol]string{Chat: "openai", Messages: "anthropic", Gemini: "gemini", Responses: "responses"}

// Entry is one file of an index.
type Entry struct {
	File     string   // with its maker's name in front
	Upstream Protocol // of the index in which it stands
	Kind     string   // a protocol; or "embeddings", or "other" for what generates nothing
	Status   int      // of the answer
	// Header is that of the answer as far as it was recorded, without what tells
	// of the connection and of the body's framing. It has a content type always.
	Header http.Header
	Body   []byte // of the answer
	// Request is what the answer was given to, as far as it was recorded.
	Request struct {
		Method, Path string
		Body         json.RawMessage
	}
	Expect json.RawMessage // the right reading of the body
}

// Stream reports whether the answer is a stream of events.
func (e *Entry) Stream() bool { return strings.HasSuffix(e.File, ".sse") }

// Entries returns the files of every index of answers in testdata/wire, in the
// order of the indexes. Those of errors are not among them: see [Errors].
func Entries(wire fs.FS) (all []Entry, err error) {
	for _, p := range []Protocol{Chat, Messages, Gemini, Responses} {
		list, err := entries(wire, folders[p], p)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// indexed is a file as an index tells of it.
type indexed struct {
	File, Protocol string
	Status         int
	Request        struct {
		Method, Path string
		Body         json.RawMessage
	}
	ResponseHeaders map[string]string `json:"response_headers"`
	Expect          json.RawMessage
}

// exchange is a file that holds more than an answer's body.
type exchange struct {
	Request struct {
		Method, Path string
		Body         json.RawMessage
	}
	Response struct {
		Headers map[string]string
		Body    json.RawMessage
	}
}

// entries returns the files of the index in a folder.
func entries(wire fs.FS, folder string, p Protocol) ([]Entry, error) {
	name := path.Join(folder, "index.json")
	text, err := fs.ReadFile(wire, name)
	if err != nil {
		return nil, err
	}
	var index struct{ Files []indexed }
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all := make([]Entry, 0, len(index.Files))
	for i := range index.Files {
		f := &index.Files[i]
		e := Entry{File: f.File, Upstream: p, Kind: f.Protocol, Status: f.Status, Request: f.Request, Expect: f.Expect}
		if e.Status == 0 {
			e.Status = http.StatusOK
		}
		if e.Body, err = fs.ReadFile(wire, path.Join(folder, f.File)); err != nil {
			return nil, err
		}
		headers := f.ResponseHeaders
		var x exchange
		if !e.Stream() && json.Unmarshal(e.Body, &x) == nil && x.Response.Body != nil {
			e.Body, e.Request, headers = x.Response.Body, x.Request, x.Response.Headers
		}
		e.Header = header(headers, e.Stream())
		all = append(all, e)
	}
	return all, nil
}

// header returns recorded headers without those that tell how the bytes came.
func header(recorded map[string]string, stream bool) http.Header {
	h := http.Header{}
	for name, value := range recorded {
		h.Set(name, value)
	}
	for _, name := range []string{"Transfer-Encoding", "Content-Encoding", "Content-Length", "Connection", "Keep-Alive", "Date"} {
		h.Del(name)
	}
	switch {
	case h.Get("Content-Type") != "":
	case stream:
		h.Set("Content-Type", "text/event-stream")
	default:
		h.Set("Content-Type", "application/json")
	}
	return h
}
