package translate

// streamEvent is what an event of a Responses stream tells.
type streamEvent struct {
	kind  string
	index int64 // of the item, -1 if the event is about none
	list  string
	part  int64 // of the part in the list
	// delta and whole are JSON: a piece of a text, and all of it at its end.
	delta, whole []byte
	item         *outputItem

	response streamResponse
}

// streamResponse is the answer that an event repeats.
type streamResponse struct {
	there          bool
	id             string
	created        int64
	output         []*outputItem
	status, reason string
}

// readStreamEvent reads an event, which is known to be a JSON object. name is
// what stood before it.
func readStreamEvent(data, name []byte) *streamEvent {
	ev := &streamEvent{index: -1, kind: string(name), list: "content"}
	r := newAnswerReader(data)
	r.object(func() {
		switch string(r.Key()) {
		case "type":
			ev.kind = r.text()
		case "output_index":
			ev.index = r.tokens()
		case "content_index":
			ev.part = r.tokens()
		case "summary_index":
			ev.list, ev.part = "summary", r.tokens()
		case "delta":
			ev.delta = r.raw()
		case "text", "refusal", "arguments", "input":
			ev.whole = r.raw()
		case "item":
			ev.item = readOutputItem(r)
		case "response":
			r.object(func() { ev.response.member(r) })
		}
	})
	return ev
}

func (a *streamResponse) member(r *reader) {
	a.there = true
	switch string(r.Key()) {
	case "id":
		a.id = r.text()
	case "created_at":
		a.created = r.tokens()
	case "status":
		a.status = r.text()
	case "output":
		r.array(func(int) { a.output = append(a.output, readOutputItem(r)) })
	case "incomplete_details":
		r.object(func() {
			if string(r.Key()) == "reason" {
				a.reason = r.text()
			}
		})
	}
}

// isFinal reports whether the event ends the answer.
func (ev *streamEvent) isFinal() bool {
	return ev.kind == "response.completed" || ev.kind == "response.incomplete"
}

// isText reports whether a JSON value is a string that is not empty.
func isText(raw []byte) bool { return len(raw) > len(`""`) && raw[0] == '"' }
