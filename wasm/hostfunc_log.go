package wasm

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// Bounds of what a guest may log.
const (
	maxLines    = 16      // in one evaluation
	maxLine     = 1 << 10 // bytes of one line; what is longer is cut
	maxPerSec   = 100     // lines of one module in one second that reach the log
	charLogUnit = 8       // bytes that cost one unit
)

// line is one message of a guest: where it stands in the text.
type line struct {
	level    uint32
	from, to int
}

// notes are what a guest has said during one evaluation.
type notes struct {
	lines   []line
	text    []byte
	dropped uint64
}

func (n *notes) reset() { n.lines, n.text, n.dropped = n.lines[:0], n.text[:0], 0 }

// last is what the guest said last, to stand behind a message; "" = nothing.
func (n *notes) last() string {
	if len(n.lines) == 0 {
		return ""
	}
	l := n.lines[len(n.lines)-1]
	return ": " + oneLine(string(n.text[l.from:l.to]))
}

// logFunctions are those of the module gw.
var logFunctions = map[string]hostCall{"log": hostLog}

// hostLog is gw.log(level, ptr, len). The line is kept until the evaluation is
// over, so no guest waits for a log.
func hostLog(i *instance, stack []uint64) {
	level, at, n := arg(stack, 0), arg(stack, 1), arg(stack, 2)
	b := i.view("gw.log", at, n)
	if len(i.notes.lines) == maxLines {
		i.notes.dropped++
		return
	}
	b = b[:min(len(b), maxLine)]
	i.charge(int64(len(b)) / charLogUnit)
	from := len(i.notes.text)
	i.notes.text = append(i.notes.text, b...)
	i.notes.lines = append(i.notes.lines, line{level, from, len(i.notes.text)})
}

// levels are slog's for those of the contract.
var levels = [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

// pace lets so many lines through in a second.
type pace struct {
	second atomic.Int64
	count  atomic.Int64
}

func (p *pace) allows(now time.Time) bool {
	if s := now.Unix(); p.second.Swap(s) != s {
		p.count.Store(0)
	}
	return p.count.Add(1) <= maxPerSec
}

// tell passes on what a guest has said.
func (m *Module) tell(ctx context.Context, n *notes) {
	m.count.dropped.Add(n.dropped)
	log := m.runtime.config.Log
	for _, l := range n.lines {
		level := levels[min(int(l.level), len(levels)-1)]
		if log == nil || !log.Enabled(ctx, level) || !m.pace.allows(time.Now()) {
			m.count.dropped.Add(1)
			continue
		}
		m.count.lines.Add(1)
		log.LogAttrs(ctx, level, "policy says", slog.String("policy", m.info.Name), slog.String("text", oneLine(string(n.text[l.from:l.to]))))
	}
	n.reset()
}
