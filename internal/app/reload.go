package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"gatewright/engine"
	"gatewright/internal/config"
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

// watch reloads on SIGHUP, and when the file changes, until ctx ends.
func (a *App) watch(ctx context.Context, hangup <-chan os.Signal) {
	changed := make(chan struct{}, 1)
	if a.path != "" {
		done := make(chan struct{})
		go func() {
			defer close(done)
			err := config.Watch(ctx, a.path, func() {
				select {
				case changed <- struct{}{}:
				default:
				}
			})
			if err != nil && ctx.Err() == nil {
				a.logger.WarnContext(ctx, "the configuration file is not watched; send SIGHUP to reload it", slog.Any("error", err))
			}
		}()
		defer func() { <-done }()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		case <-changed:
		}
		a.Reload(ctx)
	}
}

// Reload reads the configuration and makes it current. On any fault the old
// one stays, whole, and the log says why. It reports whether the new one is
// current.
func (a *App) Reload(ctx context.Context) bool {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	file, problems := a.load()
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
	snapshot, used, err := a.build(file)
	if err != nil {
		a.logger.ErrorContext(ctx, "configuration not reloaded: the one before stays", slog.Any("error", err))
		return false
	}
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

// build makes a snapshot of a file. used are the clients that it needs.
func (a *App) build(file *config.File) (s *engine.Snapshot, used map[clientKey]bool, err error) {
	b := &builder{file: file, targets: newTargets(file, a.clients, a.owners)}
	spec, err := b.spec(a.generation.Add(1))
	if err != nil {
		return nil, nil, err
	}
	s, err = engine.NewSnapshot(spec, nil)
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
