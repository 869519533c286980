package translate

import (
	"hash/fnv"
	"strconv"
	"strings"

	"gatewright/internal/wire/anthropic"
)

// messagesCodec returns the codec of Anthropic's Messages.
func messagesCodec() Codec {
	return Codec{
		Protocol:      Messages,
		DecodeRequest: decodeMessagesRequest,
		EncodeRequest: encodeMessagesRequest,
		DecodeAnswer:  decodeMessagesAnswer,
		EncodeAnswer:  encodeMessagesAnswer,
		NewDecoder:    newMessagesDecoder,
		NewEncoder:    newMessagesEncoder,
	}
}

const (
	messagesNameLimit = 128  // bytes of a tool's name
	messagesIDLimit   = 128  // bytes of a call's id; the service names no limit
	messagesUserLimit = 256  // bytes of metadata.user_id
	messagesMarkLimit = 4    // cache marks of a request
	messagesOutput    = 4096 // tokens that every model of the maker can give
	messagesBudget    = 1024 // the smallest thinking budget
)

func fitMessagesName(name string) string { return fitName(name, messagesNameLimit, isWordByte) }

func fitMessagesID(id string) string { return fitName(id, messagesIDLimit, isWordByte) }

// messagesAnswerID returns the id of a call in an answer for a client. Some
// services number their calls, so that every answer has the same ids, while the
// maker's own service wants every id of a history once: short ones are told apart
// by the id of the answer.
func messagesAnswerID(id, answer string) string {
	const random = 16 // bytes of the shortest id that is taken for one of its kind
	fit := fitMessagesID(id)
	if len(id) >= random {
		return fit
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(answer + " " + id))
	return strings.TrimPrefix(fit, "_") + "_" + strconv.FormatUint(uint64(h.Sum32()), 36)
}

// messagesFinish maps stop_reason. What is not known ends the answer by itself.
func messagesFinish(reason string) Finish {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return FinishLength
	case "tool_use":
		return FinishCalls
	case "refusal":
		return FinishFilter
	}
	return FinishStop
}

// messagesReason is the way back.
func messagesReason(end End, calls, refused bool) string {
	switch end.Finish {
	case FinishLength:
		return "max_tokens"
	case FinishFilter:
		return "refusal"
	case FinishCalls:
		return "tool_use"
	case FinishNone, FinishStop:
	}
	switch {
	case calls:
		return "tool_use"
	case refused:
		return "refusal"
	case end.StopSequence != "":
		return "stop_sequence"
	}
	return "end_turn"
}

func messagesUsage(u anthropic.Usage) Usage {
	return Usage{
		Input: u.InputTokens, Output: u.OutputTokens,
		Cached: u.CachedTokens, CacheWrite: u.CacheWriteTokens, CacheWriteLong: u.CacheWriteLongTokens,
		Reasoning: u.ReasoningTokens, Known: u.Known,
	}
}

// usage writes a usage object, which counts cached input apart.
func (w *writer) messagesUsage(u *Usage) {
	w.open('{')
	w.key("input_tokens")
	w.integer(max(u.Input-u.Cached-u.CacheWrite, 0))
	w.key("cache_creation_input_tokens")
	w.integer(u.CacheWrite)
	w.key("cache_read_input_tokens")
	w.integer(u.Cached)
	if u.CacheWrite > 0 {
		w.key("cache_creation")
		w.open('{')
		w.key("ephemeral_5m_input_tokens")
		w.integer(max(u.CacheWrite-u.CacheWriteLong, 0))
		w.key("ephemeral_1h_input_tokens")
		w.integer(u.CacheWriteLong)
		w.close('}')
	}
	w.key("output_tokens")
	w.integer(u.Output)
	if u.Reasoning > 0 {
		w.key("output_tokens_details")
		w.open('{')
		w.key("thinking_tokens")
		w.integer(u.Reasoning)
		w.close('}')
	}
	w.close('}')
}

// thinkingBlock writes a thought. One that another maker's model thought has a
// signature that its maker finds again when the client sends it back.
func (w *writer) thinkingBlock(p *Part) {
	w.open('{')
	w.key("type")
	if data, redacted := cutRedacted(p.Signature.Data); redacted && p.Signature.Origin == OriginAnthropic {
		w.text("redacted_thinking")
		w.key("data")
		w.text(data)
	} else {
		w.text("thinking")
		w.key("thinking")
		w.text(p.Text)
		w.key("signature")
		w.text(messagesSignature(p.Signature, false))
	}
	w.close('}')
}

// signatureBehind writes a thought that holds nothing but the signature of the
// block before it.
func (w *writer) signatureBehind(s Signature) {
	w.open('{')
	w.textMember("type", "thinking")
	w.key("thinking")
	w.text("")
	w.textMember("signature", messagesSignature(s, true))
	w.close('}')
}

// messagesSignature returns a signature as a client of the protocol keeps it.
// behind says that it belongs to the block before, which is no thought.
func messagesSignature(s Signature, behind bool) string {
	if s.Origin == OriginAnthropic && s.Data != "" && !behind {
		return s.Data
	}
	return anthropic.Foreign{Origin: string(s.Origin), ID: s.ID, Data: s.Data, Before: behind}.String()
}
