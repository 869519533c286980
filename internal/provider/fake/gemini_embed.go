package fake

import (
	"strconv"
	"strings"
)

var embedMembers = names("model content taskType title outputDimensionality")

// maxEmbedBatch is how many texts one request may hold.
const maxEmbedBatch = 100

// embed reads one text, or several.
func (g *geminiCheck) embed(root place) {
	if g.c.google.method == "embedContent" {
		root.only(embedMembers)
		g.embedOne(root)
		return
	}
	g.c.google.batch = true
	root.only(names("requests"))
	requests := root.required("requests").listIfSet()
	if n := len(requests); n == 0 || n > maxEmbedBatch {
		g.fail(wrongGemini("BatchEmbedContentsRequest.requests: " + strconv.Itoa(n) + " is not in 1 to 100"))
	}
	for _, one := range requests {
		one.only(embedMembers)
		if model := one.required("model"); model.text() != "models/"+g.c.model {
			model.refuse("model must be the same as that of the batch")
		}
		g.embedOne(one)
	}
}

func (g *geminiCheck) embedOne(p place) {
	content := p.required("content")
	content.only(names("role parts"))
	var texts []string
	for _, part := range content.at("parts").listIfSet() {
		part.only(partMembers)
		texts = append(texts, part.required("text").text())
	}
	text := strings.Join(texts, "\n")
	if text == "" {
		content.refuse("content is empty")
	}
	if n := p.at("outputDimensionality"); n.set() {
		if g.c.dimensions = n.whole(); g.c.dimensions < 1 || g.c.dimensions > maxDimensions {
			n.refuse("must be positive")
		}
	}
	g.c.inputs = append(g.c.inputs, text)
	g.c.promptTokens += tokensOf(len(text))
}

// renderGeminiEmbed writes the numbers of each text.
func renderGeminiEmbed(out *rendering, c *call, a *answer) {
	b := out.buf
	values := func(b []byte, text string) []byte {
		return append(appendVector(append(b, `{"values":`...), text, c.dimensions, false), '}')
	}
	if !c.google.batch {
		b = append(values(append(b, `{"embedding":`...), c.inputs[0]), ',')
	} else {
		b = append(b, `{"embeddings":[`...)
		for i, text := range c.inputs {
			if i > 0 {
				b = append(b, ',')
			}
			b = values(b, text)
		}
		b = append(b, "],"...)
	}
	out.buf = append(appendField(b, `"usageMetadata":{"promptTokenCount":`, a.usage.Prompt), "}}"...)
}
