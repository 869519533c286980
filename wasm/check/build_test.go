package check_test

import (
	"errors"
	"slices"
	"testing"

	"gatewright/wasm/check"
)

// Sections by number, as the tests write them.
const (
	custom = iota
	types
	imports
	functions
	tables
	memories
	globals
	exports
	start
	elements
	code
	data
	dataCount
	tags
)

// u32 is a number as the format writes it.
func u32(n uint32) []byte {
	var b []byte
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// cat joins bytes, numbers and texts. A text gets its length in front.
func cat(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case []byte:
			b = append(b, p...)
		case string:
			b = append(append(b, u32(uint32(len(p)))...), p...)
		default:
			panic("cat: a part of another type")
		}
	}
	return b
}

// list is a list as the format writes it.
func list(items ...[]byte) []byte {
	return append(u32(uint32(len(items))), slices.Concat(items...)...)
}

// sized puts the length in front.
func sized(b []byte) []byte { return append(u32(uint32(len(b))), b...) }

// section is one section of a module.
type section struct {
	id   byte
	body []byte
}

func assemble(sections ...section) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		b = append(append(b, s.id), sized(s.body)...)
	}
	return b
}

// order is the place of a section among the others.
func order(id byte) int {
	switch id {
	case tags:
		return memories*2 + 1
	case dataCount:
		return elements*2 + 1
	}
	return int(id) * 2
}

// policy is a ranking module that every profile for such modules accepts, with
// some sections replaced, added or, when they have no bytes, left out. Its
// function 3 takes nothing, gives nothing and is called by nobody.
func policy(changes ...section) []byte {
	sections := []section{
		{types, list(cat(0x60, 0, 1, 0x7f), cat(0x60, 1, 0x7f, 1, 0x7f), cat(0x60, 2, 0x7f, 0x7f, 1, 0x7f), cat(0x60, 0, 0))},
		{functions, cat(4, 0, 1, 2, 3)},
		{tables, cat(1, 0x70, 1, 2, 2)},
		{memories, cat(1, 1, 1, 64)},
		{globals, cat(1, 0x7f, 1, 0x41, 0, 0x0b)},
		{exports, list(
			cat("memory", 2, 0), cat("gw_abi_version", 0, 0), cat("gw_alloc", 0, 1), cat("gw_rank", 0, 2),
		)},
		{code, bodies(cat(0))},
	}
	for _, c := range changes {
		i := slices.IndexFunc(sections, func(s section) bool { return s.id == c.id && c.id != custom })
		switch {
		case i >= 0:
			sections[i] = c
		default:
			i = slices.IndexFunc(sections, func(s section) bool { return order(s.id) > order(c.id) })
			if i < 0 || c.id == custom {
				i = len(sections)
			}
			sections = slices.Insert(sections, i, c)
		}
	}
	return assemble(slices.DeleteFunc(sections, func(s section) bool { return s.body == nil })...)
}

// bodies is a code section for policy: what function 3 declares and does, and
// bodies behind it.
func bodies(declared []byte, instructions ...any) []byte {
	return list(
		sized(cat(0, 0x41, []byte{0x80, 0x80, 0x04}, 0x0b)),
		sized(cat(0, 0x41, []byte{0x80, 0x08}, 0x0b)),
		sized(cat(0, 0x41, 0, 0x0b)),
		sized(cat(declared, cat(instructions...), 0x0b)),
	)
}

// does is a policy whose function 3 does something.
func does(instructions ...any) []byte {
	return policy(section{code, bodies(cat(0), instructions...)})
}

func repeat(n int, b ...byte) []byte { return slices.Repeat(b, n) }

// problems are those of a module that must be refused.
func problems(t *testing.T, module []byte, p check.Profile) []check.Problem {
	t.Helper()
	info, err := check.Check(module, p)
	refused, ok := errors.AsType[*check.Error](err)
	if !ok || info != nil {
		t.Fatalf("got %v and the error %v, want no info and a *check.Error", info, err)
	}
	if len(refused.Problems) == 0 || refused.Profile != p.Name {
		t.Fatalf("profile %q with %d problems", refused.Profile, len(refused.Problems))
	}
	for _, p := range refused.Problems {
		if p.Section == "" || p.What == "" || p.Fix == "" || p.Offset < 0 || p.Offset > len(module) {
			t.Errorf("incomplete problem %+v", p)
		}
	}
	return refused.Problems
}
