package fake

import (
	"bytes"
	"strconv"
)

// framing appends event number i, which holds data, as it goes on the wire.
type framing func(dst []byte, i int, data []byte) []byte

// framingFaults are whole streams in forms of SSE that are unusual and right: a
// client must read the same from each of them.
func framingFaults() []faultDef {
	row := func(name, does string, f framing) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "framing", Does: does, Applies: AppliesStream, Params: params("headers"), Matrix: []string{"F27"}},
			tune:      func(x *exchange) { x.framing = f },
		}
	}
	return []faultDef{
		row("sse-crlf", "lines end with CR LF", lines("data: ", "\r\n", "\r\n")),
		row("sse-cr", "lines end with CR", lines("data: ", "\r", "\r")),
		row("sse-no-space", "no space after the colon", lines("data:", "\n", "\n")),
		row("sse-multiline", "each object cut into several data lines", frameMultiline),
		row("sse-bom", "a byte order mark before the first event", func(dst []byte, i int, data []byte) []byte {
			if i == 0 {
				dst = append(dst, "\ufeff"...)
			}
			return lines("data: ", "\n", "\n")(dst, i, data)
		}),
		row("sse-fields", "id, event, retry and unknown fields beside the data", func(dst []byte, i int, data []byte) []byte {
			dst = append(dst, "id: "...)
			dst = strconv.AppendInt(dst, int64(i), 10)
			dst = append(dst, "\nevent: message\nretry: 3000\nunknown: x\nlonely\n"...)
			return lines("data: ", "\n", "\n")(dst, i, data)
		}),
		row("sse-comments", "comments before, between and inside the events", func(dst []byte, i int, data []byte) []byte {
			dst = append(dst, ": SIMULATED PROCESSING\n\n:\n"...)
			dst = lines("data: ", "\n", ": inside\n")(dst, i, data)
			return append(dst, '\n')
		}),
		{
			FaultInfo: FaultInfo{
				Name: "sse-separators", Class: "framing", Applies: AppliesText, Params: params("headers"), Matrix: []string{"F27"},
				Does: "content with U+2028, U+2029, U+0085 and characters of two, three and four bytes, unescaped",
			},
			tune: func(x *exchange) {
				x.answer.reasoning, x.answer.toolName = nil, ""
				x.answer.pieces = []string{"line\u2028para\u2029next\u0085", " é", " 漢字", " 🙂", " end"}
			},
		},
	}
}

// lines frames data as one data line, ended by eol, and the event by end.
func lines(field, eol, end string) framing {
	return func(dst []byte, _ int, data []byte) []byte {
		dst = append(dst, field...)
		dst = append(dst, data...)
		dst = append(dst, eol...)
		return append(dst, end...)
	}
}

// frameMultiline cuts an object after its first brace and before its choices:
// places where JSON does not mind the line feed that joins the lines.
func frameMultiline(dst []byte, _ int, data []byte) []byte {
	rest := data
	if len(rest) > 0 && rest[0] == '{' {
		dst = append(dst, "data: {\n"...)
		rest = rest[1:]
		if before, after, ok := bytes.Cut(rest, []byte(`,"choices":`)); ok {
			dst = append(dst, "data: "...)
			dst = append(dst, before...)
			dst = append(dst, ",\n"...)
			dst = append(dst, `data: "choices":`...)
			dst = append(dst, after...)
			return append(dst, "\n\n"...)
		}
	}
	dst = append(dst, "data: "...)
	dst = append(dst, rest...)
	return append(dst, "\n\n"...)
}
