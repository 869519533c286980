package openai

import (
	"io"

	"gatewright/internal/wire/request"
)

// HashOpening writes to w, which should be a hash, what identifies the
// conversation that the request belongs to, and reports whether there is
// anything: the system and developer texts before the first user message, that
// message, and the names of the tools in whatever order. Later turns of a
// conversation give the same bytes, also when the client has added marks such
// as cache_control to the parts of a message. Of a long text only the first
// 8 KiB and the length count. Embeddings have no conversation. Errors of w are
// ignored.
func (r *Request) HashOpening(w io.Writer) bool {
	if r.opening.Len() == 0 {
		return false
	}
	request.NewDigest(w, r.body).Opening(&r.opening)
	return true
}
