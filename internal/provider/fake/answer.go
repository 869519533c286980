package fake

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
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
	calls     []toolCall // set when the answer is a call of tools
	finish    string
	usage     Usage
	// hidden is set when the reasoning is there and not sent, sealed when it is sent
	// in a form that only its maker reads.
	hidden, sealed bool
	// stopped is the sequence that ended the text, window that the model's window
	// did.
	stopped string
	window  bool
	// malformed is set when the model wrote a call that cannot be read.
	malformed bool
	// blocked is why the prompt was not answered at all, blockedText what is said
	// of it.
	blocked, blockedText string
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

// toolCall is a call of a function.
type toolCall struct {
	id        string // 16 hexadecimal digits, and a number behind the first
	name      string
	arguments string
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
	toolID := string(d.appendHex(nil, 1))
	a.model = c.model
	a.issuer = p.issuer
	a.finish = finishStop
	switch c.endpoint {
	case EndpointEmbeddings:
		a.usage = Usage{Prompt: c.promptTokens}
		if c.dimensions == 0 {
			c.dimensions = p.Dimensions
		}
	case EndpointChat, EndpointCompletions, EndpointResponses, EndpointMessages, EndpointGenerate:
		p.speak(a, c, toolID)
	case EndpointCountTokens, EndpointGeminiCount, EndpointGeminiEmbed:
		a.usage = Usage{Prompt: c.promptTokens}
		if c.dimensions == 0 {
			c.dimensions = p.Dimensions
		}
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
	if !c.speaks() && c.endpoint != EndpointCompletions {
		return 0
	}
	n := len(p.pieces)
	if c.maxTokens > 0 {
		n = min(n, c.maxTokens)
	}
	return (n + len(p.reasoning)) * max(c.choices, 1)
}

// speak chooses between tool calls and text, and counts the tokens.
func (p *answerPlan) speak(a *answer, c *call, toolID string) {
	switch c.thought {
	case thoughtSaid:
		a.reasoning = p.reasoning
	case thoughtHidden:
		a.reasoning, a.hidden = p.reasoning, len(p.reasoning) > 0
	case thoughtNone:
	}
	if c.endpoint == EndpointCompletions {
		a.reasoning = nil // the old format has no place for it
	}
	if len(c.tools) > 0 && p.ToolCalls != ToolsNone && (c.forced || c.last().role != roleTool) {
		p.call(a, c, toolID)
	} else {
		p.say(a, c)
	}
	spoken := len(a.pieces)
	for i := range a.calls {
		spoken += len(argumentPieces(a.calls[i].arguments)) + 1
	}
	a.usage = Usage{
		Prompt:     c.promptTokens,
		Completion: (len(a.reasoning) + spoken) * max(c.choices, 1),
		Reasoning:  len(a.reasoning) * max(c.choices, 1),
	}
}

// call calls the first of the functions, or all of them.
func (p *answerPlan) call(a *answer, c *call, id string) {
	tools := c.tools
	if p.ToolCalls != ToolsAll || c.serial {
		tools = tools[:1]
	}
	a.finish = finishToolCalls
	for i, t := range tools {
		one := toolCall{id: id, name: t.name, arguments: string(sampleOf(t.parameters))}
		if i > 0 {
			one.id += "_" + strconv.Itoa(i)
		}
		a.calls = append(a.calls, one)
	}
}

// say fills in the text, within the bounds of the request.
func (p *answerPlan) say(a *answer, c *call) {
	a.pieces = p.text(c)
	if len(c.stops) > 0 {
		a.pieces, a.stopped = stopAt(a.pieces, c.stops)
	}
	if c.maxTokens == 0 {
		return
	}
	most := c.maxTokens
	if c.bounded {
		a.reasoning = a.reasoning[:min(most, len(a.reasoning))]
		most -= len(a.reasoning)
	}
	if len(a.pieces) > most {
		a.pieces = a.pieces[:most]
		a.finish, a.stopped = finishLength, ""
	}
}

// stopAt cuts pieces before the first of the sequences that they hold, and returns
// which one it was.
func stopAt(pieces, stops []string) ([]string, string) {
	text := make([]byte, 0, pieceLimit*len(pieces))
	ends := make([]int, len(pieces))
	for i, p := range pieces {
		text = append(text, joinPieces([]string{p})...)
		ends[i] = len(text)
	}
	at, found := len(text), ""
	for _, s := range stops {
		if i := bytes.Index(text, []byte(s)); s != "" && i >= 0 && i < at {
			at, found = i, s
		}
	}
	if found == "" {
		return pieces, ""
	}
	whole, _ := slices.BinarySearch(ends, at+1) // how many of them end before
	kept := slices.Clone(pieces[:whole])
	begin := 0
	if whole > 0 {
		begin = ends[whole-1]
	}
	if begin < at {
		quoted := appendString(nil, string(text[begin:at]))
		kept = append(kept, string(quoted[1:len(quoted)-1]))
	}
	return kept, found
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
		{&u.CacheWrite, p.Usage.CacheWrite},
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

// joinPieces is the text that escaped pieces make.
func joinPieces(pieces []string) string {
	var text string
	if json.Unmarshal(appendPieces(nil, pieces), &text) != nil {
		return strings.Join(pieces, "") // cannot be: they are escaped
	}
	return text
}
