package gemini

import (
	"bytes"

	"gatewright/internal/wire/fault"
)

// ChunkInfo says what one chunk of a stream is.
type ChunkInfo struct {
	// Content: the chunk holds something that a client sees, or a finish. An
	// empty text is no content.
	Content bool
	// Finish: a candidate ends with this chunk, or all because the prompt was
	// blocked.
	Finish bool
	// Fault is the error that the chunk holds, nil if none; the chunk is not for
	// the client.
	Fault *fault.Fault
}

// Stream follows one streamed answer chunk by chunk. It is not safe for
// concurrent use.
type Stream struct {
	usage      Usage
	candidates []candidateState
	blocked    bool
}

// candidateState is what a stream remembers of one candidate.
type candidateState struct {
	index    int
	said     bool
	finished bool
	open     *openCall // a call whose arguments still come
}

// Usage returns the usage that the stream told last. A stream tells it with many
// chunks and counts up, so the values are never added.
func (s *Stream) Usage() Usage { return s.usage }

// Finished reports whether the answer is whole: the prompt was blocked, or there
// was a candidate and each of them ended.
func (s *Stream) Finished() bool {
	for i := range s.candidates {
		if !s.candidates[i].finished {
			return false
		}
	}
	return s.blocked || len(s.candidates) > 0
}

// Chunk takes the data of one event and returns what it holds. A call whose
// arguments come in pieces is held back and stands in the chunk that completes
// it. With info.Fault the answer is nil. An error wraps fault.ErrUndecodable: the
// chunk cannot be read, and so the answer has a hole. data must not change while
// the Answer is in use. The [DONE] that ends other protocols' streams, and that
// some proxies add, is an empty chunk.
func (s *Stream) Chunk(data []byte) (a *Answer, info ChunkInfo, err error) {
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "[DONE]" {
		return &Answer{}, ChunkInfo{}, nil
	}
	if a, err = read(data); err != nil {
		return nil, ChunkInfo{}, err
	}
	if a.Usage.Known {
		s.usage = a.Usage
	}
	if a.fault {
		f := fault.Parse(statusOK, data)
		return nil, ChunkInfo{Fault: &f}, nil
	}
	if a.BlockReason != "" && len(a.Candidates) == 0 {
		s.block()
		return a, ChunkInfo{Content: true, Finish: true}, nil
	}
	for i := range a.Candidates {
		if err := s.candidate(&a.Candidates[i], &info); err != nil {
			return nil, ChunkInfo{}, err
		}
	}
	if info.Fault != nil {
		return nil, info, nil
	}
	return a, info, nil
}

// block ends the answer: the prompt was blocked, which at times is found when
// some of the answer was already sent.
func (s *Stream) block() {
	s.blocked = true
	for i := range s.candidates {
		s.candidates[i].finished = true
	}
}

// candidate takes a piece of a candidate.
func (s *Stream) candidate(c *Candidate, info *ChunkInfo) error {
	state := s.state(c.Index)
	if state == nil {
		return fault.Undecodable("there are too many candidates")
	}
	holds := c.holds()
	if state.finished && holds {
		return fault.Undecodable("the answer goes on after its finishReason")
	}
	if err := state.calls(c); err != nil {
		return err
	}
	state.said = state.said || holds
	finish := FinishOf(c.Reason)
	if finish != FinishNone {
		if state.open != nil {
			c.Parts = append(c.Parts, state.open.whole())
			state.open = nil
		}
		state.finished = true
		if finish == FinishMalformed && !state.said {
			f := unreadable(c.Reason)
			info.Fault = &f
		}
	}
	info.Content = info.Content || holds || finish != FinishNone
	info.Finish = info.Finish || finish != FinishNone
	return nil
}

// calls joins the calls that come in pieces: a part that opens or continues one
// goes, the part that completes it holds all.
func (s *candidateState) calls(c *Candidate) error {
	if s.open == nil && !c.pieces() {
		if c.nameless() {
			return errNameless
		}
		return nil
	}
	kept := make([]Part, 0, len(c.Parts)+1)
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Kind != PartCall {
			kept = append(kept, *p)
			continue
		}
		if s.open != nil && p.Call.Name != "" {
			kept = append(kept, s.open.whole()) // nothing closed it, but another began
			s.open = nil
		}
		if s.open == nil {
			if p.Call.Name == "" {
				return errNameless
			}
			s.open = &openCall{part: *p}
			s.open.part.Call.Args = bytes.Clone(p.Call.Args)
		}
		if !s.open.take(&p.Call) {
			return fault.Undecodable("a piece of the arguments of %.60q has no place", s.open.part.Call.Name)
		}
		if s.open.part.Signature == "" {
			s.open.part.Signature = p.Signature
		}
		if !p.Call.more {
			kept = append(kept, s.open.whole())
			s.open = nil
		}
	}
	c.Parts = kept
	return nil
}

// state returns the state of a candidate, nil if there are too many.
func (s *Stream) state(index int) *candidateState {
	for i := range s.candidates {
		if s.candidates[i].index == index {
			return &s.candidates[i]
		}
	}
	if len(s.candidates) == maxCandidates {
		return nil
	}
	s.candidates = append(s.candidates, candidateState{index: index})
	return &s.candidates[len(s.candidates)-1]
}
