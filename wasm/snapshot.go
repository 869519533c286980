package wasm

import "github.com/tetratelabs/wazero/api"

// snapshot is what an instance was before its first call: its memory and its
// mutable globals. With those put back it does not remember anything.
type snapshot struct {
	size    uint32 // of the memory
	until   uint32 // how much of it is put back
	runs    []run
	globals []uint64
}

// run is a piece of memory: what it held, or nil for zeros.
type run struct {
	at, end uint32
	data    []byte
}

// grain is the smallest piece of zeros that is worth a run of its own, in bytes:
// clearing is twice as fast as copying.
const grain = 512

// take remembers memory up to until, and the globals.
func (s *snapshot) take(memory []byte, until uint32, globals []api.MutableGlobal) {
	s.size, s.until, s.runs, s.globals = uint32(len(memory)), until, s.runs[:0], s.globals[:0] //nolint:gosec // below 4 GiB
	for at := uint32(0); at < until; {
		end := at
		zero := isZero(memory[at:min(at+grain, until)])
		for end < until && isZero(memory[end:min(end+grain, until)]) == zero {
			end = min(end+grain, until)
		}
		r := run{at: at, end: end}
		if !zero {
			r.data = append([]byte(nil), memory[at:end]...)
		}
		s.runs = append(s.runs, r)
		at = end
	}
	for _, g := range globals {
		s.globals = append(s.globals, g.Get())
	}
}

// restore puts everything back that the snapshot covers.
func (s *snapshot) restore(memory []byte, globals []api.MutableGlobal) {
	for i := range s.runs {
		r := &s.runs[i]
		if r.data == nil {
			clear(memory[r.at:r.end])
		} else {
			copy(memory[r.at:r.end], r.data)
		}
	}
	for i, g := range globals {
		g.Set(s.globals[i])
	}
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
