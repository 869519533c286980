package fake

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// answerFaults finish properly as HTTP goes, but what they say is not the
// answer, or not all of it.
func answerFaults() []faultDef {
	row := func(name string, applies Applies, does string, play func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "answer", Does: does, Applies: applies, Params: append(p, "headers"), Matrix: matrix},
			play:      play,
		}
	}
	return []faultDef{
		row("empty", AppliesAny, "200 with an empty body", func(x *exchange) {
			x.sendWhole(http.StatusOK, x.call.answerType(), nil)
		}, nil, "F48"),
		row("error-200", AppliesAny, "200 with a JSON error object in place of the answer; code defaults to 502 (Anthropic: api_error; Gemini: 500)", playError200,
			params("code", "type", "message"), "F49"),
		row("choices-null", AppliesText, "200 with choices: null (output, content, candidates)", replaceChoices("null"), nil, "F50"),
		row("choices-empty", AppliesText, "200 with choices: [] (output, content, candidates)", replaceChoices("[]"), nil, "F50"),
		row("choices-missing", AppliesText, "200 with an object that has no choices (output, content, candidates)", replaceChoices(""), nil, "F50"),
		row("not-object", AppliesAny, "200 with JSON that is no object", func(x *exchange) {
			x.sendLone([]byte(`["this","is","no","object"]`))
		}, nil, "F50"),
		row("html", AppliesAny, "an HTML page; status defaults to 200", func(x *exchange) {
			x.page("text/html; charset=utf-8", htmlPage)
		}, params("status", "body"), "F51"),
		row("text", AppliesAny, "a plain text; status defaults to 200", func(x *exchange) {
			x.page("text/plain; charset=utf-8", "upstream connect error or disconnect before headers\n")
		}, params("status", "body"), "F51"),
		row("invalid-json", AppliesPlain, "200 with a body that is no JSON", func(x *exchange) {
			x.sendWhole(http.StatusOK, x.call.jsonType(), []byte(`{"id": chatcmpl, 'choices': [}`))
		}, nil, "F52"),
		row("truncated-json", AppliesPlain, "200 with the first half of the answer, ended properly", func(x *exchange) {
			body := x.render().buf
			x.sendWhole(http.StatusOK, x.call.jsonType(), body[:len(body)/2])
		}, nil, "F52"),
		row("nan-json", AppliesPlain, "200 with NaN where a number should be", func(x *exchange) {
			body := x.render().buf
			x.sendWhole(http.StatusOK, x.call.jsonType(), slices.Concat(body[:len(body)-1], []byte(`,"score":NaN}`)))
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
	case EndpointChat, EndpointCompletions, EndpointTranscriptions, EndpointImageGenerations, EndpointImageEdits, EndpointResponses,
		EndpointMessages, EndpointGenerate:
		x.giveStream()
	case EndpointEmbeddings, EndpointModels, EndpointImageVariations, EndpointTranslations, EndpointSpeech, EndpointModerations, EndpointRerank,
		EndpointCompact, EndpointInputTokens, EndpointStored, EndpointCountTokens, EndpointGeminiCount, EndpointGeminiEmbed:
		x.sendLone(x.render().buf)
	}
}

const defaultErrorCode = "502"

func playError200(x *exchange) {
	x.nameRequest()
	x.sendWhole(http.StatusOK, x.call.jsonType(), x.call.proto.failure(x.call, x.said(sayProvider)))
}

// sendLone sends a body as the answer; to a request for a stream, as its only
// event.
func (x *exchange) sendLone(body []byte) {
	if !x.call.stream {
		x.sendWhole(http.StatusOK, x.call.jsonType(), body)
		return
	}
	if x.openStream() && x.event("", body) {
		x.farewell()
	}
}

// replaceChoices puts a value in the place of the list of choices; an empty one
// takes the member out.
func replaceChoices(value string) func(*exchange) {
	return func(x *exchange) {
		stream, array := x.call.stream, x.call.array
		x.call.stream, x.call.array = false, false
		out := x.render()
		x.call.stream, x.call.array = stream, array
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
	x.answer.reasoning, x.answer.calls = nil, nil
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
	x.header(x.call.jsonType())
	x.begin(x.status)
	ok := x.write(head)
	for ; ok && times > 0; times-- {
		ok = x.write([]byte(filler))
	}
	if ok {
		x.write(tail)
	}
}
