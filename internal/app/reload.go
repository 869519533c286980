package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/policies"
)

// Loader reads the configuration again. The file is nil when it has errors.
type Loader func() (*config.File, config.Problems)

// catchHangup makes SIGHUP mean "reload" from here on: caught late, it would
// end a process that is just starting.
func catchHangup() (hangup <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// Reload reads the configuration and makes it current. On any fault the old
// one stays, whole, and the log says why. It reports whether the new one is
// current.
func (a *App) Reload(ctx context.Context) bool {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	file, problems := a.load()
	if file == nil && a.await(ctx, problems) {
		file, problems = a.load()
	}
	for _, p := range problems {
		level := slog.LevelWarn
		if p.Severity == config.SeverityError {
			level = slog.LevelError
		}
		a.logger.Log(ctx, level, "configuration", slog.String("problem", p.String()))
	}
	if file == nil {
		a.logger.ErrorContext(ctx, "configuration not reloaded: the one before stays", slog.Int("errors", len(problems.Errors())))
		return false
	}
	a.follow(ctx, file)
	filed, state, err := a.policies.read(ctx, file)
	var snapshot *engine.Snapshot
	var used map[clientKey]bool
	if err == nil {
		snapshot, used, err = a.build(ctx, a.policies.library, file, state)
	}
	if err != nil {
		a.policies.keepFiles()
		a.logger.ErrorContext(ctx, "configuration not reloaded: the one before stays", slog.Any("error", err))
		return false
	}
	a.policies.accept(filed, state)
	a.apply(ctx, file, snapshot, used)
	a.logger.InfoContext(ctx, "configuration reloaded", slog.Uint64("generation", snapshot.Generation))
	return true
}

// apply makes a snapshot current and carries over what is not in it.
func (a *App) apply(ctx context.Context, file *config.File, snapshot *engine.Snapshot, used map[clientKey]bool) {
	a.warnFixed(ctx, file)
	if a.logSettings != nil {
		a.logSettings.Set(file.Log)
	}
	a.dispatcher.SetRetryBudget(retryBudget(file))
	a.tracker.Configure(quotas(file))
	a.engine.Swap(snapshot) // at the start it is current already
	a.file.Store(file)
	a.clients.keep(used)
	a.tracker.Keep(deploymentIDs(snapshot))
}

// warnFixed says what a reload cannot change.
func (a *App) warnFixed(ctx context.Context, file *config.File) {
	old := a.file.Load()
	if old == nil {
		return
	}
	dataDir := file.DataDir
	if a.dataDir != "" {
		dataDir = a.dataDir
	}
	for name, change := range map[string][2]string{
		"listen":   {old.Listen, file.Listen},
		"data_dir": {a.openDir, dataDir},
	} {
		if change[0] != change[1] {
			a.logger.WarnContext(ctx, "a change takes effect at the next start only",
				slog.String("name", name), slog.String("now", change[0]), slog.String("then", change[1]))
		}
	}
}

// build makes a snapshot of a file and of the policies that there are. used are
// the clients that it needs. One that is not made current must be released.
func (a *App) build(ctx context.Context, library *policies.Library, file *config.File, state *policies.State) (s *engine.Snapshot, used map[clientKey]bool, err error) {
	b := &builder{file: file, targets: newTargets(file, a.clients, a.owners), providers: providersOf(file)}
	b.rules, err = library.Rules(ctx, state, slices.Collect(maps.Values(b.providers)), file.NamedPolicies())
	if err != nil {
		return nil, nil, fmt.Errorf("policies: %w", err)
	}
	defer func() {
		if err != nil {
			b.rules.Close()
		}
	}()
	spec, err := b.spec(a.generation.Add(1))
	if err != nil {
		return nil, nil, err
	}
	s, err = engine.NewSnapshot(spec, b.rules.Close)
	if err != nil {
		return nil, nil, fmt.Errorf("build the snapshot: %w", err)
	}
	return s, b.targets.used, nil
}

func deploymentIDs(s *engine.Snapshot) map[string]bool {
	ids := make(map[string]bool)
	for _, m := range s.Models {
		for _, d := range m.Deployments {
			ids[d.ID] = true
		}
	}
	return ids
}
