package fake

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// answerFaults finish properly as HTTP goes, but what they say is not the
// answer, or not all of it; some are unusual and right.
func answerFaults() []faultDef {
	row := func(name string, applies Applies, does string, play func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "answer", Does: does, Applies: applies, Params: append(p, "headers"), Matrix: matrix},
			play:      play,
		}
	}
	tuned := func(name, does string, tune func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "answer", Does: does, Applies: AppliesText, Params: append(p, "headers"), Matrix: matrix},
			tune:      tune,
		}
	}
	return []faultDef{
		row("empty", AppliesAny, "200 with an empty body", func(x *exchange) {
			x.sendWhole(http.StatusOK, x.call.answerType(), nil)
		}, nil, "F48"),
		row("error-200", AppliesAny, "200 with a JSON error object in place of the answer; code defaults to 502", playError200,
			params("code", "type", "message"), "F49"),
		row("choices-null", AppliesText, "200 with choices: null", replaceChoices("null"), nil, "F50"),
		row("choices-empty", AppliesText, "200 with choices: []", replaceChoices("[]"), nil, "F50"),
		row("choices-missing", AppliesText, "200 with an object that has no choices", replaceChoices(""), nil, "F50"),
		row("not-object", AppliesAny, "200 with JSON that is no object", func(x *exchange) {
			x.sendLone([]byte(`["this","is","no","object"]`))
		}, nil, "F50"),
		tuned("empty-content", "a right answer with no content, finish reason stop", func(x *exchange) {
			x.silence(finishStop)
		}, nil, "F50"),
		tuned("refusal", "200, a right answer that holds only a refusal (message: its words)", func(x *exchange) {
			x.silence(finishStop)
			x.answer.refusal = "I cannot help with that."
			if x.fault.Message != "" {
				x.answer.refusal = x.fault.Message
			}
		}, params("message"), "F39"),
		tuned("filtered", "200, a right answer with no content, finish reason content_filter", func(x *exchange) {
			x.silence(finishFilter)
		}, nil, "F39"),
		row("html", AppliesAny, "an HTML page; status defaults to 200", func(x *exchange) {
			x.page("text/html; charset=utf-8", htmlPage)
		}, params("status", "body"), "F51"),
		row("text", AppliesAny, "a plain text; status defaults to 200", func(x *exchange) {
			x.page("text/plain; charset=utf-8", "upstream connect error or disconnect before headers\n")
		}, params("status", "body"), "F51"),
		row("invalid-json", AppliesPlain, "200 with a body that is no JSON", func(x *exchange) {
			x.sendWhole(http.StatusOK, contentJSON, []byte(`{"id": chatcmpl, 'choices': [}`))
		}, nil, "F52"),
		row("truncated-json", AppliesPlain, "200 with the first half of the answer, ended properly", func(x *exchange) {
			body := x.render().buf
			x.sendWhole(http.StatusOK, contentJSON, body[:len(body)/2])
		}, nil, "F52"),
		row("nan-json", AppliesPlain, "200 with NaN where a number should be", func(x *exchange) {
			body := x.render().buf
			x.sendWhole(http.StatusOK, contentJSON, slices.Concat(body[:len(body)-1], []byte(`,"score":NaN}`)))
		}, nil, "F52"),
		row("huge-body", AppliesText, "200 with an answer of about size bytes (default 64MiB); a stream sends it in events of 16 KiB", playHugeBody,
			params("size"), "F54"),
		row("json-for-stream", AppliesStream, "one whole answer to a request for a stream (JSON; of speech the sound)", func(x *exchange) {
			x.call.stream = false
			x.give()
		}, nil, "F55"),
		{
			FaultInfo: FaultInfo{
				Name: "sse-for-json", Class: "answer", Applies: AppliesPlain, Params: params("headers"), Matrix: []string{"F55"},
				Does: "a stream to a request for one JSON answer",
			},
			play: playStreamed,
		},
	}
}

// playStreamed answers with a stream; what has no streamed form becomes one
// event.
func playStreamed(x *exchange) {
	x.call.stream = true
	switch x.call.endpoint {
	case EndpointChat, EndpointCompletions, EndpointTranscriptions, EndpointImageGenerations, EndpointImageEdits, EndpointResponses:
		x.giveStream()
	case EndpointEmbeddings, EndpointModels, EndpointImageVariations, EndpointTranslations, EndpointSpeech, EndpointModerations, EndpointRerank,
		EndpointCompact, EndpointInputTokens, EndpointStored:
		x.sendLone(x.render().buf)
	}
}

// silence empties an answer.
func (x *exchange) silence(finish string) {
	x.answer.pieces, x.answer.reasoning, x.answer.toolName = nil, nil, ""
	x.answer.finish = finish
	x.answer.usage.Completion, x.answer.usage.Reasoning = 0, 0
}

const defaultErrorCode = "502"

func playError200(x *exchange) {
	e := x.reworded(apiError{code: defaultErrorCode, typ: "server_error", message: "The provider returned an error."})
	x.sendWhole(http.StatusOK, contentJSON, x.call.proto.failure(x.call, e))
}

// sendLone sends a body as the answer; to a request for a stream, as its only
// event.
func (x *exchange) sendLone(body []byte) {
	if !x.call.stream {
		x.sendWhole(http.StatusOK, contentJSON, body)
		return
	}
	if x.openStream() && x.event(body) {
		x.event([]byte("[DONE]"))
	}
}

// replaceChoices puts a value in the place of the list of choices; an empty one
// takes the member out.
func replaceChoices(value string) func(*exchange) {
	return func(x *exchange) {
		stream := x.call.stream
		x.call.stream = false
		out := x.render()
		x.call.stream = stream
		if value == "" {
			x.sendLone(slices.Concat(out.buf[:out.key], out.buf[out.hi+1:])) // the comma too
			return
		}
		x.sendLone(slices.Concat(out.buf[:out.lo], []byte(value), out.buf[out.hi:]))
	}
}

const htmlPage = `<!DOCTYPE html>
<html><head><title>502 Bad Gateway</title></head>
<body><center><h1>502 Bad Gateway</h1></center><hr><center>simulated edge</center><script>alert("never show this")</script></body></html>
`

// page answers with something that is not of the API at all.
func (x *exchange) page(contentType, body string) {
	status := http.StatusOK
	if x.fault.Status != 0 {
		status = x.fault.Status
	}
	if x.fault.Body != nil {
		body = *x.fault.Body
	}
	x.sendWhole(status, contentType, []byte(body))
}

// The sizes of an answer that is too large.
const (
	defaultHuge = 64 << 20
	hugePiece   = 16 << 10
)

// playHugeBody sends an answer of any size without holding it.
func playHugeBody(x *exchange) {
	filler := strings.Repeat("a", hugePiece)
	times := int((x.size(defaultHuge) + hugePiece - 1) / hugePiece)
	x.answer.reasoning, x.answer.toolName = nil, ""
	x.answer.pieces = []string{filler}
	out := x.render()
	if x.call.stream {
		at := out.first(frameContent)
		if !x.openStream() || !x.events(0, at) {
			return
		}
		for ; times > 0; times-- {
			if !x.events(at, at+1) {
				return
			}
		}
		x.events(at+1, len(out.frames))
		return
	}
	if !x.waitWhole() {
		return
	}
	head, tail, _ := bytes.Cut(out.buf, []byte(filler))
	x.header(contentJSON)
	x.begin(x.status)
	ok := x.write(head)
	for ; ok && times > 0; times-- {
		ok = x.write([]byte(filler))
	}
	if ok {
		x.write(tail)
	}
}
