//go:build !linux

package store

var systemRoles map[string]func() int
