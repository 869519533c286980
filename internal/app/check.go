package app

import (
	"context"
	"errors"
	"log/slog"

	"gatewright/internal/config"
	"gatewright/policies"
)

// Check reports what a configuration that is valid by itself still lacks to be
// run: nil when a snapshot can be built of it. Its policies are compiled.
// Nothing is opened or called; a policy that the file names and does not have may
// have been uploaded, so it is not looked at.
func Check(ctx context.Context, file *config.File) (err error) {
	pool := newClients()
	defer pool.close()
	sources := &fileSources{}
	library, err := policies.NewLibrary(policies.Options{Logger: slog.New(slog.DiscardHandler), Sources: sources}) //nolint:contextcheck // lives until it is closed
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, library.Close(ctx)) }()
	filed, err := readPolicies(ctx, file, library, nil)
	if err != nil {
		return err
	}
	sources.bodies = filed.sources
	state, err := checked(file, filed)
	if err != nil {
		return err
	}
	a := &App{clients: pool}
	snapshot, _, err := a.build(ctx, library, file, state)
	if err != nil {
		return err
	}
	snapshot.Release()
	return nil
}

// checked is the state of a file alone. A ranking that it names and does not
// have stands there empty, and bindings of what it does not have are left out.
func checked(file *config.File, filed *filedPolicies) (*policies.State, error) {
	known := map[string]bool{}
	list := filed.policies
	for _, p := range list {
		known[p.Name] = true
	}
	var bindings []*policies.Binding
	for _, b := range filed.bindings {
		if known[b.Policy] {
			bindings = append(bindings, b)
		}
	}
	for _, name := range file.NamedPolicies() {
		if !known[name] {
			list = append(list, &policies.Policy{Name: name, Kind: policies.Ranking})
		}
	}
	return policies.NewState(list, bindings)
}
