package translate_test

import "gatewright/internal/wire/translate"

// upstreamEnd is a way in which answers end, in the words of an upstream, and an
// answer that ends so.
type upstreamEnd struct {
	p     translate.Protocol
	words string
	body  string
}

// elsewhereEnds are the ways of Gemini and Responses.
var elsewhereEnds = []upstreamEnd{
	{translate.Gemini, "STOP", geminiChunk(`{"text":"a"}`, "STOP")},
	{translate.Gemini, "STOP, with function calls", geminiChunk(`{"functionCall":{"name":"f","args":{}}}`, "STOP")},
	{translate.Gemini, "MAX_TOKENS", geminiChunk(`{"text":"a"}`, "MAX_TOKENS")},
	{translate.Gemini, "SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, MODEL_ARMOR, IMAGE_…", geminiChunk(``, "SAFETY")},
	{translate.Gemini, "promptFeedback.blockReason", `{"promptFeedback":{"blockReason":"OTHER"}}`},
	{translate.Gemini, "any other", geminiChunk(`{"text":"a"}`, "LANGUAGE")},
	{translate.Responses, "completed", `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`},
	{translate.Responses, "completed, with calls", `{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`},
	{translate.Responses, "completed, with a refusal", `{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}`},
	{translate.Responses, "incomplete, max_output_tokens", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`},
	{translate.Responses, "incomplete, content_filter", `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`},
}

// shownEnd returns how a client says that an answer ended.
func shownEnd(p translate.Protocol, s *seen) string {
	if p != translate.Responses {
		return s.reason
	}
	switch s.reason {
	case "length":
		return "incomplete, max_output_tokens"
	case "content_filter":
		return "incomplete, content_filter"
	}
	return "completed"
}
