package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/meter"
	"gatewright/internal/owner"
	"gatewright/internal/provider"
	"gatewright/internal/provider/health"
	"gatewright/internal/server"
	"gatewright/internal/server/anthropic"
	"gatewright/internal/server/openai"
	"gatewright/store"
)

// Options say what to run.
type Options struct {
	File     *config.File // the configuration to start with
	Load     Loader       // reads it again
	Path     string       // file to watch; "" = none
	DataDir  string       // overrides the file's; "" = the file's
	Logger   *slog.Logger
	Log      *LogSettings         // what a reload changes in Logger; nil = nothing
	Recorder engine.Recorder      // sees every decision too; nil = none
	Ready    func(address string) // called once it listens; nil = not
	// AdminReady is called once the admin API listens, AdminToken with the token
	// that the first start makes, and never again. nil = not.
	AdminReady func(address string)
	AdminToken func(token string)
	// Vet is the command that judges uploaded policies in a process of their own, see
	// vetting.Serve; nil = they are judged in this one.
	Vet []string
}

// App is a running gateway.
type App struct {
	logger      *slog.Logger
	logSettings *LogSettings
	load        Loader
	path        string
	dataDir     string // what overrides the file's data_dir; "" = nothing
	openDir     string // the data_dir in use

	store      *store.Store
	tracker    *health.Tracker
	owners     *owner.Registry
	policies   *policyRoom
	clients    *clients
	dispatcher *provider.Dispatcher
	recorder   *meter.Recorder
	engine     *engine.Engine
	server     *server.Server

	adminReady func(string)
	reloading  sync.Mutex // one reload or change of policies at a time
	file       atomic.Pointer[config.File]
	watcher    atomic.Pointer[config.Watcher] // nil while no file is watched
	generation atomic.Uint64
}

// Run starts the gateway, serves until ctx ends, lets running requests finish,
// and closes everything. The error is nil after an orderly end.
func Run(ctx context.Context, o Options) error {
	tuneGC()
	hangup, stop := catchHangup()
	defer stop()
	a, err := start(ctx, o)
	if err != nil {
		return err
	}
	err = a.serve(ctx, hangup, o.Ready, o.AdminToken)
	return errors.Join(err, a.close()) //nolint:contextcheck // it must close though ctx has ended
}

// start opens the store and builds everything up to the server.
func start(ctx context.Context, o Options) (a *App, err error) {
	a = &App{
		logger: o.Logger, logSettings: o.Log, load: o.Load, path: o.Path, dataDir: o.DataDir,
		openDir: o.File.DataDir, clients: newClients(), adminReady: o.AdminReady,
	}
	if a.dataDir != "" {
		a.openDir = a.dataDir
	}
	defer func() { //nolint:contextcheck // it must close though ctx has ended
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.store, err = store.Open(a.openDir, store.Options{Logger: o.Logger}); err != nil {
		return a, err
	}
	secret, err := store.Secret(a.openDir)
	if err != nil {
		return a, err
	}
	a.tracker, err = health.New(health.Options{
		Clock: time.Now, Logger: o.Logger,
		Cooldowns: a.store.Cooldowns(), Circuits: a.store.Circuits(), Statistics: a.store.Statistics(), Quotas: a.store.Quotas(),
	})
	if err != nil {
		return a, fmt.Errorf("load what is known of deployments: %w", err)
	}
	if a.owners, err = owner.New(owner.Options{Table: a.store.Owners(), Logger: o.Logger}); err != nil {
		return a, err
	}
	if a.policies, err = newPolicyRoom(a, a.store.Objects(), filepath.Join(a.openDir, "wasm"), o.Vet, o.Logger); err != nil { //nolint:contextcheck // lives until close
		return a, err
	}
	filed, state, err := a.policies.read(ctx, o.File)
	if err != nil {
		return a, err
	}
	snapshot, used, err := a.build(ctx, a.policies.library, o.File, state)
	if err != nil {
		return a, err
	}
	a.policies.accept(filed, state)
	a.dispatcher = provider.NewDispatcher(a.tracker, provider.Options{Logger: o.Logger, Clock: time.Now})
	a.recorder = meter.New(meter.Options{Logger: o.Logger, Status: server.StatusOf}) //nolint:contextcheck // lives until close, not until ctx ends
	a.engine = engine.New(snapshot, a.tracker, affinity{a.store.Affinity()}, a.dispatcher, record(a.recorder, o.Recorder))
	a.server = server.New(server.Options{ //nolint:contextcheck // lives until it is shut down
		Engine: a.engine, Logger: o.Logger, Rooms: []server.Room{openai.New(), openai.NewResponses(a.owners), anthropic.New()},
		SessionSecret: [32]byte(secret),
		// Ready is left out: a disk that refuses writes must not take a gateway out
		// of service that goes on from memory. The log tells of it.
	})
	a.apply(ctx, o.File, snapshot, used)
	return a, nil
}

// serve listens, reloads and serves until ctx ends; then it drains.
func (a *App) serve(ctx context.Context, hangup <-chan os.Signal, ready, announce func(string)) error {
	file := a.file.Load()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", file.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	operators, err := a.listenAdmin(ctx, announce)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	address := listener.Addr().String()
	a.logger.InfoContext(ctx, "serving", slog.String("address", address),
		slog.Int("models", len(file.Models)), slog.Int("providers", len(file.Providers)),
		slog.Int("policies", len(a.policies.State().Policies())), slog.String("data_dir", a.openDir))
	if ready != nil {
		ready(address)
	}
	var watching sync.WaitGroup
	watching.Go(func() { a.watch(ctx, hangup) })
	defer watching.Wait()
	served := make(chan error, 1)
	go func() { served <- a.server.Serve(listener) }()
	select {
	case err := <-served:
		return errors.Join(err, operators.shutdown(context.WithoutCancel(ctx)))
	case <-ctx.Done():
	}
	drain := a.file.Load().Timeouts.Drain
	a.logger.InfoContext(ctx, "draining", slog.Duration("at_most", drain))
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := a.server.Shutdown(stopping); err != nil {
		a.logger.WarnContext(ctx, "requests were cut off when the drain time was over", slog.Any("error", err))
	}
	if err := operators.shutdown(context.WithoutCancel(ctx)); err != nil {
		a.logger.WarnContext(ctx, "the admin API did not end in time", slog.Any("error", err))
	}
	return <-served
}

// close ends what start began, in the order that loses nothing.
func (a *App) close() error {
	var errs []error
	if a.recorder != nil {
		a.recorder.Close()
	}
	if a.tracker != nil {
		errs = append(errs, a.tracker.Close())
	}
	if a.policies != nil {
		errs = append(errs, a.policies.close())
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	a.clients.close()
	return errors.Join(errs...)
}

// record joins the recorders of decisions.
func record(first, second engine.Recorder) engine.Recorder {
	if second == nil {
		return first
	}
	return both{first, second}
}

type both [2]engine.Recorder

// Record implements [engine.Recorder].
func (b both) Record(d *engine.Decision) {
	b[0].Record(d)
	b[1].Record(d)
}
