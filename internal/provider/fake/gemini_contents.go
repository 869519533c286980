package fake

import (
	"encoding/base64"
	"slices"
	"strings"
)

// roleModel is Google's name for the assistant.
const roleModel = "model"

// partMembers are those of a part; exactly one of partData is set.
var (
	partMembers = names(`text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall
		toolResponse thought thoughtSignature videoMetadata partMetadata mediaResolution`)
	partData = []string{
		"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
		"toolCall", "toolResponse",
	}
)

// geminiContent is one content, as far as the rules between contents need it.
type geminiContent struct {
	role      string
	texts     []string
	calls     []string // names of functions, in order
	responses []string
	unsigned  bool // its first call has no signature
}

// conversation judges the contents, then what they owe to each other.
func (g *geminiCheck) conversation(p place) {
	if !p.set() || len(p.list()) == 0 {
		g.fail(wrongGemini("GenerateContentRequest.contents: contents is not specified"))
		return
	}
	for _, one := range p.list() {
		g.content(one)
	}
	if g.wrong != nil {
		return
	}
	for i := range g.contents {
		g.turn(i)
	}
	g.signed()
	g.c.last = g.last
}

func (g *geminiCheck) content(p place) {
	p.only(names("role parts"))
	one := geminiContent{role: roleUser}
	if role := p.at("role"); role.set() {
		one.role = role.text()
	}
	if one.role != roleUser && one.role != roleModel && one.role != "function" {
		g.fail(wrongGemini("Please use a valid role: user, model."))
	}
	parts := p.at("parts")
	if !parts.set() || len(parts.list()) == 0 {
		parts.refuse("contents.parts must not be empty.")
		return
	}
	for _, part := range parts.list() {
		g.part(&one, part)
	}
	g.contents = append(g.contents, one)
}

func (g *geminiCheck) part(one *geminiContent, p place) {
	p.only(partMembers)
	var set []string
	for _, name := range partData {
		if p.at(name).set() {
			set = append(set, name)
		}
	}
	switch {
	case g.wrong != nil:
		return
	case len(set) == 0:
		p.refuse("data: required oneof field 'data' must have one initialized field")
		return
	case len(set) > 1:
		g.fail(wrongGemini("Invalid value at '" + p.path + "' (oneof), oneof field 'data' is already set. Cannot set '" + set[1] + "'"))
		return
	}
	p.at("thought").flag()
	if signature := p.at("thoughtSignature"); signature.set() && !takesSignature(signature.text()) {
		g.fail(wrongGemini("Thought signature is not valid."))
	}
	data := p.at(set[0])
	switch set[0] {
	case "text":
		if text := data.text(); !p.at("thought").flag() {
			one.texts = append(one.texts, text)
		}
	case "inlineData":
		data.only(names("mimeType data displayName"))
		data.required("mimeType").text()
		if _, err := base64.StdEncoding.DecodeString(data.required("data").text()); err != nil {
			data.at("data").refuse("Base64 decoding failed")
		}
	case "fileData":
		data.only(names("mimeType fileUri displayName"))
		data.required("fileUri").text()
	case "functionCall":
		data.only(names("id name args partialArgs willContinue"))
		g.named(data)
		data.at("args").objectIfSet()
		if len(one.calls) == 0 {
			one.unsigned = !p.at("thoughtSignature").set()
		}
		one.calls = append(one.calls, data.at("name").text())
	case "functionResponse":
		data.only(names("id name response parts willContinue scheduling"))
		g.named(data)
		data.required("response").objectIfSet()
		one.responses = append(one.responses, data.at("name").text())
	}
}

// named judges the name of a function.
func (g *geminiCheck) named(p place) {
	if name := p.at("name"); name.text() == "" {
		name.refuse("Name cannot be empty.")
	} else if !functionName.MatchString(name.text()) {
		name.refuse("Invalid function name.")
	}
}

// objectIfSet judges a value that must be an object with any members.
func (p place) objectIfSet() {
	if p.set() && !p.isObject() {
		p.mistyped(typeObject)
	}
}

// withoutSignature are the texts that Google takes in the place of the signature
// of a call that another model made.
var withoutSignature = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

func takesSignature(signature string) bool {
	return slices.Contains(withoutSignature, signature) || isSignature(makerGoogle, signature)
}

// turn holds a content with calls to what stands before and behind it, and one
// with responses to the calls before it.
func (g *geminiCheck) turn(i int) {
	one := &g.contents[i]
	if len(one.calls) > 0 {
		switch {
		case one.role != roleModel:
			g.fail(wrongGemini("Function call must be in a model turn."))
		case i == 0 || g.contents[i-1].role == roleModel:
			g.fail(wrongGemini("Please ensure that function call turn comes immediately after a user turn or after a function response turn."))
		case i+1 < len(g.contents) && len(g.contents[i+1].responses) != len(one.calls):
			g.fail(wrongGemini("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."))
		}
	}
	if len(one.responses) == 0 {
		return
	}
	switch {
	case one.role == roleModel:
		g.fail(wrongGemini("Function response must be in a user turn."))
	case i == 0 || len(g.contents[i-1].calls) == 0:
		g.fail(wrongGemini("Please ensure that function response turn comes immediately after a function call turn."))
	case len(one.responses) != len(g.contents[i-1].calls):
		g.fail(wrongGemini("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."))
	case !slices.Equal(slices.Sorted(slices.Values(one.responses)), slices.Sorted(slices.Values(g.contents[i-1].calls))):
		g.fail(wrongGemini("Please ensure that the function responses name the functions of the function call turn: " +
			strings.Join(g.contents[i-1].calls, ", ")))
	}
}

// signed holds the calls since the user last said something to their signatures,
// for models that want them back.
func (g *geminiCheck) signed() {
	if !wantsSignatures(g.c.model) {
		return
	}
	for i := len(g.contents) - 1; i >= 0; i-- {
		one := &g.contents[i]
		if one.role != roleModel && len(one.responses) == 0 {
			return
		}
		if one.unsigned && len(one.calls) > 0 {
			g.fail(wrongGemini("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly: function call `" +
				one.calls[0] + "`."))
		}
	}
}

// signs reports whether the model signs what it says and calls.
func (c *call) signs() bool { return c.reasons || wantsSignatures(c.model) }

// wantsSignatures reports whether a model is of the third generation or a later
// one: they refuse a call of theirs that lost its signature.
func wantsSignatures(model string) bool {
	rest, ok := strings.CutPrefix(model, "gemini-")
	return ok && rest != "" && rest[0] > '2'
}

// last tells how the conversation ends.
func (g *geminiCheck) last() lastMessage {
	end := &g.contents[len(g.contents)-1]
	out := lastMessage{role: end.role}
	if len(end.responses) > 0 {
		out.role = roleTool
	}
	for i := len(g.contents) - 1; i >= 0; i-- {
		if one := &g.contents[i]; one.role == roleUser && len(one.texts) > 0 {
			out.user = strings.Join(one.texts, "\n")
			break
		}
	}
	return out
}
