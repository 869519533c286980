package translation

import (
	"net/http"
	"strconv"

	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/translate"
)

// codecs are those of the protocols.
var codecs = func() (all [translate.Responses + 1]translate.Codec) {
	for p := range all {
		all[p], _ = translate.For(translate.Protocol(p))
	}
	return all
}()

// inbound is a client's request as far as a translation cares.
type inbound struct {
	codec  *translate.Codec
	counts bool   // only the tokens of the request are asked for
	model  string // as the client named it
	body   []byte
	header http.Header // of the client
}

// inboundOf reads a payload; false if it is none that can be translated.
func inboundOf(payload any) (in inbound, ok bool) {
	switch p := payload.(type) {
	case *openai.Payload:
		return inbound{codec: &codecs[translate.Chat], model: p.Request.Model, body: p.Body, header: p.Header}, p.Endpoint == openai.Chat
	case *anthropic.Payload:
		counts := p.Endpoint == anthropic.CountTokens
		return inbound{codec: &codecs[translate.Messages], counts: counts, model: p.Request.Model, body: p.Body, header: p.Header}, true
	case *responses.Payload:
		counts := p.Endpoint == responses.InputTokens
		return inbound{codec: &codecs[translate.Responses], counts: counts, model: p.Request.Model, body: p.Body, header: p.Header},
			counts || p.Endpoint == responses.Create
	}
	return inbound{}, false
}

// appendCount appends the answer to a request for a count of tokens.
func (in *inbound) appendCount(dst []byte, tokens int64) []byte {
	if in.codec.Protocol == translate.Responses {
		dst = append(dst, `{"object":"response.input_tokens","input_tokens":`...)
	} else {
		dst = append(dst, `{"input_tokens":`...)
	}
	return append(strconv.AppendInt(dst, tokens, 10), '}')
}
