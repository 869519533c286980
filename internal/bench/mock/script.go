package mock

import (
	"fmt"
	"net/http"
	"slices"

	"gatewright/internal/bench/dialog"
)

// response returns a whole response with a JSON body.
func response(status int, header, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s",
		status, http.StatusText(status), len(body), header, body)
}

func limitedResponse(header string) []byte {
	return response(http.StatusTooManyRequests, header,
		`{"error":{"message":"Rate limit reached for requests","type":"requests","param":null,"code":"rate_limit_exceeded"}}`)
}

var streamHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n" +
	"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n")

// piece is a part of an answer; only the marks in it change.
type piece struct {
	bytes []byte
	marks []int
}

func newPiece(b []byte) piece { return piece{b, dialog.Marks(b)} }

// with returns the piece with that mark, valid until the next call.
func (p piece) with(mark []byte) []byte {
	for _, at := range p.marks {
		copy(p.bytes[at:], mark)
	}
	return p.bytes
}

// script holds the answers of one connection.
type script struct {
	answer       piece
	events       []piece // one chunk each
	end          piece   // finish, [DONE], the last chunk
	endWithUsage piece
}

func newScript() *script {
	s := &script{answer: newPiece(response(http.StatusOK, "", string(dialog.Answer())))}
	for i := range dialog.Chunks {
		s.events = append(s.events, newPiece(chunk(dialog.Event(i))))
	}
	const last = "0\r\n\r\n"
	finish := dialog.Event(dialog.Chunks)
	s.end = newPiece(append(chunk(slices.Concat(finish, []byte(dialog.Done))), last...))
	s.endWithUsage = newPiece(append(chunk(slices.Concat(finish, dialog.UsageEvent(), []byte(dialog.Done))), last...))
	return s
}

// chunk frames b as a chunk of the chunked coding.
func chunk(b []byte) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b) }
