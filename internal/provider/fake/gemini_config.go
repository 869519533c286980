package fake

import "strings"

var configMembers = names(`stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount
	maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs
	enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution audioTimestamp routingConfig
	responseFormat`)

// The bounds of a generationConfig.
const (
	maxCandidates = 8
	maxStops      = 5
	maxHeat       = 2
)

// config reads a generationConfig.
func (g *geminiCheck) config(p place) {
	p.only(configMembers)
	if heat := p.at("temperature"); heat.set() && (heat.number() < 0 || heat.number() > maxHeat) {
		heat.refuse("temperature must be in the range [0.0, 2.0].")
	}
	if top := p.at("topP"); top.set() && (top.number() < 0 || top.number() > 1) {
		top.refuse("top_p must be in the range [0.0, 1.0].")
	}
	if top := p.at("topK"); top.set() && top.number() <= 0 {
		top.refuse("top_k must be positive.")
	}
	for _, name := range []string{"presencePenalty", "frequencyPenalty"} {
		if penalty := p.at(name); penalty.set() && (penalty.number() < -2 || penalty.number() >= 2) {
			penalty.refuse("must be in the range [-2.0, 2.0).")
		}
	}
	p.at("seed").whole()
	if n := p.at("candidateCount"); n.set() {
		if g.c.choices = n.whole(); g.c.choices < 1 || g.c.choices > maxCandidates {
			n.refuse("candidate_count must be in the range [1, 8].")
		}
	}
	if n := p.at("maxOutputTokens"); n.set() {
		if g.c.maxTokens = n.whole(); g.c.maxTokens < 1 {
			n.refuse("max_output_tokens must be positive.")
		}
	}
	if stops := p.at("stopSequences"); stops.set() {
		if g.c.stops = stops.texts(); len(g.c.stops) > maxStops {
			stops.refuse("the number of stop_sequences must be at most 5.")
		}
	}
	g.form(p)
	g.thinking(p.at("thinkingConfig"))
}

// form reads what form the answer is to have.
func (g *geminiCheck) form(p place) {
	kind := p.at("responseMimeType").choice("", "text/plain", "application/json", "text/x.enum")
	subset, schema := p.at("responseSchema"), p.at("responseJsonSchema")
	switch {
	case subset.set() && schema.set():
		p.refuse("response_schema and response_json_schema cannot both be set.")
	case (subset.set() || schema.set()) && (kind == "" || kind == "text/plain"):
		p.refuse("only allowed mimetypes are `application/json` or `text/x.enum` when a response schema is set.")
	case subset.set():
		g.subset(subset, schemaDepth)
		schema = subset
	case schema.set() && !isSchema(schema.v, schemaDepth):
		schema.refuse("is no JSON schema")
	}
	g.c.structured, g.c.schema = kind == "application/json", schema.raw()
}

// thinking reads how the model is to think, and whether it tells.
func (g *geminiCheck) thinking(p place) {
	if !p.set() {
		return
	}
	p.only(names("includeThoughts thinkingBudget thinkingLevel"))
	budget, level := p.at("thinkingBudget"), p.at("thinkingLevel")
	if budget.set() && level.set() {
		g.fail(wrongGemini("You can only set only one of thinking budget and thinking level."))
	}
	n := budget.whole()
	level.choice("THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "minimal", "low", "medium", "high")
	if level.set() && strings.HasPrefix(g.c.model, "gemini-2") {
		g.fail(wrongGemini("Thinking level is not supported for this model."))
	}
	switch {
	case budget.set() && n == 0:
		g.c.thought = thoughtNone
	case p.at("includeThoughts").flag():
		g.c.thought = thoughtSaid
	}
}
