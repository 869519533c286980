// Package app binds the rooms of the gateway together: it turns a
// configuration file into an engine.Snapshot, starts the store, the health
// tracker, the dispatcher and the server, swaps the snapshot when the file
// changes, and closes everything in the right order.
//
// No rule and no protocol lives here, only wiring. Read app.go first, then
// build.go (file to snapshot) and reload.go.
package app
