package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// dial opens a connection that is closed when the test ends.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// head is the beginning of a chat request, as bytes.
func (p *process) head() string {
	return "POST /v1/chat/completions HTTP/1.1\r\nHost: " + p.address + "\r\nContent-Type: application/json\r\n"
}

// exchange writes bytes to a connection of its own and reads what comes back
// until the connection ends: one answer, and how many bytes came behind it.
func (p *process) exchange(t *testing.T, raw string) (answer, int) {
	t.Helper()
	conn := dial(t, p.address)
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	// A gateway that has seen enough may close before everything is written.
	_, _ = io.WriteString(conn, raw)
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(in)
	if err != nil {
		t.Errorf("the connection is not closed: %v", err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}, len(rest)
}
