package translate

import (
	"gatewright/internal/wire/openai"
)

// chatCodec returns the codec of OpenAI's chat completions, as its own service
// and the many that follow it speak it.
func chatCodec() Codec {
	return Codec{
		Protocol:      Chat,
		DecodeRequest: decodeChatRequest,
		EncodeRequest: encodeChatRequest,
		DecodeAnswer:  decodeChatAnswer,
		EncodeAnswer:  encodeChatAnswer,
		NewDecoder:    newChatDecoder,
		NewEncoder:    newChatEncoder,
	}
}

const (
	chatStopLimit = 4  // stop sequences
	chatUserLimit = 64 // bytes of user
)

// chatFinish maps finish_reason. What is not known ends the answer by itself. An
// answer that calls tools ends to have them called, whatever it says: it says
// stop where the client demanded the call.
func chatFinish(reason string, calls bool) Finish {
	switch reason {
	case "length":
		return FinishLength
	case "content_filter":
		return FinishFilter
	}
	if calls {
		return FinishCalls
	}
	return FinishStop
}

// chatReason is the way back.
func chatReason(f Finish) string {
	switch f {
	case FinishLength:
		return "length"
	case FinishCalls:
		return "tool_calls"
	case FinishFilter:
		return "content_filter"
	case FinishNone, FinishStop:
	}
	return "stop"
}

func chatUsage(u openai.Usage) Usage {
	return Usage{
		Input: u.InputTokens, Output: u.OutputTokens, Cached: u.CachedTokens, CacheWrite: u.CacheWriteTokens,
		Reasoning: u.ReasoningTokens, Known: u.Known,
	}
}

// chatUsage writes a usage object.
func (w *writer) chatUsage(u *Usage) {
	w.open('{')
	w.key("prompt_tokens")
	w.integer(u.Input)
	w.key("completion_tokens")
	w.integer(u.Output)
	w.key("total_tokens")
	w.integer(u.Input + u.Output)
	w.key("prompt_tokens_details")
	w.open('{')
	w.key("cached_tokens")
	w.integer(u.Cached)
	w.integerMember("cache_write_tokens", u.CacheWrite)
	w.integerMember("audio_tokens", u.InputAudio)
	w.close('}')
	w.key("completion_tokens_details")
	w.open('{')
	w.key("reasoning_tokens")
	w.integer(u.Reasoning)
	w.integerMember("audio_tokens", u.OutputAudio)
	w.close('}', '}')
}
