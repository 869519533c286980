package socket

import (
	"bufio"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

const (
	hammerWriters = 4
	hammerRecords = 150
	hammerLargest = 40 << 10 // bytes
	hammerHead    = 12       // bytes: the writer, its count, the size
)

// TestHammer has several goroutines write records of all sizes to both ends of many
// connections at once. Each record arrives whole, and each writer's in their order.
func TestHammer(t *testing.T) {
	var wait sync.WaitGroup
	defer wait.Wait()
	for range 8 {
		here, there := pair(t)
		for _, way := range [][2]net.Conn{{here, there}, {there, here}} {
			w := NewWriter(way[0], time.Minute)
			for writer := range uint32(hammerWriters) {
				wait.Go(func() { hammerWrite(t, w, writer) })
			}
			r := mustReader(t, way[1])
			wait.Go(func() { hammerRead(t, r) })
		}
	}
}

func hammerWrite(t *testing.T, w *Writer, writer uint32) {
	t.Helper()
	for i := range uint32(hammerRecords) {
		size := rand.Uint32N(hammerLargest)
		p := make([]byte, hammerHead+size)
		binary.BigEndian.PutUint32(p, writer)
		binary.BigEndian.PutUint32(p[4:], i)
		binary.BigEndian.PutUint32(p[8:], size)
		for j := range p[hammerHead:] {
			p[hammerHead+j] = byte(writer + i)
		}
		if n, err := w.Write(p); n != len(p) || err != nil {
			t.Errorf("wrote %d of %d: %v", n, len(p), err)
			return
		}
	}
}

func hammerRead(t *testing.T, r *Reader) {
	t.Helper()
	in := bufio.NewReader(r)
	var next [hammerWriters]uint32
	head, data := make([]byte, hammerHead), make([]byte, hammerLargest)
	for range hammerWriters * hammerRecords {
		if _, err := io.ReadFull(in, head); err != nil {
			t.Error(err)
			return
		}
		writer, i, size := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
		if writer >= hammerWriters || i != next[writer] || size >= hammerLargest {
			t.Errorf("record %d of writer %d, %d bytes", i, writer, size)
			return
		}
		next[writer]++
		if _, err := io.ReadFull(in, data[:size]); err != nil {
			t.Error(err)
			return
		}
		for _, b := range data[:size] {
			if b != byte(writer+i) {
				t.Errorf("record %d of writer %d is not whole", i, writer)
				return
			}
		}
	}
}
