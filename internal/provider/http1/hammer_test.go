package http1

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHammer runs many calls at once against an upstream that behaves in every
// way, with callers that leave at any moment. Each answer that is whole belongs
// to its request.
func TestHammer(t *testing.T) {
	up := serve(t, Options{MaxIdle: 6, IdleTimeout: 20 * time.Millisecond}, func(p *peer) {
		for {
			body, good := p.request()
			if !good || !misbehave(p, body) {
				return
			}
		}
	})
	const workers, calls = 16, 150
	var whole atomic.Int32
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := range calls {
				if hammer(t, up, fmt.Sprintf("%d/%d/", w, i)) {
					whole.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if n := whole.Load(); n < workers*calls/4 {
		t.Errorf("%d calls of %d were answered", n, workers*calls)
	}
}

// misbehave answers a request in one of many ways, and reports whether the
// connection goes on.
func misbehave(p *peer, body string) bool {
	length := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	half := body[:len(body)/2]
	switch rand.N(16) {
	case 0:
		return p.say(ok+"Connection: close\r\n"+length+"\r\n"+body) && false
	case 1:
		return p.say(ok+length+"\r\n"+half) && false
	case 2:
		return p.say(ok+length+"\r\n"+body) && false // closed without a word
	case 3:
		p.reset()
		return false
	case 4:
		return p.say(ok + length + "\r\n" + body + "unasked")
	case 5:
		return p.say(ok + length + "X: \x00\r\n\r\n" + body)
	case 6:
		return p.say(ok+"\r\n"+body) && false
	case 7:
		if !p.say(chunky+strconv.FormatInt(int64(len(half)), 16)+"\r\n"+half) || len(half) == 0 {
			return false
		}
		<-time.After(rand.N(time.Millisecond))
		rest := body[len(half):]
		return p.say("\r\n" + strconv.FormatInt(int64(len(rest)), 16) + "\r\n" + rest + "\r\n0\r\n\r\n")
	case 8:
		return p.say("HTTP/1.1 100 Continue\r\n\r\n") && p.say(ok+length+"\r\n"+body)
	case 9:
		<-time.After(rand.N(3 * time.Millisecond))
	}
	return p.say(ok + length + "\r\n" + body)
}

// hammer makes one call and reports whether its answer was whole.
func hammer(t *testing.T, up *upstream, id string) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	how := rand.N(8)
	if how == 0 {
		time.AfterFunc(rand.N(3*time.Millisecond), cancel)
	}
	body := &released{text: []byte(strings.Repeat(id, 1+rand.N(1000)))}
	if rand.N(20) == 0 {
		body.text = []byte(strings.Repeat(id, 1<<18))
	}
	r := Request{Method: http.MethodPost, URL: up.url, Body: body, Fresh: rand.N(10) == 0}
	a, err := up.origin.Do(ctx, &r)
	if err != nil {
		if n := body.n.Load(); n != 1 {
			t.Errorf("the body was released %d times", n)
		}
		return false
	}
	switch how {
	case 1:
		_ = a.Body.Close()
		return false
	case 2:
		time.AfterFunc(rand.N(time.Millisecond), func() { _ = a.Body.Close() })
	case 3:
		_, _ = io.CopyN(io.Discard, a.Body, 100)
		_ = a.Body.Close()
		return false
	}
	got, err := io.ReadAll(a.Body)
	_ = a.Body.Close()
	if err != nil {
		return false
	}
	// A body that ends with the connection cannot tell that it was cut.
	if string(got) != string(body.text) && (a.ContentLength >= 0 || a.TransferEncoding != nil) {
		t.Errorf("request %s got %d bytes that begin with %.20q", id, len(got), got)
	}
	return true
}
