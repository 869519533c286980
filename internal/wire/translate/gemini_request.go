package translate

import (
	"slices"
	"strings"
)

// geminiCodec returns the codec of Google's generateContent.
func geminiCodec() Codec {
	return Codec{
		Protocol:      Gemini,
		DecodeRequest: decodeGeminiRequest,
		EncodeRequest: encodeGeminiRequest,
		DecodeAnswer:  decodeGeminiAnswer,
		EncodeAnswer:  encodeGeminiAnswer,
		NewDecoder:    newGeminiDecoder,
		NewEncoder:    newGeminiEncoder,
	}
}

// maxGeminiStop is how many stop sequences a request may hold.
const maxGeminiStop = 5

// encodeGeminiRequest writes the body of a generateContent request. The model
// and whether the answer is streamed stand in its path.
func encodeGeminiRequest(r *Request, up *Upstream) ([]byte, []Loss, error) {
	if up.NoSystemRole {
		r = withoutInstructions(r)
	}
	g := geminiRequest{writer: writerFor(r), r: r, model: parseGeminiModel(up.Model)}
	g.model.reasons = up.Reasons
	tools, lost, err := clientTools(r)
	if err != nil {
		return nil, nil, err
	}
	g.lost = lost
	g.open('{')
	if err := g.conversation(); err != nil {
		return nil, nil, err
	}
	g.tools(tools)
	if err := g.config(); err != nil {
		return nil, nil, err
	}
	g.close('}')
	g.losses()
	return g.b, g.lost, nil
}

// geminiRequest writes one request.
type geminiRequest struct {
	writer
	r     *Request
	model geminiModel
	lost  losses
}

// losses lists what the protocol has no room for.
func (g *geminiRequest) losses() {
	r := g.r
	for _, l := range [...]struct {
		is        bool
		path, why string
	}{
		{r.User != "", "user", "Gemini has no field for the end user"},
		{r.CacheKey != "", "prompt_cache_key", "Gemini caches by the prompt alone"},
		{r.Cache != CacheNone, "cache_control", "Gemini caches by the prompt alone"},
		{r.Tier != "" && r.Tier != "auto" && r.Tier != "default", "service_tier", "Gemini has no such tiers"},
		{len(r.Metadata) > 0, "metadata", "Gemini keeps no metadata"},
		{r.Verbosity != "", "verbosity", "Gemini has no such setting"},
		{r.Serial && len(r.Tools) > 0, "parallel_tool_calls", "Gemini cannot be kept to one call"},
		{r.Format.Description != "", "response_format.json_schema.description", "Gemini's format has no description"},
	} {
		if l.is {
			g.lost.add(l.path, l.why)
		}
	}
}

func (g *geminiRequest) tools(tools []Tool) {
	r := g.r
	if names := r.ToolChoice.Allowed; len(names) > 0 && r.ToolChoice.Mode != ChoiceRequired {
		tools = allowedTools(tools, names) // the protocol narrows only a choice that must be made
	}
	if len(tools) == 0 {
		return
	}
	g.key("tools")
	g.open('[')
	g.open('{')
	g.key("functionDeclarations")
	g.open('[')
	for i := range tools {
		g.tool(&tools[i])
	}
	g.close(']', '}', ']')
	g.toolChoice()
}

// allowedTools returns the tools with the given names.
func allowedTools(tools []Tool, names []string) []Tool {
	var some []Tool
	for i := range tools {
		if slices.Contains(names, tools[i].Name) {
			some = append(some, tools[i])
		}
	}
	return some
}

func (g *geminiRequest) tool(t *Tool) {
	g.open('{')
	g.key("name")
	g.text(fitGeminiName(t.Name))
	g.textMember("description", t.Description)
	if len(t.Schema) > 0 {
		g.key("parametersJsonSchema")
		s := geminiSchema{writer: &g.writer, path: "tools[].parameters", lost: &g.lost}
		s.schema(t.Schema, 0)
	}
	if t.Strict != nil && *t.Strict {
		g.lost.add("tools[].strict", "Gemini does not hold arguments to their schema")
	}
	if t.Cache != CacheNone {
		g.lost.add("tools[].cache_control", "Gemini caches by the prompt alone")
	}
	g.close('}')
}

func (g *geminiRequest) toolChoice() {
	choice := &g.r.ToolChoice
	mode, names := "", choice.Allowed
	switch choice.Mode {
	case ChoiceDefault, ChoiceAuto:
		return
	case ChoiceNone:
		mode, names = "NONE", nil
	case ChoiceRequired:
		mode = "ANY"
	case ChoiceTool:
		mode, names = "ANY", []string{choice.Name}
	}
	g.key("toolConfig")
	g.open('{')
	g.key("functionCallingConfig")
	g.open('{')
	g.textMember("mode", mode)
	fit := make([]string, len(names))
	for i, name := range names {
		fit[i] = fitGeminiName(name)
	}
	g.textsMember("allowedFunctionNames", fit)
	g.close('}', '}')
}

// config writes the generationConfig.
func (g *geminiRequest) config() error {
	r := g.r
	if len(r.Stop) > maxGeminiStop {
		return unsupported("stop", "Gemini takes at most %d stop sequences, not %d", maxGeminiStop, len(r.Stop))
	}
	start := len(g.b)
	g.key("generationConfig")
	g.open('{')
	empty := len(g.b)
	s := &r.Sampling
	g.floatMember("temperature", s.Temperature)
	g.floatMember("topP", s.TopP)
	g.integerMember("topK", wholeTopK(s.TopK, &g.lost))
	g.integerMember("maxOutputTokens", r.MaxOutput)
	g.textsMember("stopSequences", r.Stop)
	if s.Seed != nil {
		g.key("seed")
		g.integer(*s.Seed & maxGeminiSeed)
	}
	g.penalty("presencePenalty", s.PresencePenalty)
	g.penalty("frequencyPenalty", s.FrequencyPenalty)
	g.format()
	g.model.writeThinking(&g.writer, &r.Thinking, &g.lost)
	if len(g.b) == empty {
		g.b = g.b[:start]
		return nil
	}
	g.close('}')
	return nil
}

// maxGeminiSeed is the largest seed. Of a larger one the lower bits count, so
// that the same seed still gives the same answer.
const maxGeminiSeed = 1<<31 - 1

// penalty writes a penalty unless it is 0: that is what none means, and models
// without penalties refuse the field.
func (g *geminiRequest) penalty(name string, value *float64) {
	if value != nil && *value != 0 {
		g.floatMember(name, value)
	}
}

func (g *geminiRequest) format() {
	f := &g.r.Format
	if f.Kind == FormatText {
		return
	}
	g.textMember("responseMimeType", "application/json")
	if f.Kind == FormatSchema && len(f.Schema) > 0 {
		g.key("responseJsonSchema")
		s := geminiSchema{writer: &g.writer, path: "response_format.json_schema.schema", lost: &g.lost}
		s.schema(f.Schema, 0)
	}
}

// fitGeminiName returns the name under which a function is offered: letters,
// digits and some marks, a letter or '_' first, at most 64 bytes.
func fitGeminiName(name string) string {
	const limit = 64
	if name != "" && (name[0]|0x20 < 'a' || name[0]|0x20 > 'z') {
		name = "_" + strings.TrimPrefix(name, "_")
	}
	return fitName(name, limit, func(b byte) bool { return isWordByte(b) || b == '.' || b == ':' })
}
