package responses

import (
	"io"

	"gatewright/internal/wire/request"
)

// HashOpening writes to w, which should be a hash, what identifies the
// conversation that the request belongs to, and reports whether there is
// anything: the instructions, the developer and system texts before the first
// user message, that message, and the names of the tools in whatever order.
// Later turns of a conversation that is sent whole give the same bytes. One that
// the upstream keeps (previous_response_id, conversation) shows no opening. Of a
// long text only the first 8 KiB and the length count. Errors of w are ignored.
func (r *Request) HashOpening(w io.Writer) bool {
	if r.opening.Len() == 0 && !r.instructions.there() || r.Owned.Response != "" || r.Owned.Conversation != "" {
		return false
	}
	d := request.NewDigest(w, r.body)
	d.Text(request.PartSystem, r.instructions.start, r.instructions.end)
	d.Opening(&r.opening)
	return true
}
