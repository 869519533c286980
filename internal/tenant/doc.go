// Package tenant knows who may use the gateway: it turns the secret that a
// client presents into the caller that the engine routes for.
//
// What lives here: the immutable directory of API keys of one snapshot. What
// never does: HTTP, storage, and the secrets themselves; only their SHA-256
// digests are kept.
//
// Read directory.go first.
package tenant
