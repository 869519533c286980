package store

import (
	"errors"
	"fmt"
)

var (
	// ErrLocked is returned by Open, Check and Compact when another process
	// has the file open and did not close it within the lock timeout.
	ErrLocked = errors.New("in use by another process")

	// ErrDamaged is returned when a file cannot be trusted: both meta pages,
	// a page of the tree or a record is unreadable. Nothing was changed.
	ErrDamaged = errors.New("the file is damaged")

	// ErrClosed is returned by Sync and Load after Close.
	ErrClosed = errors.New("store is closed")

	// ErrDropped is returned by Table.Sync when a record could not be queued:
	// its id or value is too large, or the queue was full because the disk
	// has refused writes for long.
	ErrDropped = errors.New("record dropped")
)

// FormatError says that the file was written by a newer gateway, in a format
// that this one cannot read. Nothing was changed.
type FormatError struct {
	// Path is the file.
	Path string
	// Found is the format number in the file, Known the newest that this
	// program reads.
	Found, Known int
}

// Error names both numbers and what to do.
func (e *FormatError) Error() string {
	return fmt.Sprintf("store %s has format %d, this gatewright reads formats up to %d: "+
		"use the newer gatewright that wrote it, or another data directory", e.Path, e.Found, e.Known)
}

// damaged wraps cause so that the message says what to run next.
func damaged(path string, cause error) error {
	return fmt.Errorf("store %s: %w: %w; run `gatewright store check %s`, "+
		"then restore a backup, or move the file away to start empty", path, ErrDamaged, cause, path)
}
