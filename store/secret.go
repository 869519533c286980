package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	secretName = "secret"
	// SecretSize is the length of the gateway's secret in bytes.
	SecretSize = 32
)

// Secret returns the gateway's secret: 32 random bytes in the file secret of the
// data directory dir, made on first use with mode 0600. It keys the hash that
// names a session, so replicas that shall agree share the file. Two processes
// that make it at once get the same bytes. A file of another length, or one that
// other users may read or write, is refused. The caller owns the returned bytes.
func Secret(dir string) ([]byte, error) {
	path := filepath.Join(dir, secretName)
	secret, err := readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := ensureDir(dir); err != nil {
		return nil, err
	}
	err = publish(dir, secretName, os.Link, func(tmp *os.File) error {
		fresh := make([]byte, SecretSize)
		_, _ = rand.Read(fresh) // never fails: the runtime ends the process instead
		_, err := tmp.Write(fresh)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make secret %s: %w; the directory must be writable by user id %d", path, err, os.Getuid())
	}
	return readSecret(path) // whoever was faster made it
}

// readSecret reads and verifies the file at path.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's own data directory
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("secret %s is no regular file (%s): move it away, a new one is made at the next start", path, info.Mode().Type())
	}
	if perm := info.Mode().Perm(); runtime.GOOS != "windows" && perm&0o077 != 0 {
		return nil, fmt.Errorf("secret %s has mode %#o, other users may reach it: run `chmod 600 %s`", path, perm, path)
	}
	secret, err := io.ReadAll(io.LimitReader(f, SecretSize+1))
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	if len(secret) != SecretSize {
		return nil, fmt.Errorf("secret %s has %d bytes, want %d: restore it, or delete it and sessions choose their targets anew",
			path, info.Size(), SecretSize)
	}
	return secret, nil
}
