package anthropic

// noThinking takes the place of thinking in a request that the service would
// refuse with it.
var noThinking = []byte(`{"type":"disabled"}`)

// history is what a budget for thinking asks of the messages: the turn of the
// model that it is to go on from, because tools have given their results or the
// turn is the last, must begin with a thought. A turn from which a [Foreign] one
// is taken out does so no more.
type history struct {
	role    string
	blocks  int  // that stay
	thought bool // the first of them is one
	lost    bool // a foreign one is taken out
	results bool // there is what tools gave

	bare bool // of the model's turn that counts: it has lost its thought
}

// block takes note of a block of a message.
func (h *history) block(kind string, foreign bool) {
	if foreign {
		h.lost = true
		return
	}
	if h.blocks == 0 {
		h.thought = kind == "thinking" || kind == "redacted_thinking"
	}
	h.blocks++
	h.results = h.results || kind == "tool_result"
}

// begin begins a message, and end ends it.
func (h *history) begin() { *h = history{bare: h.bare} }

func (h *history) end() {
	switch {
	case h.role == "assistant":
		h.bare = h.lost && !h.thought
	case !h.results:
		h.bare = false // a new question
	}
}

// blockType returns the types that count here, without making a copy of any.
func blockType(raw []byte) string {
	switch string(raw) {
	case "thinking":
		return "thinking"
	case "redacted_thinking":
		return "redacted_thinking"
	case "tool_result":
		return "tool_result"
	}
	return ""
}
