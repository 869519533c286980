package fake

// outcomeFaults are answers that are unusual and right.
func outcomeFaults() []faultDef {
	tuned := func(name, does string, tune func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "answer", Does: does, Applies: AppliesText, Params: append(p, "headers"), Matrix: matrix},
			tune:      tune,
		}
	}
	return []faultDef{
		tuned("empty-content", "a right answer with no content, finish reason stop", func(x *exchange) {
			x.silence(finishStop)
		}, nil, "F50"),
		tuned("refusal", "200, a right answer that holds only a refusal (message: its words); Anthropic's stop_reason refusal with stop_details, Gemini's finishReason SAFETY", func(x *exchange) {
			x.silence(finishStop)
			x.answer.refusal = "I cannot help with that."
			if x.fault.Message != "" {
				x.answer.refusal = x.fault.Message
			}
		}, params("message"), "F39"),
		tuned("filtered", "200, a right answer with no content, finish reason content_filter, refusal or PROHIBITED_CONTENT", func(x *exchange) {
			x.silence(finishFilter)
		}, nil, "F39"),
		tuned("window-full", "200, a right answer that breaks off half-way because the model's window is full: finish reason length, Anthropic's own stop_reason", func(x *exchange) {
			x.answer.calls = nil
			if len(x.answer.pieces) == 0 {
				x.answer.pieces = x.beh.answer.pieces
			}
			x.answer.pieces = x.answer.pieces[:(len(x.answer.pieces)+1)/2]
			x.answer.finish, x.answer.window, x.answer.stopped = finishLength, true, ""
		}, nil),
		only(AppliesMessages, tuned("redacted-thinking", "200, a right answer whose reasoning, if there is one, only its maker can read", func(x *exchange) {
			x.answer.sealed = true
		}, nil)),
		only(AppliesGenerate, tuned("malformed-call", "200 with no content, finish reason MALFORMED_FUNCTION_CALL", func(x *exchange) {
			x.silence(finishStop)
			x.answer.malformed = true
		}, nil, "F50")),
	}
}

// only narrows a fault to the requests of one protocol.
func only(applies Applies, def faultDef) faultDef {
	def.Applies = applies
	return def
}

// silence empties an answer.
func (x *exchange) silence(finish string) {
	x.answer.pieces, x.answer.reasoning, x.answer.calls = nil, nil, nil
	x.answer.finish = finish
	x.answer.usage.Completion, x.answer.usage.Reasoning = 0, 0
}
