package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"gatewright/internal/config"
	"gatewright/internal/server/admin"
	"gatewright/store"
)

// The object that the hash of a token lies in that the gateway made.
const (
	adminKind = "admin"
	tokenID   = "token"
)

// tokenPrefix begins a token that the gateway makes, so that one is known when it
// is seen.
const tokenPrefix = "gwa_"

// Bounds of the admin listener: its clients are few and known.
const (
	adminHeaderTime = 8 * time.Second
	adminReadTime   = 2 * time.Minute
	adminIdleTime   = 2 * time.Minute
	adminHeader     = 64 << 10
	adminDrain      = 3 * time.Second
)

// adminToken returns the SHA-256 of the admin token: that of the file or the
// environment, else of the one that the first start made, whose text is
// announced once.
func adminToken(ctx context.Context, file *config.File, objects *store.Objects, announce func(token string)) ([sha256.Size]byte, error) {
	if t := file.Admin.Token; t.IsSet() {
		return sha256.Sum256([]byte(t.Reveal())), nil
	}
	hash, ok, err := objects.Get(adminKind, tokenID)
	switch {
	case err != nil:
		return [sha256.Size]byte{}, fmt.Errorf("read the admin token: %w", err)
	case ok && len(hash) == sha256.Size:
		return [sha256.Size]byte(hash), nil
	case ok:
		return [sha256.Size]byte{}, errors.New("the stored admin token is damaged: set admin.token")
	}
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	sum := sha256.Sum256([]byte(token))
	if err := objects.Write(ctx, store.ObjectChange{Kind: adminKind, ID: tokenID, Value: sum[:]}); err != nil {
		return sum, fmt.Errorf("keep the admin token: %w", err)
	}
	if announce != nil {
		announce(token)
	}
	return sum, nil
}

// adminListener is the admin API while the gateway serves.
type adminListener struct {
	server *http.Server
	served chan error
}

// listenAdmin starts the admin API; nil when it is off. An address that is taken
// is an error only if the file names it: a second gateway on a machine serves
// without.
func (a *App) listenAdmin(ctx context.Context, announce func(string)) (*adminListener, error) {
	file := a.file.Load()
	if file.Admin.Listen == "" {
		return nil, nil //nolint:nilnil // no listener is not an error
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", file.Admin.Listen)
	if errors.Is(err, syscall.EADDRINUSE) && file.Admin.Listen == config.DefaultAdminListen {
		a.logger.WarnContext(ctx, "there is no admin API: another process has its address; set admin.listen",
			slog.String("address", file.Admin.Listen))
		return nil, nil //nolint:nilnil // see above
	}
	if err != nil {
		return nil, fmt.Errorf("listen for the admin API: %w", err)
	}
	token, err := adminToken(ctx, file, a.store.Objects(), announce)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	l := &adminListener{served: make(chan error, 1), server: &http.Server{
		Handler: admin.New(admin.Options{
			Logger: a.logger, Library: a.policies, Prober: a.policies, Journal: a.policies, Token: token, Hosts: file.Admin.Hosts,
		}),
		ReadHeaderTimeout: adminHeaderTime, ReadTimeout: adminReadTime, IdleTimeout: adminIdleTime, MaxHeaderBytes: adminHeader,
		ErrorLog: slog.NewLogLogger(a.logger.Handler(), slog.LevelWarn),
	}}
	a.logger.InfoContext(ctx, "serving the admin API", slog.String("address", listener.Addr().String()))
	if a.adminReady != nil {
		a.adminReady(listener.Addr().String())
	}
	go func() { l.served <- l.server.Serve(listener) }()
	return l, nil
}

// shutdown ends the admin API: what runs has adminDrain to end.
func (l *adminListener) shutdown(ctx context.Context) error {
	if l == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, adminDrain)
	defer cancel()
	err := l.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, l.server.Close())
	}
	if serr := <-l.served; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}
