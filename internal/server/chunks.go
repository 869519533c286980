package server

import (
	"net/http"
	"sync"
)

// chunks writes events of a stream to the connection itself, once net/http has sent
// the header. An event costs one copy and one write then, where net/http passes it
// through two buffers and three writers. What goes out is the same: one chunk of the
// chunked coding (RFC 9112, section 7.1) for all that was written since the last flush.
//
// net/http keeps the framing of the answer: it has announced the coding, it writes
// what is not flushed at the end and the last chunk. So it must hold nothing back
// when a chunk is written here: see [sink].
type chunks struct {
	conn *conn      // nil = this answer has none to write to
	room *chunkRoom // nil until it is needed
	n    int        // bytes in room, behind its head
}

const (
	// chunkBytes is the largest chunk: several events of a token. What is larger is
	// left to net/http.
	chunkBytes = 4 << 10
	chunkHead  = len("1000\r\n")
	chunkEnd   = len("\r\n")
)

type chunkRoom [chunkHead + chunkBytes + chunkEnd]byte

var chunkRooms = sync.Pool{New: func() any { return new(chunkRoom) }}

// connKey is the key of a connection in the context of its requests.
type connKey struct{}

// begin lets the chunks of an answer go to the connection of its request, if that
// speaks HTTP/1.1 and nothing lies between, as TLS does.
func (c *chunks) begin(r *http.Request) {
	if r.ProtoMajor == 1 && r.ProtoMinor >= 1 && r.Method != http.MethodHead {
		c.conn, _ = r.Context().Value(connKey{}).(*conn)
	}
}

// add takes p into the chunk. It reports false if that has no room left for it.
func (c *chunks) add(p []byte) bool {
	if len(p) > chunkBytes-c.n {
		return false
	}
	if c.room == nil {
		c.room, _ = chunkRooms.Get().(*chunkRoom)
	}
	c.n += copy(c.room[chunkHead+c.n:], p)
	return true
}

// take returns what was added and not flushed. It is valid until the next add.
func (c *chunks) take() []byte {
	if c.n == 0 {
		return nil
	}
	p := c.room[chunkHead : chunkHead+c.n]
	c.n = 0
	return p
}

// flush writes the chunk. After an error nothing can follow on the connection: it is
// closed, which ends the context of the request too.
func (c *chunks) flush() error {
	if c.n == 0 {
		return nil
	}
	from := chunkHead - len("\r\n")
	copy(c.room[from:], "\r\n")
	for size := c.n; size > 0; size >>= 4 {
		from--
		c.room[from] = "0123456789abcdef"[size&0xf]
	}
	to := chunkHead + c.n
	to += copy(c.room[to:], "\r\n")
	c.n = 0
	_, err := c.conn.out.Write(c.room[from:to])
	if err != nil {
		_ = c.conn.Close()
	}
	return err
}

// free gives the room back. What was not taken is lost.
func (c *chunks) free() {
	if c.room != nil {
		chunkRooms.Put(c.room)
	}
	*c = chunks{}
}
