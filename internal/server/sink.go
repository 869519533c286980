package server

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"gatewright/engine"
)

// Faults of an executor that uses its sink in the wrong order.
var (
	errCommittedTwice = errors.New("commit: the answer has begun already")
	errNotCommitted   = errors.New("write: the answer has not begun")
)

// sink writes the answer of one exchange. Writes block while the client does
// not read, at most for the time of one write, and buffer no more than net/http
// does (4 KiB).
//
// The header of a stream, its first event and what is too large for a chunk go
// through net/http; after a flush, when that holds nothing back, events are chunks.
type sink struct {
	x         *Exchange
	chunks    chunks
	clear     bool // net/http holds nothing back
	committed bool
	stream    bool // server-sent events, so an error can be told after the commit
	gone      bool // a write failed: the client is not there, though its context may not know yet
}

var _ engine.Sink = (*sink)(nil)

// Commit sends status and headers with the first bytes that follow.
func (s *sink) Commit(a engine.Answer) error {
	if s.committed {
		return errCommittedTwice
	}
	s.committed = true
	h := s.x.writer.Header()
	passUpstream(h, a.Header)
	s.setType(h, a.Header)
	if s.stream && len(h[headerContentLength]) == 0 {
		s.chunks.begin(s.x.Request)
	}
	if s.x.Caller.ExposeRouting {
		h[headerDeployment] = []string{printable(a.Deployment.ID)}
		setAttempts(h, a.Attempts)
		if a.Usage.Known && a.Cost != engine.Unknown {
			h[headerCost] = []string{formatUSD(a.Cost)}
		}
	}
	s.x.writer.WriteHeader(a.Status)
	return nil
}

// setType labels the body: an executor that knows better than the request says
// so in the answer's headers, and may give the length of a whole answer.
func (s *sink) setType(h http.Header, from map[string][]string) {
	if values := from[headerContentType]; len(values) == 1 {
		s.stream = strings.HasPrefix(values[0], eventType[0])
		h[headerContentType] = values
	} else if s.stream {
		h[headerContentType] = eventType
	} else {
		h[headerContentType] = jsonType
	}
	if s.stream {
		h["Cache-Control"] = noCache
		h["X-Accel-Buffering"] = noBuffering
	} else if values := from[headerContentLength]; len(values) == 1 {
		if _, err := strconv.ParseUint(values[0], 10, 63); err == nil {
			h[headerContentLength] = values
		}
	}
}

var (
	noCache     = []string{"no-cache"}
	noBuffering = []string{"no"} // nginx would hold events back
)

// Write sends bytes of the body.
func (s *sink) Write(p []byte) (int, error) {
	if !s.committed {
		return 0, errNotCommitted
	}
	if s.clear && s.chunks.add(p) {
		return len(p), nil
	}
	if err := s.pass(s.chunks.take()); err != nil {
		return 0, err
	}
	return len(p), s.pass(p)
}

// pass hands bytes of the body to net/http.
func (s *sink) pass(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	s.clear = false
	_, err := s.x.writer.Write(p)
	s.gone = s.gone || err != nil
	return err
}

// Flush pushes what was written to the client.
func (s *sink) Flush() error {
	if !s.committed {
		return errNotCommitted
	}
	var err error
	if s.clear {
		err = s.chunks.flush()
	} else {
		err = s.x.control.Flush()
		s.clear = err == nil && s.chunks.conn != nil
	}
	s.gone = s.gone || err != nil
	return err
}

// lastEvent ends a stream with an event. The client may be gone.
func (s *sink) lastEvent(event []byte) {
	if _, err := s.Write(event); err == nil {
		_ = s.Flush()
	}
}

// end leaves what was not flushed to net/http, which writes it with the last chunk.
func (s *sink) end() {
	_ = s.pass(s.chunks.take()) // net/http sees to a client that is gone
	s.chunks.free()
}

// broken reports whether part of a whole answer went out, so that only breaking
// the connection off can say that it is not all.
func (s *sink) broken() bool { return s.committed && !s.stream }
