package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"

	"gatewright/wasm/abi"
)

// structure is the header or the record: what an SDK lays over the buffer.
type structure struct {
	name, doc string
	size      int
	fields    []abi.Field
}

func structures() [2]structure {
	return [2]structure{
		{"request", "what is asked: the header of the buffer", abi.HeaderSize, byOffset(abi.Header[:])},
		{"candidate", "one deployment that could serve the request", abi.RecordSize, byOffset(abi.Record[:])},
	}
}

func writeC(b *bytes.Buffer) {
	for _, g := range groups() {
		fmt.Fprintf(b, "\n// %s\n", g.doc)
		for _, n := range g.list {
			value := g.literal(n.value, "INT64_MIN")
			switch {
			case g.long && strings.HasPrefix(value, "INT"):
			case g.long:
				value = "INT64_C(" + value + ")"
			case !g.signed:
				value += "u"
			default:
				value = "(" + value + ")"
			}
			fmt.Fprintf(b, "#define GW_%s %s%s\n", strings.ToUpper(n.name), value, comment(n.doc))
		}
	}
	types := map[abi.Type]string{abi.U8: "uint8_t", abi.U32: "uint32_t", abi.U64: "uint64_t", abi.I64: "int64_t", abi.F64: "double", abi.Text: "gw_text"}
	for _, s := range structures() {
		fmt.Fprintf(b, "\n// gw_%s is %s.\ntypedef struct {\n", s.name, s.doc)
		for _, f := range s.fields {
			what := say(f)
			if inside(f) {
				what = "(of the SDK) " + what
			}
			fmt.Fprintf(b, "  %s %s; // %s\n", types[f.Type], f.Name, what)
		}
		fmt.Fprintf(b, "} gw_%s;\n_Static_assert(sizeof(gw_%s) == %d, \"the layout of a %s\");\n", s.name, s.name, s.size, s.name)
	}
}

func writeRust(b *bytes.Buffer) {
	for _, g := range groups() {
		kind := "u32"
		if g.signed {
			kind = "i32"
		}
		if g.long {
			kind = "i64"
		}
		fmt.Fprintf(b, "\n// %s\n", g.doc)
		for _, n := range g.list {
			fmt.Fprintf(b, "pub const %s: %s = %s;%s\n", strings.ToUpper(n.name), kind, g.literal(n.value, "i64::MIN"), comment(n.doc))
		}
	}
	for _, s := range structures() {
		fmt.Fprintf(b, "\n/// %s.\n#[repr(C)]\npub struct %s {\n", sentence(s.doc), words(s.name, 0))
		for _, f := range s.fields {
			kind := f.Type.String()
			if f.Type == abi.Text {
				kind = "Text"
			}
			if f.Guest {
				kind = "Cell<" + kind + ">"
			}
			if inside(f) {
				fmt.Fprintf(b, "    %s: %s,\n", f.Name, kind)
				continue
			}
			fmt.Fprintf(b, "    /// %s\n    pub %s: %s,\n", say(f), f.Name, kind)
		}
		fmt.Fprintf(b, "}\n\nconst _: [(); %d] = [(); core::mem::size_of::<%s>()];\n", s.size, words(s.name, 0))
	}
}

func writeAssemblyScript(b *bytes.Buffer) {
	for _, g := range groups() {
		kind := "u32"
		if g.signed {
			kind = "i32"
		}
		if g.long {
			kind = "i64"
		}
		fmt.Fprintf(b, "\n// %s\n", g.doc)
		for _, n := range g.list {
			fmt.Fprintf(b, "export const %s: %s = %s;%s\n", strings.ToUpper(n.name), kind, g.literal(n.value, "i64.MIN_VALUE"), comment(n.doc))
		}
	}
	for _, s := range structures() {
		class := words(s.name, 0)
		fmt.Fprintf(b, "\n/** The fields of a %s. A text is two of them, which its getter puts together. */\n@unmanaged\nclass %sFields {\n", s.name, class)
		var getters bytes.Buffer
		for _, f := range s.fields {
			name := words(f.Name, 1)
			if f.Type == abi.Text {
				fmt.Fprintf(b, "  private %sOff: u32;\n  private %sLen: u32;\n", name, name)
				fmt.Fprintf(&getters, "  /** %s */\n  get %s(): Text {\n    return textAt(changetype<usize>(this) + %d);\n  }\n", say(f), name, f.Offset)
				continue
			}
			what := say(f)
			if inside(f) {
				what = "(of the SDK) " + what
			}
			fmt.Fprintf(b, "  /** %s */\n  %s: %s;\n", what, name, f.Type)
		}
		fmt.Fprintf(b, "%s}\nif (offsetof<%sFields>() != %d) ERROR(\"the layout of a %s\");\n", getters.String(), class, s.size, s.name)
	}
}

func writeGo(b *bytes.Buffer) {
	var src bytes.Buffer
	for _, g := range groups() {
		kind := "uint32"
		if g.signed {
			kind = "int32"
		}
		if g.long {
			kind = "int64"
		}
		fmt.Fprintf(&src, "\n// %s\nconst (\n", g.doc)
		for _, n := range g.list {
			name := goName(n.name)
			if n.name == "magic" {
				name = n.name
			}
			fmt.Fprintf(&src, "\t%s %s = %s%s\n", name, kind, g.literal(n.value, "-1 << 63"), comment(n.doc))
		}
		src.WriteString(")\n")
	}
	types := map[abi.Type]string{abi.U8: "uint8", abi.U32: "uint32", abi.U64: "uint64", abi.I64: "int64", abi.F64: "float64", abi.Text: "Text"}
	for _, s := range structures() {
		name := words(s.name, 0)
		fmt.Fprintf(&src, "\n// %s is %s.\ntype %s struct {\n", name, s.doc, name)
		for _, f := range s.fields {
			field := goName(f.Name)
			if inside(f) {
				field = words(f.Name, 1)
			}
			fmt.Fprintf(&src, "\t%s %s // %s\n", field, types[f.Type], say(f))
		}
		fmt.Fprintf(&src, "}\n\nvar _ [%d]byte = [unsafe.Sizeof(%s{})]byte{}\n", s.size, name)
	}
	text, err := format.Source(src.Bytes())
	if err != nil {
		panic(err) // what is written above is not Go
	}
	b.Write(text)
}

// goName is a name as Go programs spell it.
func goName(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts {
		switch p {
		case "abi", "id", "json", "ms", "nusd", "ok", "ppm", "rpm", "tpm", "tps", "ttft":
			parts[i] = strings.ToUpper(p)
		default:
			parts[i] = words(p, 0)
		}
	}
	return strings.Join(parts, "")
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
