package fake

import (
	"regexp"
	"slices"
	"strings"
)

// geminiCheck judges one request as Google's service does, and reads of it what
// the simulation needs.
type geminiCheck struct {
	inspection
	c        *call
	contents []geminiContent
	declared []string // functions
}

var (
	generateMembers = names(`model contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent
		labels store serviceTier modelArmorConfig`)
	vertexCountMembers = names(`model contents systemInstruction tools generationConfig instances`)
	countGemini        = names("contents generateContentRequest")
)

// decode reads the body of a request as strictly as Google's service.
func (gemini) decode(c *call, body []byte) *apiError {
	c.choices, c.bounded, c.thought = 1, true, thoughtHidden
	if c.endpoint == EndpointModels {
		c.model = strings.TrimPrefix(c.model, "models/")
		return nil
	}
	g := geminiCheck{c: c, inspection: inspection{manner: &geminiManner}}
	root, err := g.parse(body)
	if err != nil {
		return wrongGemini("Invalid JSON payload received. " + err.Error())
	}
	read := g.request
	if c.endpoint == EndpointGeminiCount {
		read = g.count
	}
	if c.endpoint == EndpointGeminiEmbed {
		read = g.embed
	}
	read(root)
	if g.wrong != nil {
		return g.wrong
	}
	if c.endpoint != EndpointGeminiEmbed {
		c.promptTokens = promptSize(body, "contents", "systemInstruction", "system_instruction", "tools", "generateContentRequest")
	}
	return nil
}

// count reads what is to be counted: contents, or a whole request.
func (g *geminiCheck) count(root place) {
	if g.c.google.vertex {
		root.only(vertexCountMembers)
		g.conversation(root.at("contents"))
		return
	}
	root.only(countGemini)
	whole := root.at("generateContentRequest")
	switch contents := root.at("contents"); {
	case whole.set() && contents.set():
		g.fail(wrongGemini("CountTokensRequest: contents and generateContentRequest cannot both be set"))
	case whole.set():
		if model := whole.required("model"); !strings.HasPrefix(model.text(), "models/") {
			model.refuse("unexpected model name format")
		}
		g.request(whole)
	default:
		g.conversation(contents)
	}
}

// request reads a request for an answer.
func (g *geminiCheck) request(root place) {
	root.only(generateMembers)
	if system := root.at("systemInstruction"); system.set() {
		g.instruction(system)
	}
	g.tools(root.at("tools"))
	g.toolConfig(root.at("toolConfig"))
	if config := root.at("generationConfig"); config.set() {
		g.config(config)
	}
	for _, one := range root.at("safetySettings").listIfSet() {
		one.only(names("category threshold method"))
		one.required("category").text()
		one.required("threshold").choice("BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF",
			"HARM_BLOCK_THRESHOLD_UNSPECIFIED")
	}
	g.conversation(root.at("contents"))
}

func (g *geminiCheck) instruction(p place) {
	p.only(names("role parts"))
	parts := p.at("parts").listIfSet()
	if len(parts) == 0 {
		p.at("parts").refuse("contents.parts must not be empty.")
	}
	for _, part := range parts {
		part.only(partMembers)
		part.required("text").text()
	}
}

var functionName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)

// tools reads the functions; of the tools that the service runs nothing is judged.
func (g *geminiCheck) tools(p place) {
	for _, one := range p.listIfSet() {
		one.only(names(`functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext computerUse fileSearch
			googleMaps enterpriseWebSearch retrieval mcpServers`))
		for _, f := range one.at("functionDeclarations").listIfSet() {
			g.function(f)
		}
	}
}

func (g *geminiCheck) function(p place) {
	p.only(names("name description parameters parametersJsonSchema response responseJsonSchema behavior"))
	name := p.required("name")
	text := name.text()
	switch {
	case !functionName.MatchString(text):
		name.refuse("Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.")
	case slices.Contains(g.declared, text):
		g.fail(wrongGemini("Duplicate function declaration found: " + text))
	}
	p.at("description").text()
	subset, schema := p.at("parameters"), p.at("parametersJsonSchema")
	switch {
	case subset.set() && schema.set():
		p.refuse("parameters and parameters_json_schema cannot both be set")
	case subset.set():
		g.subset(subset, schemaDepth)
		schema = subset
	case schema.set() && !isSchema(schema.v, schemaDepth):
		schema.refuse("is no JSON schema")
	}
	g.declared = append(g.declared, text)
	g.c.tools = append(g.c.tools, tool{name: text, parameters: schema.raw()})
}

var subsetMembers = names(`type format title description nullable enum maxItems minItems properties required minProperties
	maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum`)

// subset judges a schema in Google's own form, which knows less than JSON Schema.
func (g *geminiCheck) subset(p place, depth int) {
	p.only(subsetMembers)
	if depth == 0 || g.wrong != nil {
		return
	}
	if kind := p.at("type"); kind.set() && !schemaTypes[strings.ToLower(kind.text())] {
		g.fail(g.manner.unlisted(kind.path, nil, kind.text()))
	}
	if of := p.at("properties"); of.isObject() {
		for key := range of.v.(map[string]any) {
			g.subset(of.at(key), depth-1)
		}
	}
	if items := p.at("items"); items.set() {
		g.subset(items, depth-1)
	}
	for _, one := range p.at("anyOf").listIfSet() {
		g.subset(one, depth-1)
	}
}

// toolConfig reads which of the functions may be called.
func (g *geminiCheck) toolConfig(p place) {
	if !p.set() {
		return
	}
	p.only(names("functionCallingConfig retrievalConfig includeServerSideToolInvocations"))
	config := p.at("functionCallingConfig")
	if !config.set() {
		return
	}
	config.only(names("mode allowedFunctionNames streamFunctionCallArguments"))
	if len(g.declared) == 0 {
		g.fail(wrongGemini("Function calling config is set without function_declarations."))
	}
	mode := config.at("mode").choice("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")
	allowed := config.at("allowedFunctionNames")
	if allowed.set() {
		some := allowed.texts()
		if mode != "ANY" && mode != "VALIDATED" && len(some) > 0 {
			g.fail(wrongGemini("Function calling config: allowed_function_names should be set only when mode is ANY."))
		}
		for _, name := range some {
			if !slices.Contains(g.declared, name) {
				g.fail(wrongGemini("Function calling config: allowed_function_names holds " + name + ", which is not declared."))
			}
		}
		if len(some) > 0 {
			g.c.tools = named(g.c.tools, some...)
		}
	}
	g.c.forced = mode == "ANY"
	if mode == "NONE" {
		g.c.tools = nil
	}
}

// listIfSet is the elements of a list that may be absent.
func (p place) listIfSet() []place {
	if !p.set() {
		return nil
	}
	return p.list()
}
