// Package anthropic calls upstreams that speak Anthropic's Messages protocol, in
// either of its interface versions. Its [Adapter] is made for one deployment.
//
// What a client of Messages sends goes upstream as it came, with the model's name
// spliced and the client's interface version and betas; the answer comes back the
// same way. Requests of other protocols are translated, and so are answers that
// come in another form than was asked for.
//
// What never lives here: the text of the protocol (wire/anthropic), repeats,
// failover, limits of time. Read adapter.go first, then messages.go.
package anthropic
