package fake

import (
	"regexp"
	"strconv"
)

// framing appends event number i, which may have a name and holds data, as it
// goes on the wire.
type framing func(dst []byte, i int, name string, data []byte) []byte

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
		row("sse-crlf", "lines end with CR LF", lines(" ", "\r\n", "\r\n")),
		row("sse-cr", "lines end with CR", lines(" ", "\r", "\r")),
		row("sse-no-space", "no space after the colon", lines("", "\n", "\n")),
		row("sse-multiline", "each object cut into several data lines", frameMultiline),
		row("sse-bom", "a byte order mark before the first event", func(dst []byte, i int, name string, data []byte) []byte {
			if i == 0 {
				dst = append(dst, "\ufeff"...)
			}
			return plainLines(dst, i, name, data)
		}),
		row("sse-fields", "id, event, retry and unknown fields beside the data", func(dst []byte, i int, name string, data []byte) []byte {
			dst = append(dst, "id: "...)
			dst = strconv.AppendInt(dst, int64(i), 10)
			if name == "" {
				name = "message" // what an event without a name is
			}
			dst = append(append(append(dst, "\nevent: "...), name...), "\nretry: 3000\nunknown: x\nlonely\n"...)
			return plainLines(dst, i, "", data)
		}),
		row("sse-comments", "comments before, between and inside the events", func(dst []byte, i int, name string, data []byte) []byte {
			dst = append(dst, ": SIMULATED PROCESSING\n\n:\n"...)
			dst = lines(" ", "\n", ": inside\n")(dst, i, name, data)
			return append(dst, '\n')
		}),
		{
			FaultInfo: FaultInfo{
				Name: "sse-separators", Class: "framing", Applies: AppliesText, Params: params("headers"), Matrix: []string{"F27"},
				Does: "content with U+2028, U+2029, U+0085 and characters of two, three and four bytes, unescaped",
			},
			tune: func(x *exchange) {
				x.answer.reasoning, x.answer.calls = nil, nil
				x.answer.pieces = []string{"line\u2028para\u2029next\u0085", " é", " 漢字", " 🙂", " end"}
			},
		},
	}
}

// plainLines is the framing that is usual.
var plainLines = lines(" ", "\n", "\n")

// lines frames a name and data as one line each, with so much space behind the
// colon, ended by eol, and the event by end.
func lines(space, eol, end string) framing {
	return func(dst []byte, _ int, name string, data []byte) []byte {
		if name != "" {
			dst = append(append(append(append(dst, "event:"...), space...), name...), eol...)
		}
		dst = append(append(append(append(dst, "data:"...), space...), data...), eol...)
		return append(dst, end...)
	}
}

// frameMultiline cuts an object after its first brace and before its second
// member: places where JSON does not mind the line feed that joins the lines.
func frameMultiline(dst []byte, i int, name string, data []byte) []byte {
	if len(data) == 0 || data[0] != '{' {
		return plainLines(dst, i, name, data)
	}
	if name != "" {
		dst = append(append(append(dst, frameName...), name...), '\n')
	}
	dst = append(dst, "data: {\n"...)
	rest := data[1:]
	if at := memberEnd(rest); at > 0 {
		dst = append(append(append(dst, framePrefix...), rest[:at]...), '\n')
		rest = rest[at:]
	}
	return append(append(append(dst, framePrefix...), rest...), "\n\n"...)
}

// member is the place behind a member of an object that another one follows: a
// quote that closes a text is never followed by a name and a colon.
var member = regexp.MustCompile(`,"[A-Za-z_]+":`)

// memberEnd returns the place behind the first comma between two members of an
// object; 0 when there is none.
func memberEnd(text []byte) int {
	if at := member.FindIndex(text); at != nil {
		return at[0] + 1
	}
	return 0
}
