package app

import (
	"context"
	"log/slog"
	"os"
	"slices"

	"gatewright/internal/config"
)

// watch reloads on SIGHUP, and when the configuration or the file of a policy
// changes, until ctx ends.
func (a *App) watch(ctx context.Context, hangup <-chan os.Signal) {
	changed := make(chan struct{}, 1)
	stop := a.watchFiles(ctx, changed)
	defer stop()
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

// watchFiles tells of changes of files until ctx ends; stop waits for that.
func (a *App) watchFiles(ctx context.Context, changed chan<- struct{}) (stop func()) {
	if a.path == "" {
		return func() {}
	}
	warn := func(err error) {
		a.logger.WarnContext(ctx, "files are not watched; send SIGHUP to reload them", slog.Any("error", err))
	}
	watcher, err := config.NewWatcher(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}, a.watched(a.file.Load())...)
	if err != nil {
		warn(err)
		return func() {}
	}
	a.watcher.Store(watcher)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := watcher.Run(ctx); err != nil && ctx.Err() == nil {
			warn(err)
		}
	}()
	return func() { <-done }
}

// watched lists the files that a configuration is made of.
func (a *App) watched(file *config.File) []string {
	return append([]string{a.path}, file.PolicyFiles()...)
}

// follow watches the files of a configuration. It is called before their content
// is read.
func (a *App) follow(ctx context.Context, file *config.File) {
	a.follows(ctx, a.watched(file))
}

// await watches what a configuration lacks that cannot be used, beside what is
// watched already. It reports whether something of it has come meanwhile.
func (a *App) await(ctx context.Context, problems config.Problems) (came bool) {
	var missing []string
	for _, p := range problems {
		if p.Awaits != "" {
			missing = append(missing, p.Awaits)
		}
	}
	current := a.file.Load()
	if len(missing) == 0 || current == nil {
		return false
	}
	a.follows(ctx, append(a.watched(current), missing...))
	return slices.ContainsFunc(missing, func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

func (a *App) follows(ctx context.Context, files []string) {
	watcher := a.watcher.Load()
	if watcher == nil {
		return
	}
	if err := watcher.Set(ctx, files...); err != nil && ctx.Err() == nil {
		a.logger.WarnContext(ctx, "not every file is watched; send SIGHUP to reload the others", slog.Any("error", err))
	}
}
