package app

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"

	"gatewright/internal/config"
	"gatewright/internal/meter"
)

// LogSettings change how a running gateway logs: level and format reload with
// the configuration.
type LogSettings struct {
	level slog.LevelVar
	text  atomic.Bool
}

// Set takes over what a configuration says.
func (s *LogSettings) Set(c config.Log) {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // configuration knows the levels
	s.level.Set(level)
	s.text.Store(c.Format == "text")
}

// NewLogger returns a logger that writes to w as configured, and what changes
// that later. Lines are written to w in parallel.
func NewLogger(w io.Writer, c config.Log) (*slog.Logger, *LogSettings) {
	s := new(LogSettings)
	s.Set(c)
	options := &slog.HandlerOptions{Level: &s.level}
	logger := slog.New(&logHandler{settings: s, lines: w, json: slog.NewJSONHandler(w, options), text: slog.NewTextHandler(w, options)})
	if b, ok := w.(*LogBuffer); ok {
		b.lost = func(lines int) { logger.Warn("log lines dropped", slog.Int("dropped", lines)) }
	}
	return logger, s
}

// logHandler writes each entry in the format of the moment.
type logHandler struct {
	settings   *LogSettings
	lines      io.Writer // for finished lines; nil = each has attributes of the handler's
	json, text slog.Handler
}

var _ meter.LineWriter = (*logHandler)(nil)

func (h *logHandler) current() slog.Handler {
	if h.settings.text.Load() {
		return h.text
	}
	return h.json
}

// Enabled implements [slog.Handler].
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.current().Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	return h.current().Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{settings: h.settings, json: h.json.WithAttrs(attrs), text: h.text.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{settings: h.settings, json: h.json.WithGroup(name), text: h.text.WithGroup(name)}
}

// Form implements [meter.LineWriter].
func (h *logHandler) Form() meter.Form {
	switch {
	case h.lines == nil:
		return meter.FormNone
	case h.settings.text.Load():
		return meter.FormText
	}
	return meter.FormJSON
}

// WriteLines implements [meter.LineWriter].
func (h *logHandler) WriteLines(lines []byte) {
	// What cannot be written is lost, as with any logger.
	_, _ = h.lines.Write(lines)
}
