//go:build !race

package server

// The race detector lets pools forget what is in them, so what is allocated means
// something only without it.

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// TestRequestAllocations guards what one request costs from the first byte of
// the client to the last of the answer, the part of net/http included: 20 or so.
func TestRequestAllocations(t *testing.T) {
	r := newRig(t, setup{execute: answerWith(`"served"`)})
	r.decisions.forget = true
	p := newPipes()
	r.serve(p)
	conn := mustDial(t, p)
	request := []byte("POST /v1/relay HTTP/1.1\r\n" + authorized + "Content-Type: application/json\r\nContent-Length: 3\r\n\r\n\"x\"")
	in := bufio.NewReader(conn)
	answer := make([]byte, 4<<10)
	once := func() {
		if _, err := conn.Write(request); err != nil {
			t.Fatal(err)
		}
		if n, err := in.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 200 OK\r\n") {
			t.Fatalf("answer %q, %v", answer[:n], err)
		}
	}
	const most = 55
	if n := testing.AllocsPerRun(200, once); n > most {
		t.Errorf("a request costs %.0f allocations, want at most %d", n, most)
	} else {
		t.Logf("%.0f allocations", n)
	}
}

func TestAllocationsOfChunks(t *testing.T) {
	c, p := chunks{}, bytes.Repeat([]byte{'x'}, 200)
	if n := testing.AllocsPerRun(100, func() {
		if !c.add(p) || len(c.take()) != len(p) {
			t.Fatal("no room")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
