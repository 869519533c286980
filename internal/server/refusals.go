package server

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"
)

const (
	// refusalsPerSecond is how many requests that never reached the engine get a
	// log line of their own: anybody can send those.
	refusalsPerSecond = 20
	// stacksPerSecond is how many panics are logged with their stack.
	stacksPerSecond = 1

	maxLogged = 256  // bytes of a text that came from outside, in a log line
	maxStack  = 8000 // bytes of a stack
)

// limitedLog says which of many like events may be logged. Its methods may run
// in parallel.
type limitedLog struct {
	perSecond int

	mu         sync.Mutex
	second     int64 // that n counts in
	n          int
	suppressed uint64 // since the last that was allowed
}

func newLimitedLog(perSecond int) *limitedLog { return &limitedLog{perSecond: perSecond} }

// allow reports whether an event may be logged now, and how many before it were
// not.
func (l *limitedLog) allow() (suppressed uint64, ok bool) {
	second := time.Now().Unix()
	l.mu.Lock()
	defer l.mu.Unlock()
	if second != l.second {
		l.second, l.n = second, 0
	}
	if l.n >= l.perSecond {
		l.suppressed++
		return 0, false
	}
	l.n++
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}

// logRefusal writes the line of a request that the engine never saw. All others
// get theirs from the Recorder.
func (x *Exchange) logRefusal(ctx context.Context, e *Error) {
	suppressed, ok := x.server.refusals.allow()
	if !ok {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", x.ID),
		slog.String("method", clip(x.Request.Method, maxLogged)),
		slog.String("path", clip(x.Request.URL.Path, maxLogged)),
		slog.Int("status", e.HTTPStatus()),
		slog.String("code", e.Code),
	}
	if x.Caller != nil && x.Caller.Key != "" {
		attrs = append(attrs, slog.String("key", x.Caller.Key))
	} else if host, _, err := net.SplitHostPort(x.Request.RemoteAddr); err == nil {
		attrs = append(attrs, slog.String("remote", host))
	}
	if suppressed > 0 {
		attrs = append(attrs, slog.Uint64("suppressed", suppressed))
	}
	x.server.logger.LogAttrs(ctx, slog.LevelInfo, "request refused", attrs...)
}
