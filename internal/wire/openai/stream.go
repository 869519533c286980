package openai

import (
	"bytes"
	"slices"
	"strconv"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

// ChunkInfo says what one chunk of a stream is.
type ChunkInfo struct {
	// Done: the chunk is the [DONE] that ends a stream.
	Done bool
	// Content: the chunk holds something that a client sees: text, reasoning, a
	// tool call, a refusal, sound, or a finish. A role, an empty text and a
	// chunk without choices are no content.
	Content bool
	// Finish: a choice ends with this chunk.
	Finish bool
	// Refusal: the chunk holds a refusal or the notice of a content filter, and
	// so far the stream holds nothing else. It is Content too.
	Refusal bool
	// Drop: the chunk is not for the client.
	Drop bool
	// OneLine: what the client is to get is known to hold no line break.
	OneLine bool
	// Malformed: the chunk is not a JSON object. Drop is set too.
	Malformed bool
	// Fault is the error that the chunk holds, nil if none. Drop is set too.
	Fault *fault.Fault
}

// Stream follows one streamed answer chunk by chunk. It is not safe for
// concurrent use.
type Stream struct {
	e         Endpoint
	model     []byte // the public name as JSON
	member    []byte // `"model":…,`
	wantUsage bool
	thinks    bool // texts may begin with thoughts between tags

	usage   Usage
	done    bool
	said    said
	choices []choiceState
	calls   callTable

	head head // of the chunks so far
	like likeness

	// Of the chunk at hand.
	edits  []scan.Edit
	pieces []choicePiece
	sub    scan.Cursor // in one of its deltas
	texts  textPlaces  // of it

	// For the chunk that ends what the upstream left open.
	id, created []byte // raw JSON
}

// choiceState is what a stream remembers of one choice.
type choiceState struct {
	index    int
	finished bool
	said     said
	think    *thinking // nil until the text has begun, and where none is split
}

// thinking returns what splits the text of the choice.
func (c *choiceState) thinking() *thinking {
	if c.think == nil {
		c.think = &thinking{}
	}
	return c.think
}

// maxRaw bounds the id and the created of a chunk that are remembered.
const maxRaw = 256

// NewStream returns a Stream for a streamed answer at e, which is Chat or
// Completions, whose chunks are to name publicModel as their model. wantUsage
// says that the client asked for usage; otherwise what an upstream sends only
// because the gateway asked is kept from it.
func NewStream(e Endpoint, publicModel string, wantUsage bool) *Stream {
	name := scan.AppendString(nil, publicModel)
	return &Stream{
		e: e, wantUsage: wantUsage, model: name,
		member: append(append([]byte(`"model":`), name...), ','),
	}
}

// Usage returns the usage that the stream told last; a stream that tells it
// several times counts up, so the values are never added.
func (s *Stream) Usage() Usage { return s.usage }

// Finished reports whether the answer is whole: there was a choice, and each of
// them ended with a finish_reason, or the stream ended with [DONE] and each
// choice has content. Some services never send a finish_reason: see
// [Stream.AppendFinish].
func (s *Stream) Finished() bool {
	for i := range s.choices {
		if c := &s.choices[i]; !c.finished && (!s.done || c.said == 0 && !c.think.holds()) {
			return false
		}
	}
	return len(s.choices) > 0
}

// AppendFinish appends the chunk that the upstream owes to dst and returns the
// longer slice: once [DONE] has come, it ends each choice that has content but
// no finish_reason, with tool_calls if the choice called a tool, else with
// stop. Nothing is appended when no chunk is owed; the same chunk is not given
// twice.
func (s *Stream) AppendFinish(dst []byte) []byte {
	if !s.done || !s.Finished() {
		return dst
	}
	head := len(dst)
	dst = append(dst, '{')
	for _, m := range [...]struct {
		key string
		raw []byte
	}{{`"id":`, s.id}, {`"object":`, s.object()}, {`"created":`, s.created}, {`"model":`, s.model}} {
		if len(m.raw) > 0 {
			dst = append(append(append(dst, m.key...), m.raw...), ',')
		}
	}
	dst = append(dst, `"choices":[`...)
	owed := false
	for i := range s.choices {
		c := &s.choices[i]
		if c.finished {
			continue
		}
		if owed {
			dst = append(dst, ',')
		}
		owed, c.finished = true, true
		dst = s.appendEnd(dst, c)
	}
	if !owed {
		return dst[:head]
	}
	return append(dst, "]}"...)
}

func (s *Stream) object() []byte {
	if s.e == Completions {
		return []byte(`"text_completion"`)
	}
	return []byte(`"chat.completion.chunk"`)
}

// appendEnd appends the choice that ends c.
func (s *Stream) appendEnd(dst []byte, c *choiceState) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(c.index), 10)
	if s.e == Completions {
		return append(dst, `,"text":"","finish_reason":"stop"}`...)
	}
	dst = append(dst, `,"delta":{`...)
	calls := s.calls.withoutArguments(c.index)
	dst = c.think.appendHeld(append(dst, calls...), len(calls) > 0)
	if c.said&saidCall != 0 {
		return append(dst, `},"finish_reason":"tool_calls"}`...)
	}
	return append(dst, `},"finish_reason":"stop"}`...)
}

// Chunk takes the data of one event. It appends to dst what the client is to
// get as data, which is the chunk with the public model and mended where
// clients would stumble (see calls.go and message.go), and returns the longer
// slice. Nothing is appended with Done, Drop, Malformed or Fault. dst and data
// must not share memory.
//
// The error is not nil only with Malformed, wraps fault.ErrUndecodable and says what
// is wrong; the stream goes on. Chunks after [DONE] are dropped.
func (s *Stream) Chunk(dst, data []byte) (out []byte, info ChunkInfo, err error) {
	data = bytes.TrimSpace(data)
	switch {
	case s.done || len(data) == 0:
		return dst, ChunkInfo{Drop: true}, nil
	case string(data) == "[DONE]":
		s.done = true
		return dst, ChunkInfo{Done: true}, nil
	}
	if out, alike := s.like.append(dst, data); alike {
		return out, ChunkInfo{Content: true, OneLine: true}, nil
	}
	c := chunkScan{Cursor: scan.NewCursor(data, maxDepth), s: s, body: data, edits: s.edits[:0]}
	s.pieces = s.pieces[:0]
	c.top()
	if err := c.Close(); err != nil {
		return dst, ChunkInfo{Drop: true, Malformed: true}, fault.Undecodable("%v", err)
	}
	if c.usage.Known {
		s.usage = c.usage
	}
	switch empty := len(s.pieces) == 0; {
	case c.fault || c.words && empty:
		f := fault.Parse(statusOK, data)
		return dst, ChunkInfo{Drop: true, Fault: &f}, nil
	case empty && c.usage.Known && !s.wantUsage && !c.payload:
		return dst, ChunkInfo{Drop: true}, nil
	}
	for i := range s.pieces {
		c.take(&s.pieces[i])
	}
	s.edits = c.edits
	c.info.Refusal = c.info.Refusal && s.said&saidContent == 0
	if len(c.edits) > 1 {
		slices.SortStableFunc(c.edits, byStart)
	}
	out = scan.Splice(dst, data, c.edits)
	if text, only := c.onlyText(); only {
		s.like.learn(data, out[len(dst):], c.edits, text)
	}
	return out, c.info, nil
}
