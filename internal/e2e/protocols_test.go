package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// protocolsScript plays an upstream of each protocol, and each is the strict
// service that the simulator makes of it. They say what they were asked.
const protocolsScript = `
seed: 11
upstreams:
  oai: &upstream
    api_key: sk-upstream-0123
    answer: {echo: true, reasoning: "Let me think.", tool_calls: all, usage: {prompt: 100, cached: 40, completion: 20, reasoning: 5}}
  ant: *upstream
  gem: *upstream
  cut: {api_key: sk-upstream-0123, always: content-then-error}
`

const protocolsConfig = `
listen: 127.0.0.1:0
providers:
  oai: {protocol: openai, base_url: "http://SIM/oai/v1", api_key: sk-upstream-0123, priority: 3}
  ant: {protocol: anthropic, base_url: "http://SIM/ant/v1", api_key: sk-upstream-0123, priority: 2}
  ant-new: {protocol: anthropic, base_url: "http://SIM/ant/v1", api_key: sk-upstream-0123, api_version: 2026-10-21}
  gem: {protocol: gemini, base_url: "http://SIM/gem/v1beta", api_key: sk-upstream-0123, priority: 1}
  cut-oai: {protocol: openai, base_url: "http://SIM/cut/v1", api_key: sk-upstream-0123}
  cut-ant: {protocol: anthropic, base_url: "http://SIM/cut/v1", api_key: sk-upstream-0123}
  cut-gem: {protocol: gemini, base_url: "http://SIM/cut/v1beta", api_key: sk-upstream-0123}
models:
  on-openai: {deployments: [{provider: oai, upstream_model: gpt-sim, ABLE}]}
  on-anthropic: {deployments: [{provider: ant, upstream_model: claude-sonnet-4-5, ABLE}]}
  on-anthropic-new: {deployments: [{provider: ant-new, upstream_model: claude-opus-4-8, ABLE}]}
  on-gemini: {deployments: [{provider: gem, upstream_model: gemini-3-pro, ABLE}]}
  on-gemini-old: {deployments: [{provider: gem, upstream_model: gemini-2.5-flash, ABLE}]}
  cut-on-openai: {deployments: [{provider: cut-oai, upstream_model: gpt-sim, ABLE}]}
  cut-on-anthropic: {deployments: [{provider: cut-ant, upstream_model: claude-sonnet-4-5, ABLE}]}
  cut-on-gemini: {deployments: [{provider: cut-gem, upstream_model: gemini-3-pro, ABLE}]}
  moving:
    deployments:
      - {id: oai, provider: oai, upstream_model: gpt-sim, ABLE}
      - {id: ant, provider: ant, upstream_model: claude-sonnet-4-5, ABLE}
      - {id: gem, provider: gem, upstream_model: gemini-3-pro, ABLE}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 20, failure_threshold: 0, cooldown_seconds: 0}
session: {affinity: off}
keys:
  test: {secret: "${E2E_KEY}", expose_routing: true}
`

const able = `capabilities: [tools, vision, json_schema, reasoning], limit: {context: 200000, output: 16000}`

// protocolModels are served by an upstream of one protocol each; the streams of
// brokenModels break off.
var (
	protocolModels = []string{"on-openai", "on-anthropic", "on-anthropic-new", "on-gemini", "on-gemini-old"}
	brokenModels   = []string{"cut-on-openai", "cut-on-anthropic", "cut-on-gemini"}
)

// protocolsGateway starts the upstreams and a gateway in front of them.
func protocolsGateway(t *testing.T) (*process, simulator) {
	t.Helper()
	sim := simulateScript(t, protocolsScript, "oai", "ant", "gem", "cut")
	config := strings.NewReplacer("SIM", sim.address, "ABLE", able, "${E2E_KEY}", sdkKey).Replace(protocolsConfig)
	return start(t, "serve", "--config", write(t, "gatewright.yaml", config), "--data-dir", t.TempDir()), sim
}

// turn is one turn of a conversation, in no protocol's words.
type turn struct {
	text    string
	results []string // of the calls before, in their order
	tools   bool
	serial  bool // one call at a time
	think   bool
	image   bool
	schema  map[string]any // of the answer
	stop    string
	limit   int64
}

// called is a call of a tool.
type called struct{ id, name, arguments string }

// said is what came back.
type said struct {
	deployment, model string
	text, finish      string // finish is stop, length, tools or refusal
	thought           string
	calls             []called
	in, cached, out   int64 // tokens
	status            int   // of an error
	code, detail      string
	broken            error // any other error
}

func (s said) names() (names []string) {
	for _, c := range s.calls {
		names = append(names, c.name)
	}
	return names
}

// talker is a client of one protocol that holds a conversation.
type talker interface {
	send(ctx context.Context, a turn) said
}

// talkers are the clients, whole answers and streams.
var talkers = map[string]func(gw *process, model string) talker{
	"openai":              func(gw *process, model string) talker { return newChatTalker(gw, model, false) },
	"openai, streamed":    func(gw *process, model string) talker { return newChatTalker(gw, model, true) },
	"responses":           func(gw *process, model string) talker { return newResponsesTalker(gw, model, false) },
	"responses, streamed": func(gw *process, model string) talker { return newResponsesTalker(gw, model, true) },
	"anthropic":           func(gw *process, model string) talker { return newMessagesTalker(gw, model, false) },
	"anthropic, streamed": func(gw *process, model string) talker { return newMessagesTalker(gw, model, true) },
}

// answerSchema is a form that answers are held to.
var answerSchema = map[string]any{
	"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}}, "required": []string{"ok"}, "additionalProperties": false,
}

// boundedSchema has words to which not every service holds a model.
var boundedSchema = map[string]any{
	"type": "object", "required": []string{"n", "s"}, "additionalProperties": false,
	"properties": map[string]any{
		"n": map[string]any{"type": "integer", "minimum": 2, "maximum": 9},
		"s": map[string]any{"type": "string", "maxLength": 5, "pattern": "^[a-z]*$"},
	},
}

// cityTools are two functions with the schema of their arguments.
var cityTools = map[string]map[string]any{
	"get_time":    {"city": map[string]any{"type": "string"}},
	"get_weather": {"city": map[string]any{"type": "string", "minLength": 1}, "days": map[string]any{"type": "integer", "minimum": 2}},
}

func eachTalker(t *testing.T, test func(t *testing.T, client, model string, begin func() talker)) {
	t.Helper()
	t.Parallel()
	gw, sim := protocolsGateway(t)
	t.Run("all", func(t *testing.T) { // over when all of them are
		for client, begin := range talkers {
			for _, model := range protocolModels {
				t.Run(client+" "+model, func(t *testing.T) {
					t.Parallel()
					test(t, client, model, func() talker { return begin(gw, model) })
				})
			}
		}
	})
	checkPaths(t, sim)
}

// checkPaths wants each upstream to have been asked in its own protocol alone.
func checkPaths(t *testing.T, sim simulator) {
	t.Helper()
	for name, path := range map[string]string{"oai": "/v1/chat/completions", "ant": "/v1/messages", "gem": "/v1beta/models/gemini-"} {
		var seen struct{ Requests []struct{ Path string } }
		sim.get("/_sim/upstreams/"+name, &seen)
		for _, r := range seen.Requests {
			if !strings.HasPrefix(r.Path, path) {
				t.Errorf("%s was asked at %s", name, r.Path)
			}
		}
		if len(seen.Requests) == 0 {
			t.Errorf("%s was not asked", name)
		}
	}
}

// Every client is served by an upstream of every protocol.
func TestEachClientOnEachProtocol(t *testing.T) {
	eachTalker(t, func(t *testing.T, client, model string, begin func() talker) {
		t.Helper()
		for name, c := range map[string]struct {
			turn         turn
			text, finish string
		}{
			"text":     {turn{text: "Say hello."}, "Say hello.", "stop"},
			"cut":      {turn{text: strings.Repeat("one two three four ", 10), limit: 16}, "", "length"},
			"stopped":  {turn{text: "one two three", stop: "two"}, "one ", "stop"},
			"image":    {turn{text: "What is this?", image: true}, "What is this?", "stop"},
			"thinking": {turn{text: "Think hard.", think: true}, "Think hard.", "stop"},
			"held to":  {turn{text: "Is it?", schema: answerSchema}, `{"ok":true}`, "stop"},
			"bounded":  {turn{text: "How many?", schema: boundedSchema}, "", "stop"},
			"tools":    {turn{text: "What is the weather?", tools: true}, "", "tools"},
		} {
			if strings.HasPrefix(client, "responses") && c.turn.stop != "" {
				continue // the protocol has no stop sequences
			}
			if strings.HasPrefix(client, "anthropic") && name == "bounded" {
				continue // what the protocol's own service refuses
			}
			got := begin().send(t.Context(), c.turn)
			if got.status != 0 || got.broken != nil || got.finish != c.finish || c.text != "" && got.text != c.text || got.model != model {
				t.Errorf("%s: got %+v, want %q, %s", name, got, c.text, c.finish)
			}
			if want := thoughtOf(client, model); c.turn.think && got.thought != want {
				t.Errorf("%s: the thought is %q, want %q", name, got.thought, want)
			}
			if c.turn.schema == nil && (got.in != 100 || got.cached != 40 || got.out != 20) {
				t.Errorf("%s: usage %d, %d, %d", name, got.in, got.cached, got.out)
			}
		}
	})
}

// thoughtOf is what a client sees of the thoughts. In chat completions an effort
// does not ask to see them, and Gemini shows them only then.
func thoughtOf(client, model string) string {
	if strings.HasPrefix(client, "openai") && strings.HasPrefix(model, "on-gemini") {
		return ""
	}
	return "Let me think."
}

// Tools go all the way: both are called at once, their results come in, the
// conversation goes on.
func TestToolsOnEachProtocol(t *testing.T) {
	eachTalker(t, func(t *testing.T, _, model string, begin func() talker) {
		t.Helper()
		for _, think := range []bool{false, true} {
			c := begin()
			for round := range 2 {
				question := fmt.Sprintf("Question %d?", round)
				got := c.send(t.Context(), turn{text: question, tools: true, think: think})
				checkCalls(t, &got)
				got = c.send(t.Context(), turn{results: []string{"12:00", `{"sky":"clear"}`}, tools: true, think: think})
				if got.text != question || got.finish != "stop" {
					t.Fatalf("after the results: %+v", got)
				}
			}
			// The tools are gone, the calls stay in the history.
			if got := c.send(t.Context(), turn{text: "And now?"}); got.text != "And now?" {
				t.Errorf("without tools: %+v", got)
			}
		}
		if strings.HasPrefix(model, "on-gemini") {
			return // Gemini cannot be kept to one call
		}
		if got := begin().send(t.Context(), turn{text: "One?", tools: true, serial: true}); len(got.calls) != 1 {
			t.Errorf("one at a time: %+v", got)
		}
	})
}

// checkCalls wants a call of each tool, whose arguments fit.
func checkCalls(t *testing.T, got *said) {
	t.Helper()
	names := slices.Sorted(slices.Values(got.names()))
	if got.finish != "tools" || !slices.Equal(names, []string{"get_time", "get_weather"}) || got.calls[0].id == got.calls[1].id {
		t.Fatalf("got %+v, want both tools called", got)
	}
	for _, c := range got.calls {
		var arguments struct {
			City string
			Days int
		}
		err := json.Unmarshal([]byte(c.arguments), &arguments)
		if err != nil || arguments.City == "" || c.name == "get_weather" && arguments.Days != 2 || c.id == "" {
			t.Errorf("call %+v: %v", c, err)
		}
	}
}
