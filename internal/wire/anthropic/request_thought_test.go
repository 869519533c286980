package anthropic_test

import (
	"strings"
	"testing"

	"gatewright/internal/wire/anthropic"
)

// A budget for thinking goes when the turn that the model is to go on from lost its
// thought, which was another maker's.
func TestRewriteTakesBudgetOut(t *testing.T) {
	foreign := `{"type":"thinking","thinking":"a","signature":"` + anthropic.Foreign{Origin: "google", Data: "x"}.String() + `"}`
	const (
		own     = `{"type":"thinking","thinking":"b","signature":"EqoB"}`
		call    = `{"type":"tool_use","id":"i","name":"f","input":{"type":"thinking"}}`
		asks    = `{"role":"user","content":"hi"}`
		gives   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"r"}]}]}`
		enabled = `{"type":"enabled","budget_tokens":2000}`
	)
	says := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	for _, c := range []struct {
		name, thinking, messages string
		taken                    bool
	}{
		{"results of a call that lost its thought", enabled, asks + "," + says(foreign+","+call) + "," + gives, true},
		{"role behind the content", enabled, asks + `,{"content":[` + foreign + "," + call + `],"role":"assistant"},` + gives, true},
		{"an answer begun", enabled, asks + "," + says(foreign+`,{"type":"text","text":"The"}`), true},
		{"own thought", enabled, asks + "," + says(own+","+call) + "," + gives, false},
		{"own thought first", enabled, asks + "," + says(own+","+foreign+","+call) + "," + gives, false},
		{"own thought behind", enabled, asks + "," + says(foreign+","+own+","+call) + "," + gives, false},
		{"a new question", enabled, asks + "," + says(foreign+`,{"type":"text","text":"so"}`) + "," + asks, false},
		{"the last call has its own", enabled, asks + "," + says(foreign+","+call) + "," + gives + "," + says(own+","+call) + "," + gives, false},
		{"the last call lost it", enabled, asks + "," + says(own+","+call) + "," + gives + "," + says(foreign+","+call) + "," + gives, true},
		{"no thought of anyone's", enabled, asks + "," + says(call) + "," + gives, false}, // the client's own mistake
		{"no budget", `{"type":"adaptive"}`, asks + "," + says(foreign+","+call) + "," + gives, false},
	} {
		for _, format := range []string{`{"model":"m","max_tokens":9,"thinking":%T,"messages":[%M]}`, `{"messages":[%M],"system":[{"type":"text","text":"s"}],"model":"m","max_tokens":9,"thinking": %T }`} {
			body := strings.NewReplacer("%T", c.thinking, "%M", c.messages).Replace(format)
			r := scanned(t, anthropic.Messages, body)
			got := string(r.Rewrite(nil, []byte(body), anthropic.Rewrite{Model: "m"}))
			if taken := strings.Contains(got, `"thinking":{"type":"disabled"}`) || strings.Contains(got, `"thinking": {"type":"disabled"} `); taken != c.taken {
				t.Errorf("%s: %s", c.name, got)
			}
			again := scanned(t, anthropic.Messages, got)
			if again.Reasoning != (!c.taken) {
				t.Errorf("%s: reasoning %v in %s", c.name, again.Reasoning, got)
			}
		}
	}
}
