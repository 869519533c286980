package check

import "bytes"

const (
	magic   = "\x00asm"
	version = "\x01\x00\x00\x00"
)

// lookalikes are files that get uploaded in place of a module.
var lookalikes = []struct{ prefix, what, fix string }{
	{"\x1f\x8b", "the file is compressed with gzip", "decompress it first; an OPA bundle (.tar.gz) is uploaded as a bundle, not as a module"},
	{"\x28\xb5\x2f\xfd", "the file is compressed with zstd", "decompress it first"},
	{"PK\x03\x04", "the file is a zip archive", "take the .wasm file out of it"},
	{"BZh", "the file is compressed with bzip2", "decompress it first"},
	{"\xfd7zXZ", "the file is compressed with xz", "decompress it first"},
	{"\x7fELF", "the file is a program for an operating system", "build for the target wasm32"},
	{"!<arch>", "the file is a library archive", "link it to a module"},
	{"(module", "the file is the text format of WebAssembly", "assemble it with wat2wasm"},
	{"(component", "the file is the text format of a component", "build a core module"},
	{";;", "the file is the text format of WebAssembly", "assemble it with wat2wasm"},
	{"(;", "the file is the text format of WebAssembly", "assemble it with wat2wasm"},
	{"package ", "the file looks like Rego source", "upload it as a Rego policy"},
}

// preamble checks the first 8 bytes and reports whether a module follows.
func (c *checker) preamble() bool {
	b := c.b
	if rest, ok := bytes.CutPrefix(b, []byte(magic)); ok {
		switch {
		case bytes.HasPrefix(rest, []byte(version)):
			return true
		case len(rest) < len(version):
			c.rep.add("module", len(b), "upload the whole file", "the file ends within its header")
		case rest[0] == 0x0d || rest[2] == 0x01:
			c.rep.add("module", len(magic), "build a core module: target wasm32-unknown-unknown or wasip1, without wasm-tools component new",
				"the file is a component, not a core module")
		default:
			c.rep.add("module", len(magic), "build for version 1 of the format", "the binary format has version bytes %x, 01000000 is supported", rest[:4])
		}
		return false
	}
	c.lookalike()
	return false
}

func (c *checker) lookalike() {
	if len(c.b) == 0 {
		c.rep.add("module", 0, "upload a .wasm file", "the file is empty")
		return
	}
	head := bytes.TrimLeft(c.b[:min(len(c.b), 256)], " \t\r\n\ufeff")
	for _, l := range lookalikes {
		if bytes.HasPrefix(c.b, []byte(l.prefix)) || bytes.HasPrefix(head, []byte(l.prefix)) {
			c.rep.add("module", 0, l.fix, l.what)
			return
		}
	}
	c.rep.add("module", 0, "upload a .wasm file", "the file does not begin with the magic number of a module")
}
