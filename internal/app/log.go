package app

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"

	"gatewright/internal/config"
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
// that later.
func NewLogger(w io.Writer, c config.Log) (*slog.Logger, *LogSettings) {
	s := new(LogSettings)
	s.Set(c)
	options := &slog.HandlerOptions{Level: &s.level}
	return slog.New(&logHandler{settings: s, json: slog.NewJSONHandler(w, options), text: slog.NewTextHandler(w, options)}), s
}

// logHandler writes each entry in the format of the moment.
type logHandler struct {
	settings   *LogSettings
	json, text slog.Handler
}

var _ slog.Handler = (*logHandler)(nil)

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
