package translate

import (
	"maps"
	"slices"
)

// encodeResponsesRequest writes a request that asks the upstream to keep
// nothing: the gateway's client would not know how to go on from it.
func encodeResponsesRequest(r *Request, up *Upstream) ([]byte, []Loss, error) {
	w := responsesRequest{writer: writerFor(r), r: r, up: up, custom: map[string]bool{}}
	if len(r.Stop) > 0 {
		return nil, nil, unsupported("stop", "Responses has no stop sequences, and the answer would go on behind them")
	}
	if err := w.checkTools(); err != nil {
		return nil, nil, err
	}
	w.open('{')
	w.textMember("model", up.Model)
	if err := w.conversation(); err != nil {
		return nil, nil, err
	}
	writeResponsesTools(&w.writer, w.tools, fitOpenAIName)
	writeResponsesChoice(&w.writer, &r.ToolChoice, w.tools, fitOpenAIName)
	if r.Serial && len(w.tools) > 0 {
		w.key("parallel_tool_calls")
		w.flag(false)
	}
	w.integerMember("max_output_tokens", r.MaxOutput)
	w.floatMember("temperature", r.Sampling.Temperature)
	w.floatMember("top_p", r.Sampling.TopP)
	w.reasoning()
	writeResponsesText(&w.writer, r)
	w.flagMember("stream", r.Stream)
	w.key("store")
	w.flag(false)
	w.identity()
	w.close('}')
	w.losses()
	return w.b, w.lost, nil
}

// conversation writes instructions and input. Where nobody says anything the
// instructions are what the model answers to.
func (w *responsesRequest) conversation() error {
	system := joinTexts(w.r.System)
	if !onlyInstructions(w.r) {
		w.textMember("instructions", system)
		system = ""
	}
	w.key("input")
	w.open('[')
	if system != "" {
		if err := w.turn(&Turn{Role: RoleSystem, Parts: w.r.System}); err != nil {
			return err
		}
	}
	for i := range w.r.Turns {
		if err := w.turn(&w.r.Turns[i]); err != nil {
			return err
		}
	}
	if w.b[len(w.b)-1] == '[' {
		return unsupported("messages", "Responses needs at least one message that is not empty")
	}
	w.close(']')
	return nil
}

// responsesRequest writes one request.
type responsesRequest struct {
	writer
	r     *Request
	up    *Upstream
	tools []Tool
	lost  losses

	custom map[string]bool // ids of calls of tools that take free text
}

// checkTools takes the tools that the client runs. OpenAI's own service has
// custom tools; elsewhere functions stand in for them.
func (w *responsesRequest) checkTools() (err error) {
	tools, lost, err := clientTools(w.r)
	if err != nil || !w.up.Full {
		w.tools, w.lost = tools, lost
		return err
	}
	for i := range w.r.Tools {
		if t := &w.r.Tools[i]; t.Kind == ToolServer {
			w.lost.add("tools[]("+t.Type+")", whyServerTool)
		} else {
			w.tools = append(w.tools, *t)
		}
	}
	return nil
}

const whyServerTool = "a tool that runs at its maker; the model is not offered it"

// losses lists what the protocol has no room for.
func (w *responsesRequest) losses() {
	r := w.r
	for _, l := range [...]struct {
		is        bool
		path, why string
	}{
		{r.Sampling.TopK != nil, "top_k", "Responses has no top_k"},
		{r.Sampling.Seed != nil, "seed", "Responses has no seed"},
		{r.Sampling.PresencePenalty != nil && *r.Sampling.PresencePenalty != 0, "presence_penalty", "Responses has no penalties"},
		{r.Sampling.FrequencyPenalty != nil && *r.Sampling.FrequencyPenalty != 0, "frequency_penalty", "Responses has no penalties"},
		{r.Cache != CacheNone, "cache_control", "OpenAI caches by itself"},
	} {
		if l.is {
			w.lost.add(l.path, l.why)
		}
	}
}

// identity writes who asks and what only some services take.
func (w *responsesRequest) identity() {
	r := w.r
	if w.up.Full {
		w.textMember("safety_identifier", r.User)
		w.textMember("prompt_cache_key", r.CacheKey)
		w.textMember("service_tier", r.Tier)
		writeMetadata(&w.writer, r.Metadata)
		return
	}
	for _, l := range [...]struct {
		is   bool
		path string
	}{
		{r.User != "", "user"},
		{r.CacheKey != "", "prompt_cache_key"},
		{r.Tier != "", "service_tier"},
		{len(r.Metadata) > 0, "metadata"},
	} {
		if l.is {
			w.lost.add(l.path, "the upstream is not known to take it")
		}
	}
}

func writeMetadata(w *writer, metadata map[string]string) {
	if len(metadata) == 0 {
		return
	}
	w.key("metadata")
	w.open('{')
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		w.text(key)
		w.b = append(w.b, ':')
		w.text(metadata[key])
	}
	w.close('}')
}

// reasoning writes how much the model is to think. What it thinks is asked for
// in the form in which it can be given back, which only reasoning models give.
func (w *responsesRequest) reasoning() {
	t := &w.r.Thinking
	effort, summary := thinkingEffort(t), t.Summary
	if summary == "none" {
		summary = ""
	}
	if effort == EffortDefault && summary == "" {
		return
	}
	if !w.up.Reasons {
		if effort != EffortNone {
			w.lost.add("reasoning", "the model is not known to reason")
		}
		return
	}
	w.key("reasoning")
	w.open('{')
	w.textMember("effort", string(effort))
	w.textMember("summary", summary)
	w.close('}')
	if w.up.Full && effort != EffortNone {
		w.textsMember("include", []string{"reasoning.encrypted_content"})
	}
}

// thinkingEffort returns the effort that the client asks for, or the one that a
// budget of tokens stands for.
func thinkingEffort(t *Thinking) Effort {
	const low, medium = 4096, 16384 // tokens
	switch {
	case t.Effort != EffortDefault || t.Budget == 0:
		return t.Effort
	case t.Budget <= low:
		return EffortLow
	case t.Budget <= medium:
		return EffortMedium
	}
	return EffortHigh
}
