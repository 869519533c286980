// Package fake is a simulated LLM upstream: an [http.Handler] that answers as a
// provider would, at the pace, with the faults and within the quotas that a
// YAML script gives it. The verbs simulate and demo of the command line serve
// it to people; the tests of the gateway point the gateway at it.
//
// A script names one or more upstreams, each with a behaviour:
//
//	seed: 1
//	upstreams:
//	  cheap:
//	    models: [m]
//	    latency: {first_token: 300ms, per_token: 5ms, jitter: 20%}
//	    fail: {rate: 20%, with: [http-500, http-429]}
//	    script:
//	      - {times: 3, fault: http-429, retry_after: "30"}
//	      - {fault: ok}
//
// [Parse] reads it, [New] plays it. Each upstream answers below its own path
// prefix (/cheap/v1/chat/completions) or, through [Upstreams.Handler], at the
// root of a handler of its own. What arrived is counted and kept for tests
// ([Upstreams.Requests]) and for people (GET /_sim/state). docs/simulate.md
// is the user's page: the whole schema and the table of faults.
//
// What happens to one request, in this order: credential, decoding, model,
// quota, script, the constant fault (always), the random fault (fail), the answer. Every
// random choice derives from the seed, the upstream's name and the number of
// the call, so a run can be played again.
//
// Responses are kept in memory, so that they can be continued, fetched and
// deleted (responses_memory.go); what another upstream issued is refused.
//
// What lives here: the script ([Script], [Behaviour]), the table of faults
// (faults.go), the engine that plays a fault on a live connection
// (exchange.go), quotas, the record of what was seen, and three wire protocols
// behind the seam in protocol.go: OpenAI's with Azure's paths (openai_*.go;
// responses_*.go; media_*.go for images, audio, moderations and rerank),
// Anthropic's Messages (anthropic_*.go) and Google's generateContent
// (gemini_*.go). The path of a request tells which of them it speaks; every
// upstream speaks all of them. The latter two judge requests as strictly as the
// services do (inspect.go), since what a gateway has translated must stand up to
// that.
//
// What never does: anything of the gateway. The package imports the standard
// library and a YAML reader alone, so that a mistake in the gateway's own wire
// code cannot hide itself by standing on both ends of the connection. Faults
// that happen before a handler runs (refused connections, DNS, TLS, packets
// that vanish) are not played here; [Elsewhere] lists them.
//
// Read first: script.go for the words, then upstream.go for the way of one
// request, then faults.go.
package fake
