package fake

import (
	"strings"
	"unicode/utf8"
)

// usageForm says where a stream reports its usage.
type usageForm int

const (
	usageLast     usageForm = iota // in an event of its own, when asked for
	usageRepeated                  // growing, in every content event
	usageOnFinish                  // in the event that carries the finish reason
)

// The reasons for an answer to end.
const (
	finishStop      = "stop"
	finishLength    = "length"
	finishToolCalls = "tool_calls"
	finishFilter    = "content_filter"
)

// answer is what an upstream is going to say, in no wire format yet. Text is
// held in pieces, each already escaped for JSON, without quotes.
type answer struct {
	id        []byte // 32 hexadecimal digits
	created   int64
	model     string
	reasoning []string
	pieces    []string
	refusal   string
	toolID    []byte // 16 hexadecimal digits
	toolName  string // set when the answer is a tool call
	arguments string
	finish    string
	usage     Usage
	// status, of Responses, says how far the answer is; empty for done. issuer is
	// the upstream, which marks what it encrypts.
	status, issuer string
	// models is the list that a models endpoint shows.
	models []string

	// Departures from OpenAI's own stream, seen at other makers.
	usageForm usageForm
	roleEach  bool
	prelude   bool
}

// answerPlan is the answer of a behaviour, prepared once.
type answerPlan struct {
	Answer
	issuer    string
	pieces    []string
	reasoning []string
}

func planAnswer(a Answer, upstream string) answerPlan {
	if a.Text == "" {
		a.Text = "Hello from " + upstream + ", a simulated upstream."
	}
	if a.Dimensions == 0 {
		a.Dimensions = defaultDimensions
	}
	return answerPlan{
		Answer:    a,
		issuer:    upstream,
		pieces:    fitPieces(splitPieces(a.Text), a.Tokens),
		reasoning: splitPieces(a.Reasoning),
	}
}

const defaultDimensions = 256

// pieceLimit is the length in bytes at which a word is cut in two.
const pieceLimit = 24

// splitPieces cuts a text into pieces like those that a model streams: words
// with the space before them. Each piece is escaped for JSON.
func splitPieces(text string) []string {
	var out []string
	for text != "" {
		n := pieceEnd(text)
		quoted := appendString(nil, text[:n])
		out = append(out, string(quoted[1:len(quoted)-1]))
		text = text[n:]
	}
	return out
}

// pieceEnd returns the length of the first piece of text: leading spaces and
// the word behind them, never less than one character and never a part of one.
func pieceEnd(text string) int {
	inWord := false
	for i, r := range text {
		space := r == ' ' || r == '\n' || r == '\t'
		if inWord && space || i >= pieceLimit {
			return i
		}
		inWord = inWord || !space
	}
	return len(text)
}

// fitPieces repeats or cuts pieces to the number n; 0 leaves them as they are.
func fitPieces(pieces []string, n int) []string {
	if n == 0 || len(pieces) == 0 {
		return pieces
	}
	if n <= len(pieces) {
		return pieces[:n:n]
	}
	out := make([]string, n)
	again := pieces[0]
	if !strings.HasPrefix(again, " ") {
		again = " " + again
	}
	for i := range out {
		out[i] = pieces[i%len(pieces)]
		if i > 0 && i%len(pieces) == 0 {
			out[i] = again
		}
	}
	return out
}

// compose fills a with what the plan answers to c.
func (p *answerPlan) compose(a *answer, c *call, d *dice) {
	a.id = d.appendHex(a.id[:0], 2)
	a.toolID = d.appendHex(a.toolID[:0], 1)
	a.model = c.model
	a.issuer = p.issuer
	a.finish = finishStop
	switch c.endpoint {
	case EndpointEmbeddings:
		a.usage = Usage{Prompt: c.promptTokens}
		if c.dimensions == 0 {
			c.dimensions = p.Dimensions
		}
	case EndpointChat, EndpointCompletions, EndpointResponses:
		p.speak(a, c)
	case EndpointCompact:
		a.usage = Usage{Prompt: c.promptTokens, Completion: 1}
	case EndpointInputTokens, EndpointStored:
	case EndpointTranscriptions, EndpointTranslations, EndpointSpeech:
		a.pieces = p.pieces
		a.usage = Usage{Prompt: c.promptTokens, Completion: len(p.pieces)}
	case EndpointImageGenerations, EndpointImageEdits, EndpointImageVariations:
		a.usage = Usage{Prompt: c.promptTokens, Completion: imageTokens * c.choices}
	case EndpointModerations, EndpointRerank:
		a.usage = Usage{Prompt: c.promptTokens}
	case EndpointModels:
	}
	p.override(&a.usage)
}

// expected is about how many tokens the plan will answer to c.
func (p *answerPlan) expected(c *call) int {
	if c.endpoint != EndpointChat && c.endpoint != EndpointCompletions && c.endpoint != EndpointResponses {
		return 0
	}
	n := len(p.pieces)
	if c.maxTokens > 0 {
		n = min(n, c.maxTokens)
	}
	return (n + len(p.reasoning)) * max(c.choices, 1)
}

// speak chooses between a tool call and text, and counts the tokens.
func (p *answerPlan) speak(a *answer, c *call) {
	a.reasoning = p.reasoning
	if c.tool != nil && p.ToolCalls != ToolsNone && (c.tool.forced || c.last().role != "tool") {
		a.toolName = c.tool.name
		a.arguments = string(sampleOf(c.tool.parameters))
		a.finish = finishToolCalls
	} else {
		a.pieces = p.text(c)
		if c.maxTokens > 0 && len(a.pieces) > c.maxTokens {
			a.pieces = a.pieces[:c.maxTokens]
			a.finish = finishLength
		}
	}
	if c.endpoint == EndpointCompletions {
		a.reasoning = nil // the old format has no place for it
	}
	spoken := len(a.pieces)
	if a.toolName != "" {
		spoken = len(argumentPieces(a.arguments)) + 1
	}
	a.usage = Usage{
		Prompt:     c.promptTokens,
		Completion: (len(a.reasoning) + spoken) * max(c.choices, 1),
		Reasoning:  len(a.reasoning) * max(c.choices, 1),
	}
}

// text returns the content as pieces.
func (p *answerPlan) text(c *call) []string {
	switch {
	case c.structured && len(c.schema) > 0:
		return splitPieces(string(sampleOf(c.schema)))
	case c.structured:
		return splitPieces(`{"answer":` + string(appendString(nil, p.Text)) + `}`)
	case p.Echo:
		if said := c.last().user; said != "" {
			return fitPieces(splitPieces(said), p.Tokens)
		}
	}
	return p.pieces
}

// override puts the usage that a script fixes in place of what was counted.
func (p *answerPlan) override(u *Usage) {
	for _, o := range []struct {
		to   *int
		from int
	}{
		{&u.Prompt, p.Usage.Prompt},
		{&u.Completion, p.Usage.Completion},
		{&u.Cached, p.Usage.Cached},
		{&u.Reasoning, p.Usage.Reasoning},
	} {
		if o.from != 0 {
			*o.to = o.from
		}
	}
}

// argumentPieces cuts the arguments of a tool call as a stream sends them: a
// few bytes each, never through a character.
func argumentPieces(arguments string) []string {
	const size = 6
	var out []string
	for len(arguments) > size {
		n := size
		for n > 1 && !utf8.RuneStart(arguments[n]) {
			n--
		}
		out = append(out, arguments[:n])
		arguments = arguments[n:]
	}
	return append(out, arguments)
}
