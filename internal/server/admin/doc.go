// Package admin is the HTTP API of those who run the gateway, below /admin/v1 on
// a listener of its own: policies and their bindings, and the record of who
// changed what. Whoever has the admin token may do all of it.
//
// It decides nothing: it reads requests, asks a [Library], and writes what came
// of it as JSON. Writes answer when they are durable and in use. Errors are one
// shape, see errors.go.
//
// What never lives here: clients' traffic, the state itself, the sandbox. Read
// admin.go first.
package admin
