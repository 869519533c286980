package meter_test

import "slices"

// u32 is a number as the format writes it.
func u32(n int) []byte {
	var b []byte
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// s32 is a signed number as the format writes it.
func s32(n int32) []byte {
	var b []byte
	for n < -0x40 || n >= 0x40 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n)&0x7f)
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
			b = append(append(b, u32(len(p))...), p...)
		default:
			panic("cat: a part of another type")
		}
	}
	return b
}

func list(items ...[]byte) []byte { return append(u32(len(items)), slices.Concat(items...)...) }

func sized(b []byte) []byte { return append(u32(len(b)), b...) }

func repeat(n int, parts ...any) []byte { return slices.Repeat(cat(parts...), n) }

// section is one section of a module.
type section struct {
	id   byte
	body []byte
}

func assemble(sections ...section) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		if s.body != nil {
			b = append(append(b, s.id), sized(s.body)...)
		}
	}
	return b
}

// program is a module whose function 1, exported as "run", takes an i32, has
// two more and an i64 as locals, gives nothing and does what is given.
// Function 0 is imported and does nothing, function 2 does nothing and
// gives nothing, function 3 adds one to its parameter. Both stand in a table.
func program(run ...any) []byte {
	return assemble(
		section{1, list(cat(0x60, 1, 0x7f, 0), cat(0x60, 0, 0), cat(0x60, 1, 0x7f, 1, 0x7f), cat(0x60, 3, 0x7f, 0x7f, 0x7f, 0))},
		section{2, list(cat("gw", "log", 0, 3))},
		section{3, cat(3, 0, 1, 2)},
		section{4, cat(1, 0x70, 1, 4, 4)},
		section{5, cat(1, 1, 2, 4)},
		section{7, list(cat("run", 0, 1), cat("memory", 2, 0))},
		section{9, list(cat(0, 0x41, 0, 0x0b, list(u32(2), u32(3))), cat(1, 0, list(u32(2))))},
		section{12, cat(1)},
		section{10, list(
			sized(cat(2, 2, 0x7f, 1, 0x7e, cat(run...), 0x0b)),
			sized(cat(0, 0x0b)),
			sized(cat(0, 0x20, 0, 0x41, 1, 0x6a, 0x0b)),
		)},
		section{11, list(cat(1, "0123456789abcdef0123456789abcdef"))},
	)
}
