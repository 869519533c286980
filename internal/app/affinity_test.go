package app

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/store"
)

func TestAffinityKeepsTargets(t *testing.T) {
	dir := t.TempDir()
	open := func() *store.Store {
		s, err := store.Open(dir, store.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	began := time.Now()
	key := engine.AffinityKey{Session: [16]byte{1}, Family: "generate", Model: "m"}
	other := engine.AffinityKey{Session: [16]byte{1}, Family: "embeddings", Model: "m"}
	direct := engine.Target{Deployment: "a/m"}
	through := engine.Target{Deployment: "c/o", Path: []string{"n", "o"}}

	s := open()
	a := affinity{s.Affinity()}
	a.Succeeded(key, through, began, began.Add(time.Hour))
	a.Succeeded(key, direct, began.Add(-time.Second), began.Add(time.Hour)) // older: loses
	a.Succeeded(other, direct, began, began.Add(time.Hour))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer func() { _ = s.Close() }()
	a = affinity{s.Affinity()}
	for k, want := range map[engine.AffinityKey]engine.Target{key: through, other: direct} {
		got, ok := a.Target(k, began.Add(time.Minute))
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("target of %v: found %v (-want +got):\n%s", k, ok, diff)
		}
	}
	if _, ok := a.Target(key, began.Add(2*time.Hour)); ok {
		t.Error("an idle session is still remembered")
	}
}
