package fake

import (
	"bytes"
	"strings"
	"testing"
)

func framingCases() []faultCase {
	var out []faultCase
	for fault, sign := range map[string]string{
		"sse-crlf":       "}\r\n\r\ndata: ",
		"sse-cr":         "}\r\rdata: ",
		"sse-no-space":   "\n\ndata:{",
		"sse-multiline":  "data: {\ndata: \"id\":",
		"sse-bom":        "\ufeffdata: ",
		"sse-fields":     "\n\nid: 3\nevent: message\nretry: 3000\nunknown: x\nlonely\ndata: ",
		"sse-comments":   "}\n: inside\n\n: SIMULATED PROCESSING\n\n:\ndata: ",
		"sse-separators": "line\u2028para\u2029next\u0085",
	} {
		out = append(out, faultCase{fault: fault, stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			if !bytes.Contains(r.body, []byte(sign)) {
				t.Errorf("no %q in %.400q", sign, r.body)
			}
		}})
	}
	return out
}

// Every framing says the same.
func TestFramingsAgree(t *testing.T) {
	const answer = "answer: {text: \"one two three\", tokens: 7}"
	plain := newRig(t, oneUpstream(answer), Options{})
	want := tell(t, plain.send(t, "POST", chatPath, streamBody).body)
	for _, f := range Faults() {
		if f.Class != "framing" || f.Name == "sse-separators" {
			continue
		}
		r := newRig(t, oneUpstream(answer+"\nalways: "+f.Name), Options{})
		got := tell(t, r.send(t, "POST", chatPath, streamBody).body)
		if got.content != want.content || got.finish != want.finish || got.done != 1 || got.broken != 0 || got.roles != 1 {
			t.Errorf("%s: got %+v, want %+v", f.Name, got, want)
		}
	}
}

func TestSeparatorsAreContent(t *testing.T) {
	r := newRig(t, oneUpstream("always: sse-separators"), Options{})
	const want = "line\u2028para\u2029next\u0085 é 漢字 🙂 end"
	if got := tell(t, r.send(t, "POST", chatPath, streamBody).body); got.content != want {
		t.Errorf("got %q", got.content)
	}
	if got := string(r.send(t, "POST", chatPath, chatBody).body); !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
}
