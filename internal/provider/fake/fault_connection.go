package fake

import (
	"net/http"
	"strconv"
	"time"
)

// connectionFaults are about when bytes come, and how the connection ends.
func connectionFaults() []faultDef {
	row := func(name, does string, play func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "connection", Does: does, Applies: AppliesAny, Params: p, Matrix: matrix},
			play:      play,
		}
	}
	headers := params("headers")
	after := params("after", "headers")
	return []faultDef{
		row("close", "the connection is closed (FIN) before any byte of an answer", (*exchange).cut, nil, "F05"),
		row("reset", "the connection is reset (RST) before any byte of an answer", (*exchange).reset, nil, "F06"),
		row("close-on-reuse", "a whole answer that promises to keep the connection, which is closed when the next request comes on it", playCloseOnReuse, headers, "F05"),
		row("silent", "nothing, ever", (*exchange).hang, nil, "F07"),
		row("headers-dripped", "the status line and headers byte by byte, delay apart (default 1s), then the answer", playDrip, params("delay", "headers"), "F08"),
		row("stall-after-headers", "200 and headers, then nothing, ever", func(x *exchange) {
			x.header(x.call.answerType())
			x.begin(http.StatusOK)
			x.flush()
			x.hang()
		}, headers, "F09"),
		row("reset-after-headers", "200 and headers, then a reset (HTTP/2: RST_STREAM)", func(x *exchange) {
			x.header(x.call.answerType())
			x.begin(http.StatusOK)
			x.flush()
			x.reset()
		}, headers, "F12", "F56"),
		row("reset-mid-body", "half the answer (a stream: so many content events), then a reset", func(x *exchange) {
			if x.sendPart() {
				x.reset()
			}
		}, after, "F12"),
		row("no-last-chunk", "half the answer (a stream: so many content events), chunked, then the connection is closed without the last chunk", func(x *exchange) {
			if x.sendPart() {
				x.cut()
			}
		}, after, "F14"),
		row("bad-chunk", "half the answer (a stream: so many content events), then a chunk whose length is no number", func(x *exchange) {
			if x.sendPart() && x.takeOver() {
				x.put([]byte("zz\r\nthis is no chunk\r\n"))
			}
		}, after, "F14"),
		row("stall", "half the answer (a stream: so many content events), then nothing, ever", func(x *exchange) {
			if x.sendPart() {
				x.hang()
			}
		}, after, "F15"),
		row("not-http", "bytes that are no HTTP", func(x *exchange) {
			x.raw(0, []byte("-ERR this port does not speak HTTP\r\n"))
		}, nil, "F06"),
	}
}

// defaultDrip is the wait between two bytes of a slow head.
const defaultDrip = time.Second

// playCloseOnReuse leaves the client with a connection that looks usable.
func playCloseOnReuse(x *exchange) {
	h, body := x.rawAnswer()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if !x.raw(http.StatusOK, append(rawHead("HTTP/1.1", http.StatusOK, h), body...)) {
		return
	}
	x.settle() // this request is over; the connection waits for the next
	select {
	case <-x.wire.more:
	case <-x.wire.gone:
	case <-x.up.sim.closed:
	}
}

// playDrip sends the head of an answer slowly.
func playDrip(x *exchange) {
	h, body := x.rawAnswer()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Connection", "close")
	head := rawHead("HTTP/1.1", http.StatusOK, h)
	if !x.raw(http.StatusOK, head[:1]) {
		return
	}
	for i := 1; i < len(head); i++ {
		if !x.wait(x.delay(defaultDrip)) || !x.put(head[i:i+1]) {
			return
		}
	}
	x.put(body)
}
