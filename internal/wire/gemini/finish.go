package gemini

import "strings"

// Finish says what a finishReason amounts to. The service's list of reasons
// grows, and values that no list names have been seen, so every text is one of
// these.
type Finish uint8

// The ways to end.
const (
	// FinishNone: there is no reason; the candidate goes on.
	FinishNone Finish = iota
	// FinishStop: by itself, at a stop sequence, or to have functions called.
	FinishStop
	// FinishLength: at the output limit.
	FinishLength
	// FinishPolicy: a content policy stopped it.
	FinishPolicy
	// FinishMalformed: the model wrote something that is no answer, such as a
	// function call that cannot be read.
	FinishMalformed
	// FinishOther: for a reason that says nothing to a client.
	FinishOther
)

// FinishOf returns what a finishReason amounts to.
func FinishOf(reason string) Finish {
	switch reason {
	case "", "FINISH_REASON_UNSPECIFIED":
		return FinishNone
	case "STOP":
		return FinishStop
	case "MAX_TOKENS":
		return FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "JAILBREAK":
		return FinishPolicy
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		return FinishMalformed
	}
	if about, ok := strings.CutPrefix(reason, "IMAGE_"); ok && about != "OTHER" {
		return FinishPolicy // IMAGE_SAFETY, IMAGE_PROHIBITED_CONTENT, IMAGE_RECITATION
	}
	return FinishOther
}
