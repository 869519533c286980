package check

import (
	"fmt"
	"strconv"
)

// Names of exports that tell what a module is.
const (
	exportAdmit   = "gw_admit"
	exportRank    = "gw_rank"
	exportVersion = "gw_abi_version"

	exportOPAEval  = "opa_eval"
	exportOPAMajor = "opa_wasm_abi_version"
	exportOPAMinor = "opa_wasm_abi_minor_version"
)

// Recognize says by the names of its exports what kind a module is of, and
// KindUnknown if that cannot be seen. It looks at nothing else, so whatever it says
// the module must still be checked. It does not allocate.
func Recognize(module []byte) Kind {
	r := &reader{b: module}
	if string(r.take(uint32(len(magic)+len(version)))) != magic+version {
		return KindUnknown
	}
	for r.left() > 0 {
		id := r.byte()
		if s := r.part(r.u32()); id == secExport {
			return kindOf(&s)
		}
	}
	return KindUnknown
}

// kindOf reads an export section.
func kindOf(r *reader) Kind {
	var admit, rank, opa bool
	for n := r.u32(); n > 0 && r.left() > 0; n-- {
		switch string(r.name()) {
		case exportAdmit:
			admit = true
		case exportRank:
			rank = true
		case exportOPAMajor, exportOPAEval:
			opa = true
		}
		r.byte()
		r.u32()
	}
	switch {
	case opa && !admit && !rank:
		return KindOPA
	case admit && !rank && !opa:
		return KindAdmission
	case rank && !admit && !opa:
		return KindRanking
	}
	return KindUnknown
}

// opaVersion takes the ABI's version from the globals that OPA's compiler
// exports.
func (c *checker) opaVersion(name string, g global) {
	if !g.known || g.mutable {
		return
	}
	switch name {
	case exportOPAMajor:
		c.info.ABI = strconv.FormatInt(g.init, 10) + c.info.ABI
	case exportOPAMinor:
		c.info.ABI += "." + strconv.FormatInt(g.init, 10)
	}
}

// claimedVersion takes the ABI's version from the body of gw_abi_version if
// that does nothing but return a number.
func (c *checker) claimedVersion(r reader) {
	if r.byte() != 0 || r.byte() != 0x41 {
		return
	}
	v := r.signed(32) & 0xffffffff
	if r.byte() == 0x0b && r.left() == 0 && !r.failed {
		c.info.ABI = fmt.Sprintf("%d.%d", v>>16, v&0xffff)
	}
}
