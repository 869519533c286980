package meter

// moduleWriter writes the module again, section by section.
type moduleWriter struct {
	m       *module
	initial int64
	out     []byte

	wroteGlobals, wroteExports bool
}

func (w *moduleWriter) write(b []byte) *Error {
	fault := sections(b, func(id byte, r *reader) {
		if id == secCustom {
			w.custom(r)
			return
		}
		w.before(id)
		switch id {
		case secGlobal:
			w.wroteGlobals = true
			w.extended(id, r, 1, w.global())
		case secExport:
			w.wroteExports = true
			added, exports := w.exports()
			w.extended(id, r, added, exports)
		case secStart: // an export now
		case secCode:
			w.code(r)
		default:
			w.section(id, r.b[r.at:])
		}
	})
	w.before(secCode)
	return fault
}

// before writes the sections that the module lacks as soon as one comes that
// stands behind them.
func (w *moduleWriter) before(id byte) {
	behind := id > secGlobal && id != secTag
	if behind && !w.wroteGlobals {
		w.wroteGlobals = true
		w.section(secGlobal, append([]byte{1}, w.global()...))
	}
	if behind && id > secExport && !w.wroteExports {
		w.wroteExports = true
		added, exports := w.exports()
		w.section(secExport, append(appendUnsigned(nil, added), exports...))
	}
}

func (w *moduleWriter) section(id byte, body []byte) {
	w.out = appendSized(append(w.out, id), body)
}

// extended writes a section that is a list with entries added at its end.
func (w *moduleWriter) extended(id byte, r *reader, added uint32, entries []byte) {
	count := appendUnsigned(nil, r.u32()+added)
	if !r.ok() {
		return
	}
	old := r.b[r.at:]
	w.out = appendUnsigned(append(w.out, id), len(count)+len(old)+len(entries))
	w.out = append(append(append(w.out, count...), old...), entries...)
}

// custom keeps the manifest, and the names, which engines put into the stack
// traces of traps. Debug information would be wrong from here on.
func (w *moduleWriter) custom(r *reader) {
	whole := r.b[r.at:]
	switch string(r.take(r.u32())) {
	case sectionManifest, sectionName:
		if r.ok() {
			w.section(secCustom, whole)
		}
	}
}

// global is the entry of the budget.
func (w *moduleWriter) global() []byte {
	return append(appendSigned([]byte{typeI64, 1, opI64Const}, w.initial), opEnd)
}

func (w *moduleWriter) exports() (added uint32, entries []byte) {
	add := func(name string, kind byte, index uint32) {
		entries = appendSized(entries, name)
		entries = appendUnsigned(append(entries, kind), index)
		added++
	}
	add(Budget, externGlobal, w.m.globals)
	if w.m.hasStart {
		add(Start, externFunc, w.m.start)
	}
	for i, index := range w.m.state {
		add(State(i), externGlobal, index)
	}
	return added, entries
}

func (w *moduleWriter) code(r *reader) {
	n := r.u32()
	if r.ok() && int64(n) != int64(len(w.m.funcs)) {
		r.fail("the number of bodies is not the number of functions")
	}
	if !r.ok() {
		return
	}
	bodies := &bodyWriter{planner: planner{m: w.m}}
	code := appendUnsigned(make([]byte, 0, len(r.b)-r.at+(len(r.b)-r.at)/4), n)
	for _, t := range w.m.funcs {
		if int64(t) >= int64(len(w.m.types)) {
			r.fail("a function of a type that does not exist")
			return
		}
		part := r.part(r.u32())
		body := bodies.write(part, w.m.types[t])
		if r.fault = part.fault; r.fault != nil {
			return
		}
		code = appendSized(code, body)
	}
	if r.more() {
		r.fail("bytes behind the last body")
		return
	}
	w.section(secCode, code)
}
