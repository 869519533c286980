package app

import (
	"context"
	"log/slog"
	"testing"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/policies"
)

// buildFile makes a snapshot of a file without policies.
func buildFile(t *testing.T, a *App, file *config.File) *engine.Snapshot {
	t.Helper()
	library, err := policies.NewLibrary(policies.Options{Logger: slog.New(slog.DiscardHandler), Sources: &fileSources{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := library.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	state, err := policies.NewState(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := a.build(t.Context(), library, file, state)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
