// Package server owns the public listener: HTTP in, requests for the engine
// out, answers and errors back in the caller's protocol.
//
// What lives here is what all protocols share: the connection and its limits,
// the routes, who asks, the body, the session, the deadline, the sink that the
// engine writes to, and the one table of errors. What never lives here: the
// text of a protocol (the rooms below: openai), what is routed where (engine),
// and what is sent upstream (provider). Rooms hand their routes in; this
// package never imports them.
//
//	conn ──framing──▶ net/http ──mux──▶ Exchange ──room's handler──▶ Engine.Serve ──▶ sink
//	refuses what         │      request id, caller,   decodes            │
//	can be read in       │      limits, panic guard                      ▼
//	two ways             └────────────◀── errors.go: code ▶ status, type ◀┘
//
// Read server.go first (start, drain), then exchange.go (the way of one
// request), errors.go (the table), sink.go, and framing.go (what never reaches
// net/http).
package server
