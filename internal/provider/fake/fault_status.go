package fake

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// statusFaults answer with a status that is no success, in the maker's own
// words.
func statusFaults() []faultDef {
	words := params("code", "type", "message", "retry_after", "headers", "body")
	named := func(name, does string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "status", Does: does, Applies: AppliesAny, Params: words, Matrix: matrix},
			play:      playWords,
		}
	}
	return []faultDef{
		{
			FaultInfo: FaultInfo{
				Name: statusPrefix + "NNN", Class: "status", Applies: AppliesAny,
				Does:   "the status NNN, 100 to 599, with an error body that suits it; 1xx comes before the normal answer, 101 ends the talk, 2xx carries the normal answer (206 its first half), 3xx leads to location, 204, 205 and 304 have no body",
				Params: params("code", "type", "message", "retry_after", "headers", "body", "location"),
				Matrix: []string{
					"F28", "F29", "F30", "F31", "F32", "F34", "F35", "F36", "F37", "F38", "F40", "F41", "F42", "F43", "F44", "F45", "F46", "F47",
				},
			},
			play: playStatus,
		},
		named("context-length", "the prompt is too long for the model: 400 context_length_exceeded, or the maker's own words", "F38"),
		named("content-filter", "400 content_filter, as Azure refuses a prompt; Anthropic's 400; Gemini's 200 with a blockReason (code)", "F39"),
		named("content-policy", "400 invalid_prompt, as OpenAI refuses a prompt; Anthropic's 400; Gemini's 200 with a blockReason (code)", "F39"),
		named("insufficient-quota", "429 insufficient_quota: the account has no money left; Anthropic's 429 of a spend limit, Gemini's 402", "F41"),
		named("credit-balance", "400 with the words of an empty account, as Anthropic says it; Gemini's FAILED_PRECONDITION", "F41"),
		named("rate-limit-hint", "429 that tells how long to wait in its body alone (Anthropic's never tells)", "F33"),
		named("model-not-found", "404 model_not_found, not_found_error, NOT_FOUND; of Responses 400", "F42"),
		named("invalid-key", "401 invalid_api_key or authentication_error; Gemini's 400 API_KEY_INVALID", "F40"),
		named("overloaded", "503 server_is_overloaded or UNAVAILABLE; Anthropic's 529 overloaded_error", "F34", "F35", "F36"),
	}
}

// playWords refuses a request in the words that the maker has for the fault. A
// prompt that is blocked may be no error there.
func playWords(x *exchange) {
	e := x.said(x.def.Name)
	if e.blocks == "" || x.fault.Body != nil {
		x.refuse(e)
		return
	}
	x.silence(finishFilter)
	x.answer.blocked, x.answer.blockedText = e.blocks, e.message
	x.give()
}

// words are what the maker says in a case that has a name.
func (x *exchange) words(what string) *apiError {
	e := x.call.proto.words(x.call, what)
	e.message = strings.NewReplacer(
		"{model}", x.call.model, "{request}", x.r.Method+" "+x.r.URL.Path, "{method}", x.r.Method, "{path}", x.path,
		"{allowed}", x.call.method, "{limit}", strconv.FormatInt(x.up.sim.opts.MaxBody, 10),
	).Replace(e.message)
	return &e
}

// said is the same with the words that the script gives.
func (x *exchange) said(what string) *apiError {
	e := x.words(what)
	if x.fault.Code != "" {
		x.call.proto.coded(e, x.fault.Code)
	}
	if x.fault.Type != "" {
		e.typ = x.fault.Type
	}
	if x.fault.Message != "" {
		e.message = x.fault.Message
	}
	return e
}

// playStatus answers with the status of an http-NNN.
func playStatus(x *exchange) {
	status := x.def.status
	switch {
	case status == http.StatusSwitchingProtocols:
		h := x.header("")
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", "simulated")
		x.raw(status, rawHead("HTTP/1.1", status, h))
	case status < http.StatusOK:
		x.interim(status)
		x.give()
	case status == http.StatusPartialContent:
		x.partial()
	case status < http.StatusMultipleChoices && !bodiless(status):
		x.status = status
		if x.fault.Body != nil {
			x.sendWhole(status, x.call.jsonType(), []byte(*x.fault.Body))
			return
		}
		x.give()
	case bodiless(status):
		h := x.header("")
		if status == http.StatusResetContent {
			h.Set("Content-Length", "0")
		}
		x.begin(status)
	case status < http.StatusBadRequest:
		x.redirect(status)
	default:
		x.refuse(x.said(x.def.Name))
	}
}

// interim sends an informational answer ahead of the final one.
func (x *exchange) interim(status int) {
	h := x.w.Header()
	h.Set("Link", "</simulated.css>; rel=preload; as=style")
	maps.Copy(h, x.fault.Headers)
	x.w.WriteHeader(status)
	clear(h)
	x.fault.Headers = nil
}

// partial answers 206 with the first half of the normal answer.
func (x *exchange) partial() {
	body := x.render().buf
	h := x.header(x.call.answerType())
	h.Set("Content-Range", "bytes 0-"+strconv.Itoa(len(body)/2-1)+"/"+strconv.Itoa(len(body)))
	x.begin(http.StatusPartialContent)
	x.write(body[:len(body)/2])
}

func (x *exchange) redirect(status int) {
	h := x.header("")
	h.Set("Location", x.root+"/redirected")
	if x.fault.Location != "" {
		h.Set("Location", x.fault.Location)
	}
	body := ""
	if x.fault.Body != nil {
		body = *x.fault.Body
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.begin(status)
	x.put([]byte(body))
}

// delay is the wait that a fault is about.
func (x *exchange) delay(otherwise time.Duration) time.Duration {
	if x.fault.Delay != 0 {
		return x.fault.Delay
	}
	return otherwise
}

// size is the length that a fault is about.
func (x *exchange) size(otherwise int64) int64 {
	if x.fault.Size != 0 {
		return x.fault.Size
	}
	return otherwise
}

// count is the number that a fault is about.
func (x *exchange) count(otherwise int) int {
	if x.fault.Count != 0 {
		return x.fault.Count
	}
	return otherwise
}

// after is how many content events go out before a stream is struck.
func (x *exchange) after() int {
	if x.fault.After != nil {
		return *x.fault.After
	}
	return defaultAfter
}

const defaultAfter = 3
