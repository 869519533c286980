package policies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"gatewright/wasm"
)

// What says nothing against a policy does not suspend it: clients that hang up, and
// more requests at once than there are instances.
func TestFaultsThatDoNotSuspend(t *testing.T) {
	for _, c := range []struct {
		name   string
		left   bool
		fault  error
		faults uint64 // that are counted
		ready  bool
	}{
		{"the client has left", true, context.Canceled, 0, true},
		{"the client has left, and the policy failed", true, errors.New("trap"), faultLimit, false},
		{"no instance is free", false, fmt.Errorf("deny: %w", &wasm.Fault{Kind: wasm.FaultBusy, Detail: "none"}), 20, true},
		{"a trap", false, &wasm.Fault{Kind: wasm.FaultTrap, Detail: "unreachable"}, faultLimit, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := &unit{
				program: scripted(func(*input, *verdict) error { return c.fault }),
				gauge:   &gauge{logger: slog.New(slog.DiscardHandler)},
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.left {
				cancel()
			}
			for range 20 {
				if _, err := u.run(ctx, ask("k"), &input{}, &verdict{}); err == nil {
					t.Fatal("no fault")
				}
			}
			if ready := u.gauge.ready(noon); ready != c.ready {
				t.Errorf("ready: %v, want %v", ready, c.ready)
			}
			if got := u.gauge.status(noon); got.Faults != c.faults || got.Evaluations != c.faults {
				t.Errorf("%d faults of %d, want %d", got.Faults, got.Evaluations, c.faults)
			}
		})
	}
}
