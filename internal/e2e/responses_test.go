package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// responsesScript plays two upstreams that keep answers. The first fails once, so
// the first answer is the second's.
const responsesScript = `
seed: 1
upstreams:
  first: {models: [up-name], answer: {text: "first says so"}, script: [http-503]}
  second: {models: [up-name], answer: {text: "second says so", reasoning: "it thinks"}}
`

const responsesConfig = `
listen: 127.0.0.1:0
providers:
  first: {protocol: openai, base_url: "http://SIM/first/v1", auth: none, priority: 1, endpoints: &all [responses, responses_input_tokens, responses_compact]}
  second: {protocol: openai, base_url: "http://SIM/second/v1", auth: none, endpoints: *all}
models:
  the-model:
    deployments:
      - {provider: first, upstream_model: up-name}
      - {provider: second, upstream_model: up-name}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 0, cooldown_seconds: 60}
session: {affinity: off}
keys:
  test: {secret: "${E2E_KEY}"}
  other: {secret: "${E2E_OTHER}"}
`

const otherKey = "gw-other-0123456789abcdef"

// responsesGateway starts two simulated upstreams; the gateway in front of them
// is started as often as again is called, with the same data.
func responsesGateway(t *testing.T) (again func() *process, sim simulator) {
	t.Helper()
	t.Setenv("E2E_KEY", sdkKey)
	t.Setenv("E2E_OTHER", otherKey)
	sim = simulateScript(t, responsesScript, "first", "second")
	path, dir := write(t, "gatewright.yaml", strings.ReplaceAll(responsesConfig, "SIM", sim.address)), t.TempDir()
	return func() *process { return gateway(t, path, dir) }, sim
}

func responsesClient(gw *process, key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(gw.url("/v1")), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func inputOf(text string) responses.ResponseNewParamsInputUnion {
	return responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}
}

// wantCode checks what the SDK made of an error.
func wantCode(t *testing.T, err error, status int, code string) {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != status || e.Code != code {
		t.Errorf("error %v, want %d %s", err, status, code)
	}
}

// An answer is continued by the upstream that made it, through an orderly
// restart and through a kill, and is not there for another key.
func TestOpenAIGoResponses(t *testing.T) {
	again, sim := responsesGateway(t)
	gw := again()
	ctx := t.Context()
	client := responsesClient(gw, sdkKey)
	first, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: "the-model", Input: inputOf("hello")})
	if err != nil {
		t.Fatal(err)
	}
	if first.OutputText() != "second says so" || first.Model != "the-model" || first.Usage.TotalTokens == 0 || first.Status != "completed" {
		t.Fatalf("first answer: %s", first.RawJSON())
	}
	last := first
	next := func(name string) {
		t.Helper()
		got := sim.during(func() {
			answer, err := client.Responses.New(ctx, responses.ResponseNewParams{
				Model: "the-model", Input: inputOf("more"), PreviousResponseID: openai.String(last.ID),
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if answer.PreviousResponseID != last.ID || answer.OutputText() != "second says so" {
				t.Errorf("%s: %s", name, answer.RawJSON())
			}
			last = answer
		})
		if got != "second:1" {
			t.Errorf("%s: calls %s", name, got)
		}
	}
	next("at once")
	if got := sim.during(func() {
		_, _ = client.Responses.New(ctx, responses.ResponseNewParams{Model: "the-model", Input: inputOf("new")})
	}); got != "first:1" {
		t.Errorf("a new conversation: calls %s", got)
	}
	if status := gw.stop(); status != 0 {
		t.Errorf("exit status %d:\n%s", status, gw.log())
	}
	gw = again()
	client = responsesClient(gw, sdkKey)
	next("after a restart")
	wait(t, time.Now().Add(time.Second)) // several times what a flush takes
	gw.kill()
	gw = again()
	client = responsesClient(gw, sdkKey)
	next("after a kill")

	stranger := responsesClient(gw, otherKey)
	_, err = stranger.Responses.New(ctx, responses.ResponseNewParams{
		Model: "the-model", Input: inputOf("more"), PreviousResponseID: openai.String(last.ID),
	})
	wantCode(t, err, 404, "previous_response_not_found")
	_, err = stranger.Responses.Get(ctx, last.ID, responses.ResponseGetParams{})
	wantCode(t, err, 404, "response_not_found")
	wantCode(t, stranger.Responses.Delete(ctx, last.ID), 404, "response_not_found")

	fetched, err := client.Responses.Get(ctx, last.ID, responses.ResponseGetParams{})
	if err != nil || fetched.OutputText() != last.OutputText() || fetched.Model != "the-model" {
		t.Errorf("fetched: %v, %v", fetched, err)
	}
	items, err := client.Responses.InputItems.List(ctx, last.ID, responses.InputItemListParams{})
	if err != nil || len(items.Data) != 1 {
		t.Errorf("items: %+v, %v", items, err)
	}
	if err := client.Responses.Delete(ctx, last.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
	_, err = client.Responses.Get(ctx, last.ID, responses.ResponseGetParams{})
	wantCode(t, err, 404, "response_not_found")
}

func TestOpenAIGoResponsesStream(t *testing.T) {
	again, sim := responsesGateway(t)
	client := responsesClient(again(), sdkKey)
	ctx := t.Context()
	ask := responses.ResponseNewParams{Model: "the-model", Input: inputOf("hello")}
	// read takes a stream to its end.
	read := func(params responses.ResponseNewParams) (id, text, last string, err error) {
		stream := client.Responses.NewStreaming(ctx, params)
		for stream.Next() {
			ev := stream.Current()
			last = ev.Type
			if ev.Type == "response.output_text.delta" {
				text += ev.Delta
			}
			if r := ev.Response; r.ID != "" {
				if id = r.ID; r.Model != "the-model" {
					t.Errorf("%s names the model %q", ev.Type, r.Model)
				}
			}
		}
		return id, text, last, stream.Err()
	}
	id, text, last, err := read(ask)
	if err != nil || text != "second says so" || last != "response.completed" {
		t.Fatalf("streamed %q, %s: %v", text, last, err)
	}
	ask.PreviousResponseID = openai.String(id)
	if got := sim.during(func() { _, text, _, err = read(ask) }); got != "second:1" || err != nil || text != "second says so" {
		t.Errorf("continued: calls %s, %q: %v", got, text, err)
	}
	// The library puts stream into a body, where no service looks for it.
	resumed := client.Responses.GetStreaming(ctx, id, responses.ResponseGetParams{StartingAfter: openai.Int(3)}, option.WithQuery("stream", "true"))
	numbers := 0
	for resumed.Next() {
		if numbers++; resumed.Current().SequenceNumber <= 3 {
			t.Errorf("resumed at %d", resumed.Current().SequenceNumber)
		}
	}
	if err := resumed.Err(); err != nil || numbers == 0 {
		t.Errorf("resumed: %d events, %v", numbers, err)
	}
	// A stream that breaks is an error for the SDK, never an end.
	for _, fault := range []string{"content-then-error", "eof-after-content", "reset-mid-body"} {
		sim.behave("first", "always: {fault: "+fault+", after: 2}")
		_, text, last, err := read(responses.ResponseNewParams{Model: "the-model", Input: inputOf("hello")})
		if err == nil || text == "" || last == "response.completed" {
			t.Errorf("%s: %q, %s: %v", fault, text, last, err)
		}
	}
	// Before content it is failed over.
	for _, fault := range []string{"error-first", "role-then-error", "eof-after-role"} {
		sim.behave("first", "always: "+fault)
		if _, text, _, err := read(responses.ResponseNewParams{Model: "the-model", Input: inputOf("hello")}); err != nil || text != "second says so" {
			t.Errorf("%s: %q: %v", fault, text, err)
		}
	}
}

func TestOpenAIGoResponsesRest(t *testing.T) {
	again, sim := responsesGateway(t)
	client := responsesClient(again(), sdkKey)
	ctx := t.Context()
	count, err := client.Responses.InputTokens.Count(ctx, responses.InputTokenCountParams{
		Model: openai.String("the-model"), Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String("hello there")},
	})
	if err != nil || count.InputTokens == 0 {
		t.Errorf("count %+v: %v", count, err)
	}
	// Reasoning that only its maker can read goes back to it, although the other
	// upstream comes first.
	sealed := []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	sim.behave("first", "always: http-503")
	thought, err := client.Responses.New(ctx, responses.ResponseNewParams{
		Model: "the-model", Input: inputOf("think"), Store: openai.Bool(false), Include: sealed,
	})
	if err != nil || thought.Output[0].EncryptedContent == "" {
		t.Fatalf("reasoning: %v, %v", thought, err)
	}
	sim.behave("first", "{models: [up-name], answer: {text: first}}")
	history := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("think", "user")}
	for _, item := range thought.Output {
		if item.Type == "reasoning" {
			history = append(history, responses.ResponseInputItemUnionParam{OfReasoning: &responses.ResponseReasoningItemParam{
				ID: item.ID, EncryptedContent: openai.String(item.EncryptedContent), Summary: []responses.ResponseReasoningItemSummaryParam{},
			}})
		}
	}
	got := sim.during(func() {
		_, err = client.Responses.New(ctx, responses.ResponseNewParams{
			Model: "the-model", Store: openai.Bool(false), Input: responses.ResponseNewParamsInputUnion{OfInputItemList: history},
		})
	})
	if err != nil || got != "second:1" {
		t.Errorf("sealed reasoning: calls %s, %v", got, err)
	}
	// In the background.
	sim.behave("first", "{models: [up-name], latency: {per_token: 5s}}")
	ordered, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: "the-model", Input: inputOf("later"), Background: openai.Bool(true)})
	if err != nil || ordered.Status != "queued" {
		t.Fatalf("ordered: %v, %v", ordered, err)
	}
	if polled, err := client.Responses.Get(ctx, ordered.ID, responses.ResponseGetParams{}); err != nil || polled.Status != "in_progress" {
		t.Errorf("polled: %v, %v", polled, err)
	}
	if cancelled, err := client.Responses.Cancel(ctx, ordered.ID); err != nil || cancelled.Status != "cancelled" {
		t.Errorf("cancelled: %v, %v", cancelled, err)
	}
	// Nobody knows what became of an order that was cut off, so it is not given
	// again.
	sim.behave("first", "always: reset")
	if got := sim.during(func() {
		_, err = client.Responses.New(ctx, responses.ResponseNewParams{Model: "the-model", Input: inputOf("later"), Background: openai.Bool(true)})
	}); got != "first:1" {
		t.Errorf("an order that was cut off: calls %s", got)
	}
	wantCode(t, err, 502, "upstream_connect")
}
