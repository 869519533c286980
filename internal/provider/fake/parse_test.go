package fake

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseWholeSchema(t *testing.T) {
	const script = `
seed: 18446744073709551615
upstreams:
  cheap:
    models: [m, "org/name"]
    api_key: sk-sim
    latency: {headers: 1ms, first_token: 300ms, per_token: 5ms, jitter: 20%}
    answer:
      text: hi
      tokens: 40
      echo: true
      reasoning: hm
      tool_calls: none
      dimensions: 3
      usage: {prompt: 1, completion: 2, cached: 3, reasoning: 4}
    script:
      - http-500
      - {times: 3, fault: http-429, retry_after: "30"}
      - {fault: content-then-error, after: 0, code: 429, type: t, message: m}
      - {fault: http-302, location: /x, headers: {x-a: b, X-B: [c, d]}, body: ""}
      - {fault: huge-event, size: 1.5MiB}
      - {fault: long-stream, count: 7, delay: 1s}
      - {fault: html, status: 502}
      - ok
    repeat: true
    always: {fault: http-429, retry_after: ["5", "10"]}
    fail: {rate: 0.25, with: [http-500, {fault: stall, after: 2}]}
    faults_on: [chat, models]
    quota: {requests: 100, tokens: 1_000, per: 1m, concurrent: 4, retry_after: true, headers: true}
  bare:
  empty: {}
`
	body := ""
	want := &Script{Seed: 18446744073709551615, Upstreams: map[string]Behaviour{
		"bare": {}, "empty": {},
		"cheap": {
			Models: []string{"m", "org/name"}, APIKey: "sk-sim",
			Latency: Latency{Headers: time.Millisecond, FirstToken: 300 * time.Millisecond, PerToken: 5 * time.Millisecond, Jitter: 200_000},
			Answer: Answer{
				Text: "hi", Tokens: 40, Echo: true, Reasoning: "hm", ToolCalls: ToolsNone, Dimensions: 3,
				Usage: Usage{Prompt: 1, Completion: 2, Cached: 3, Reasoning: 4},
			},
			Script: []Step{
				{Times: 1, Fault: Fault{Name: "http-500"}},
				{Times: 3, Fault: Fault{Name: "http-429", RetryAfter: []string{"30"}}},
				{Times: 1, Fault: Fault{Name: "content-then-error", After: new(0), Code: "429", Type: "t", Message: "m"}},
				{Times: 1, Fault: Fault{Name: "http-302", Location: "/x", Headers: http.Header{"X-A": {"b"}, "X-B": {"c", "d"}}, Body: &body}},
				{Times: 1, Fault: Fault{Name: "huge-event", Size: 3 << 19}},
				{Times: 1, Fault: Fault{Name: "long-stream", Count: 7, Delay: time.Second}},
				{Times: 1, Fault: Fault{Name: "html", Status: 502}},
				{Times: 1, Fault: Fault{Name: "ok"}},
			},
			Repeat:   true,
			Always:   Fault{Name: "http-429", RetryAfter: []string{"5", "10"}},
			Fail:     Fail{Rate: 250_000, With: []Fault{{Name: "http-500"}, {Name: "stall", After: new(2)}}},
			FaultsOn: []Endpoint{EndpointChat, EndpointModels},
			Quota:    Quota{Requests: 100, Tokens: 1000, Per: time.Minute, Concurrent: 4, RetryAfter: true, Headers: true},
		},
	}}
	if diff := cmp.Diff(want, mustParse(t, script)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseAnchorsAndMerges(t *testing.T) {
	const script = `
upstreams:
  a: &a
    models: [m]
    latency: &slow {first_token: 1s, per_token: 1ms}
  b:
    <<: *a
    models: [n]
  c: {latency: *slow}
`
	slow := Latency{FirstToken: time.Second, PerToken: time.Millisecond}
	want := map[string]Behaviour{
		"a": {Models: []string{"m"}, Latency: slow}, "b": {Models: []string{"n"}, Latency: slow}, "c": {Latency: slow},
	}
	if diff := cmp.Diff(want, mustParse(t, script).Upstreams); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []string
	}{
		{"empty", "", []string{"s:1:1: upstreams: none given; name at least one"}},
		{"no YAML", "a: [", []string{"s: yaml: line 1: did not find expected node content"}},
		{"two documents", "upstreams: {a: {}}\n---\nx: 1\n", []string{"s:2:1: a second YAML document; write one document a file"}},
		{"not a mapping", "- a\n", []string{
			"s:1:1: found a list; write a mapping with seed, upstreams",
			"s:1:1: upstreams: none given; name at least one",
		}},
		{"unknown key", "upstreams:\n  a:\n    modles: [m]\n", []string{
			"s:3:5: upstreams.a.modles: unknown key; did you mean models? (known: always, answer, api_key, fail, faults_on, latency, models, quota, repeat, script)",
		}},
		{"doubled key", "upstreams:\n  a: {repeat: false, repeat: false}\n", []string{"s:2:22: upstreams.a.repeat: given twice; keep one"}},
		{"doubled upstream", "upstreams:\n  a: {}\n  a: {}\n", []string{"s:3:3: upstreams.a: given twice; keep one"}},
		{"bad name", "upstreams:\n  a/b: {}\n", []string{
			"s:2:3: upstreams.a/b: the name \"a/b\" cannot stand in a path; use letters, digits, '.', '-' and '_', beginning with a letter or a digit",
		}},
		{"bad seed", "seed: -1\nupstreams: {a: {}}\n", []string{`s:1:7: seed: found "-1"; write a whole number from 0 to 18446744073709551615`}},
		{"unknown fault", "upstreams:\n  a:\n    always: http-5000\n    script:\n      - {fault: eof-after-roll}\n", []string{
			`s:3:13: upstreams.a.always: no fault "http-5000"; did you mean http-500?`,
			`s:5:17: upstreams.a.script[0].fault: no fault "eof-after-roll"; did you mean eof-after-role?`,
		}},
		{"parameters", "upstreams:\n  a:\n    script:\n      - {fault: http-503, size: 5, location: x}\n      - {fault: silent, delay: 1s}\n      - {fault: http-204, body: x}\n      - {delay: 1s}\n", []string{
			"s:4:33: upstreams.a.script[0].size: http-503 does not take size; it takes code, type, message, retry_after, headers, body",
			"s:4:46: upstreams.a.script[0].location: http-503 does not take location; it takes code, type, message, retry_after, headers, body",
			"s:5:32: upstreams.a.script[1].delay: silent does not take delay; it takes no parameters",
			"s:6:33: upstreams.a.script[2].body: http-204 does not take body; it takes retry_after, headers",
			"s:7:9: upstreams.a.script[3].fault: missing; name a fault, or ok",
			"s:7:17: upstreams.a.script[3].delay: there is nothing to set: no fault is named",
		}},
		{"kinds", "upstreams:\n  a:\n    latency: {first_token: 300, jitter: 120%}\n    answer: {tokens: many, echo: yes please, usage: 3}\n    repeat:\n    fail: {rate: lots, with: http-500}\n", []string{
			`s:3:28: upstreams.a.latency.first_token: found "300"; write a duration with its unit, for example 20ms or 1m30s`,
			`s:3:41: upstreams.a.latency.jitter: found "120%"; write a share from 0 to 1, or from 0% to 100%`,
			`s:4:22: upstreams.a.answer.tokens: found "many"; write a whole number in decimal`,
			`s:4:34: upstreams.a.answer.echo: found "yes please"; write true or false`,
			`s:4:53: upstreams.a.answer.usage: found "3"; write a mapping with cache_write, cached, completion, prompt, reasoning`,
			`s:5:12: upstreams.a.repeat: found nothing; write true or false`,
			`s:6:18: upstreams.a.fail.rate: found "lots"; write a share from 0 to 1, or from 0% to 100%`,
			`s:6:30: upstreams.a.fail.with: found "http-500"; write a list, for example [http-500, {fault: http-429, retry_after: "5"}]`,
		}},
		{"bounds", "upstreams:\n  a:\n    models: [\"\"]\n    latency: {per_token: -1s}\n    answer: {tokens: -1, tool_calls: often, dimensions: 70000}\n    repeat: true\n    script: []\n    fail: {rate: 1}\n    faults_on: [images]\n", []string{
			"s:3:14: upstreams.a.models[0]: a model's name is empty; leave models out to serve any",
			"s:4:26: upstreams.a.latency.per_token: -1s is out of bounds; write a duration from 0s to 24h0m0s",
			"s:5:22: upstreams.a.answer.tokens: -1 is out of bounds; write a number from 0 to 1000000",
			`s:5:38: upstreams.a.answer.tool_calls: no such mode "often"; write auto, all or none`,
			"s:5:57: upstreams.a.answer.dimensions: 70000 is out of bounds; write a number from 0 to 65536",
			"s:6:13: upstreams.a.repeat: there is no script to repeat; add one or leave repeat out",
			"s:8:11: upstreams.a.fail.with: no faults to draw from; write for example [http-500, http-429]",
			`s:9:17: upstreams.a.faults_on[0]: no endpoint "images"; write one of chat, completions, embeddings, images_generations, images_edits, images_variations, audio_transcriptions, audio_translations, audio_speech, moderations, rerank, responses, responses_compact, responses_input_tokens, responses_stored, messages, messages_count_tokens, generate_content, gemini_count_tokens, gemini_embed_content, models`,
		}},
		{"fault bounds", "upstreams:\n  a:\n    script:\n      - {times: 0, fault: ok}\n      - {fault: stall, after: -1}\n      - {fault: html, status: 700}\n      - {fault: huge-event, size: 17GiB}\n      - {fault: http-500, headers: {\"a b\": c}}\n", []string{
			"s:4:17: upstreams.a.script[0].times: 0 times is never; write 1 or more, or leave the step out",
			"s:5:31: upstreams.a.script[1].after: -1 is out of bounds; write a number from 0",
			"s:6:31: upstreams.a.script[2].status: 700 is no status with a body; write 200 to 599, but not 204, 205 or 304",
			`s:7:35: upstreams.a.script[3].size: found "17GiB"; write a length in bytes up to 16GiB, for example 64KiB or 1MiB`,
			`s:8:44: upstreams.a.script[4].headers.a b: "a b" cannot be the name of a header`,
		}},
		{"quota", "upstreams:\n  a: {quota: {requests: 5}}\n  b: {quota: {per: 1m, headers: true, retry_after: true}}\n", []string{
			"s:2:14: upstreams.a.quota.per: missing; write the length of the window, for example 1m",
			"s:3:20: upstreams.b.quota.per: a window without a limit; add requests or tokens",
			"s:3:33: upstreams.b.quota.headers: no limits to report; add requests or tokens",
			"s:3:52: upstreams.b.quota.retry_after: no window to wait for; add requests or tokens",
		}},
		{"merge inside itself", "upstreams:\n  a: &a\n    <<: *a\n", []string{
			"s:3:9: upstreams.a: << merges a mapping; name one mapping, not inside itself",
		}},
		{"merge of a list", "x: &x [1]\nupstreams:\n  a:\n    <<: *x\n", []string{
			"s:1:1: x: unknown key (known: seed, upstreams)",
			"s:4:9: upstreams.a: << merges a list; name one mapping, not inside itself",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("s", []byte(c.script))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(c.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseBehaviour(t *testing.T) {
	b, err := ParseBehaviour("b", []byte(`{"models": ["m"], "always": "http-503"}`))
	if diff := cmp.Diff(Behaviour{Models: []string{"m"}, Always: Fault{Name: "http-503"}}, b); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = ParseBehaviour("b", []byte("fail: {rate: 2}"))
	if err == nil || err.Error() != `b:1:14: fail.rate: found "2"; write a share from 0 to 1, or from 0% to 100%` {
		t.Errorf("got %v", err)
	}
}

func TestValidateByHand(t *testing.T) {
	s := &Script{Upstreams: map[string]Behaviour{
		"a":  {Always: Fault{Name: "http-500", Size: 1}, Fail: Fail{Rate: 2 * Million}},
		"-b": {},
	}}
	const want = `upstreams.-b: the name "-b" cannot stand in a path; use letters, digits, '.', '-' and '_', beginning with a letter or a digit
upstreams.a.always.size: http-500 does not take size; it takes code, type, message, retry_after, headers, body
upstreams.a.fail.rate: out of bounds; write a share from 0 to 1, or from 0% to 100%
upstreams.a.fail.with: no faults to draw from; write for example [http-500, http-429]`
	if err := s.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("New took a script that is not valid")
		}
	}()
	New(s, Options{})
}

func TestDemoScript(t *testing.T) {
	s := mustParse(t, string(Demo()))
	u := New(s, Options{})
	if diff := cmp.Diff([]string{"cheap", "flaky", "quick"}, u.Names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range u.Names() {
		b := s.Upstreams[name]
		if !strings.Contains(b.Answer.Text, name) || len(b.Models) != 1 || b.Models[0] != "demo" {
			t.Errorf("%s does not say who it is: %+v", name, b)
		}
	}
	if s.Upstreams["flaky"].Fail.Rate != 200_000 {
		t.Errorf("flaky fails at %d ppm", s.Upstreams["flaky"].Fail.Rate)
	}
	Demo()[0] = 'x'
	if Demo()[0] == 'x' {
		t.Error("Demo shares its bytes")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		string(Demo()), "upstreams: {a: }", "upstreams: {a: &a {<<: *a}}", "seed: 1\nupstreams:\n  a: {script: [http-500, {times: 2, fault: stall, after: 1}]}",
		"upstreams: {a: {quota: {requests: 1, per: 1m}, fail: {rate: 5%, with: [ok]}}}", "{\"upstreams\": {\"a\": {\"always\": {\"fault\": \"http-302\", \"headers\": {\"A\": [\"b\"]}}}}}",
		"- &a [*a]", "? [a]\n: b", "a: !!binary x", "---\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f", data)
		if (s == nil) == (err == nil) {
			t.Fatalf("script %v and error %v", s, err)
		}
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("parsed, but not valid: %v", err)
		}
		for _, b := range s.Upstreams {
			if b.Answer.Tokens < 1000 {
				prepare("a", &b)
			}
		}
	})
}
