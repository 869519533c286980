package gemini

import (
	"strconv"

	"gatewright/internal/wire/scan"
)

// Usage is what an answer consumed, in tokens. CachedTokens are inside
// InputTokens and ReasoningTokens inside OutputTokens, which is not how the
// service counts. The audio tokens are what the service tells of the modality.
type Usage struct {
	InputTokens       int64 // the prompt and what the upstream's own tools put into it
	OutputTokens      int64
	CachedTokens      int64 // read from a prompt cache
	ReasoningTokens   int64
	InputAudioTokens  int64
	OutputAudioTokens int64
	// Known is false if the answer did not say.
	Known bool
}

// counts is a usageMetadata as it was sent. A count that is absent is -1.
type counts struct {
	prompt, cached, candidates, thoughts, tools, total int64
	inputAudio, outputAudio                            int64
}

// readUsage takes the usageMetadata that is due. The usage is not known if it is
// no object or names neither a prompt nor an answer.
func readUsage(c *scan.Cursor) Usage {
	if !c.EnterObject() {
		return Usage{}
	}
	n := counts{-1, -1, -1, -1, -1, -1, 0, 0}
	for c.Member() {
		switch string(c.Key()) {
		case "promptTokenCount":
			count(c, &n.prompt)
		case "cachedContentTokenCount":
			count(c, &n.cached)
		case "candidatesTokenCount":
			count(c, &n.candidates)
		case "thoughtsTokenCount":
			count(c, &n.thoughts)
		case "toolUsePromptTokenCount":
			count(c, &n.tools)
		case "totalTokenCount":
			count(c, &n.total)
		case "promptTokensDetails":
			n.inputAudio = audioTokens(c)
		case "candidatesTokensDetails":
			n.outputAudio = audioTokens(c)
		}
	}
	if n.prompt < 0 && n.candidates < 0 {
		return Usage{}
	}
	return n.usage()
}

// audioTokens takes a list of counts by modality and returns that of sound.
func audioTokens(c *scan.Cursor) (n int64) {
	if !c.EnterArray() {
		return 0
	}
	for c.Element() {
		var modality string
		var tokens int64
		if !c.EnterObject() {
			continue
		}
		for c.Member() {
			switch string(c.Key()) {
			case "modality":
				modality = text(c)
			case "tokenCount":
				count(c, &tokens)
			}
		}
		if modality == "AUDIO" {
			n += tokens
		}
	}
	return n
}

// usage brings the counts to the common way of counting: what the model thought
// is output, what tools fed it is input. Where the count of the answer is
// missing, the total may tell it.
func (n *counts) usage() Usage {
	u := Usage{
		InputTokens:     max(n.prompt, 0) + max(n.tools, 0),
		CachedTokens:    max(n.cached, 0),
		ReasoningTokens: max(n.thoughts, 0),
		Known:           true,
	}
	u.OutputTokens = max(n.candidates, 0) + u.ReasoningTokens
	if rest := n.total - u.InputTokens - u.OutputTokens; n.candidates < 0 && rest > 0 {
		u.OutputTokens += rest
	}
	u.CachedTokens = min(u.CachedTokens, u.InputTokens)
	u.InputAudioTokens = min(n.inputAudio, u.InputTokens)
	u.OutputAudioTokens = min(n.outputAudio, u.OutputTokens)
	return u
}

// count takes a number of tokens that is due; what is no such number leaves
// into as it is.
func count(c *scan.Cursor, into *int64) {
	const most = 1 << 40 // more is nonsense
	if c.Kind() != scan.KindNumber {
		return
	}
	if n, err := strconv.ParseInt(string(c.Raw()), 10, 64); err == nil && n >= 0 && n <= most {
		*into = n
	}
}

// text takes the value that is due if it is a string and returns its text;
// otherwise the value stays due and the text is empty. Half a surrogate pair
// becomes U+FFFD.
func text(c *scan.Cursor) string {
	raw, decoded, ok := c.Text()
	if !ok || len(raw) == 0 {
		return ""
	}
	if decoded == len(raw) {
		return string(raw)
	}
	return string(scan.AppendText(make([]byte, 0, decoded), raw))
}
