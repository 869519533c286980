package meter

import (
	"log/slog"
	"testing"
	"time"

	"gatewright/engine"
)

// null takes finished lines and keeps none.
type null struct{ slog.Handler }

func (null) Form() Form { return FormJSON }

func (null) WriteLines([]byte) {}

// TestLineAllocations guards what a line costs beside its bytes: the texts that
// are made of a session's key and of what a request needs.
func TestLineAllocations(t *testing.T) {
	r := New(Options{Logger: slog.New(null{slog.DiscardHandler})})
	r.Close() // its goroutine's part is this test's now
	batch := []*engine.Decision{{
		ID: "0194-id", Time: time.Now(), Model: "m", Strategy: "balanced", Snapshot: 7, Duration: time.Second,
		Request: &engine.Request{
			Model: "m", Caller: &engine.Caller{Key: "ci", Team: "web"}, Needs: engine.CapTools | engine.CapVision,
			Session: engine.Session{Key: [16]byte{1}, Source: "derived"},
		},
		Order:    []string{"a/m", "b/m"},
		Attempts: []engine.Attempt{{Deployment: "a/m", Start: time.Now(), Duration: time.Second, Status: 200}},
		Result:   engine.Result{Status: 200, Deployment: "a/m", Usage: engine.Usage{Known: true, Input: 11, Output: 5}},
	}}
	const most = 4
	if n := testing.AllocsPerRun(100, func() { r.write(batch) }); n > most {
		t.Errorf("a line costs %.0f allocations, want at most %d", n, most)
	}
}
