package fake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// renderImages writes the list of images, or a stream of some unfinished ones
// and the finished one.
func renderImages(out *rendering, c *call, a *answer) {
	if c.stream {
		renderImageStream(out, c, a)
		return
	}
	b := appendField(out.buf, `{"created":`, int(a.created))
	b = append(b, `,"data":[`...)
	for i := range c.choices {
		if i > 0 {
			b = append(b, ',')
		}
		if c.media.format == "url" {
			b = append(b, `{"url":"https://images.invalid/`...)
			b = append(b, a.id...)
			b = append(appendField(b, "-", i), `.png"}`...)
			continue
		}
		b = appendImage(append(b, '{'))
		b = append(b, '}')
	}
	b = append(b, `],"background":"opaque","output_format":"png","quality":"low","size":"16x16",`...)
	out.buf = append(appendMediaUsage(b, a.usage, `"input_tokens_details":{"text_tokens":`), '}')
}

// appendImage appends the member b64_json.
func appendImage(b []byte) []byte {
	b = append(b, `"b64_json":"`...)
	b = base64.StdEncoding.AppendEncode(b, picture())
	return append(b, '"')
}

// appendMediaUsage appends a usage in the words of the newer endpoints; details
// opens the object whose only count is that of all input.
func appendMediaUsage(b []byte, u Usage, details string) []byte {
	b = appendField(b, `"usage":{"total_tokens":`, u.Prompt+u.Completion)
	b = appendField(b, `,"input_tokens":`, u.Prompt)
	b = appendField(b, `,"output_tokens":`, u.Completion)
	return append(appendField(append(b, ','), details, u.Prompt), `}}`...)
}

func renderImageStream(out *rendering, c *call, a *answer) {
	name := "image_generation"
	if c.endpoint == EndpointImageEdits {
		name = "image_edit"
	}
	event := func(kind frameKind, what string, rest func(b []byte) []byte) {
		out.beginNamed(kind, kind == frameContent, name+what)
		b := append(append(out.buf, `{"type":"`...), name...)
		b = append(append(b, what...), `",`...)
		b = appendField(appendImage(b), `,"created_at":`, int(a.created))
		b = append(b, `,"background":"opaque","output_format":"png","quality":"low","size":"16x16",`...)
		out.buf = append(rest(b), '}')
		out.end()
	}
	for i := range c.media.partials {
		event(frameContent, ".partial_image", func(b []byte) []byte { return appendField(b, `"partial_image_index":`, i) })
	}
	for range c.choices {
		event(frameFinish, ".completed", func(b []byte) []byte {
			return appendMediaUsage(b, a.usage, `"input_tokens_details":{"text_tokens":`)
		})
	}
}

// spoken is how long the sound of so many pieces lasts.
func spoken(pieces int) time.Duration { return time.Duration(pieces) * pieceLength }

// renderTranscript writes what was said: in JSON, as text, as subtitles, or as a
// stream.
func renderTranscript(out *rendering, c *call, a *answer) {
	const details = `"input_token_details":{"audio_tokens":`
	switch {
	case c.stream:
		for _, p := range a.pieces {
			out.begin(frameContent, true)
			out.buf = append(append(out.buf, `{"type":"transcript.text.delta","delta":"`...), p...)
			out.buf = append(out.buf, `"}`...)
			out.end()
		}
		out.begin(frameFinish, false)
		b := appendPieces(append(out.buf, `{"type":"transcript.text.done","text":`...), a.pieces)
		out.buf = append(appendMediaUsage(append(b, ','), a.usage, details), '}')
		out.end()
	case c.media.format == "json":
		b := appendPieces(append(out.buf, `{"text":`...), a.pieces)
		out.buf = append(appendMediaUsage(append(b, ','), a.usage, details), '}')
	case c.media.format == "verbose_json":
		out.buf = appendVerbose(out.buf, c, a)
	default:
		out.buf = append(out.buf, subtitles(c.media.format, plainPieces(a.pieces), spoken(len(a.pieces)))...)
	}
}

func appendVerbose(b []byte, c *call, a *answer) []byte {
	task := "transcribe"
	if c.endpoint == EndpointTranslations {
		task = "translate"
	}
	seconds := strconv.FormatFloat(spoken(len(a.pieces)).Seconds(), 'f', 1, 64)
	b = append(b, `{"task":"`+task+`","language":"english","duration":`+seconds+`,"text":`...)
	b = appendPieces(b, a.pieces)
	b = append(b, `,"segments":[{"id":0,"seek":0,"start":0.0,"end":`+seconds+`,"text":`...)
	b = appendPieces(b, a.pieces)
	return append(b, `,"tokens":[],"temperature":0.0,"avg_logprob":-0.1,"compression_ratio":1.0,"no_speech_prob":0.0}],"usage":{"type":"duration","seconds":`+seconds+`}}`...)
}

// plainPieces is the text that escaped pieces stand for.
func plainPieces(pieces []string) string {
	var text string
	_ = json.Unmarshal(appendPieces(nil, pieces), &text) // they were made from a text
	return text
}

func subtitles(format, text string, length time.Duration) string {
	stamp := func(point string) string {
		return fmt.Sprintf("%02d:%02d:%02d%s%03d", int(length.Hours()), int(length.Minutes())%60, int(length.Seconds())%60, point, length.Milliseconds()%1000)
	}
	switch format {
	case "srt":
		return "1\n00:00:00,000 --> " + stamp(",") + "\n" + text + "\n\n"
	case "vtt":
		return "WEBVTT\n\n00:00:00.000 --> " + stamp(".") + "\n" + text + "\n\n"
	}
	return text + "\n"
}

// renderSpeech writes sound in pieces, or a stream of them.
func renderSpeech(out *rendering, c *call, a *answer) {
	out.bare = !c.stream
	for i := range a.pieces {
		if !c.stream {
			out.begin(frameContent, true)
			out.buf = appendSound(out.buf, c.media.sound, i, len(a.pieces))
			out.end()
			continue
		}
		out.begin(frameContent, true)
		out.buf = append(out.buf, `{"type":"speech.audio.delta","audio":"`...)
		out.buf = base64.StdEncoding.AppendEncode(out.buf, appendSound(nil, c.media.sound, i, len(a.pieces)))
		out.buf = append(out.buf, `"}`...)
		out.end()
	}
	if c.stream {
		out.begin(frameFinish, false)
		out.buf = append(out.buf, `{"type":"speech.audio.done",`...)
		out.buf = append(appendMediaUsage(out.buf, a.usage, `"input_token_details":{"text_tokens":`), '}')
		out.end()
	}
}

// moderationCategories are some of those that OpenAI's service knows.
var moderationCategories = []string{"harassment", "hate", "illicit", "self-harm", "sexual", "violence"}

// renderModeration judges each input: a category is flagged whose name stands
// in it.
func renderModeration(out *rendering, c *call, a *answer) {
	b := append(append(out.buf, `{"id":"modr-`...), a.id...)
	b = append(b, `","model":`...)
	b = append(appendString(b, a.model), `,"results":[`...)
	for i, text := range c.inputs {
		if i > 0 {
			b = append(b, ',')
		}
		var flags, scores []byte
		flagged := false
		for _, name := range moderationCategories {
			hit := strings.Contains(strings.ToLower(text), name)
			flagged = flagged || hit
			score := ":0.01,"
			if hit {
				score = ":0.99,"
			}
			flags = append(strconv.AppendBool(append(appendString(flags, name), ':'), hit), ',')
			scores = append(appendString(scores, name), score...)
		}
		b = strconv.AppendBool(append(b, `{"flagged":`...), flagged)
		b = append(append(b, `,"categories":{`...), flags[:len(flags)-1]...)
		b = append(append(b, `},"category_scores":{`...), scores[:len(scores)-1]...)
		b = append(b, `}}`...)
	}
	b = append(b, `]}`...)
	out.buf = b
}

// renderRerank orders documents by the share of the query's words in them.
func renderRerank(out *rendering, c *call, a *answer) {
	words := strings.Fields(strings.ToLower(c.media.query))
	type ranked struct{ index, hits int }
	order := make([]ranked, len(c.media.documents))
	for i, text := range c.media.documents {
		order[i].index = i
		have := strings.Fields(strings.ToLower(text))
		for _, w := range words {
			if slices.Contains(have, w) {
				order[i].hits++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b ranked) int { return b.hits - a.hits })
	b := append(append(out.buf, `{"id":"rerank-`...), a.id...)
	b = append(b, `","model":`...)
	b = append(appendString(b, a.model), `,"results":[`...)
	for i, r := range order[:c.media.top] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendField(b, `{"index":`, r.index)
		b = append(b, `,"relevance_score":`...)
		b = strconv.AppendFloat(b, float64(r.hits)/float64(max(len(words), 1)), 'f', 4, 64)
		if c.media.whole {
			b = append(b, `,"document":{"text":`...)
			b = append(appendString(b, c.media.documents[r.index]), '}')
		}
		b = append(b, '}')
	}
	b = appendField(append(b, `],`...), `"usage":{"prompt_tokens":`, a.usage.Prompt)
	out.buf = append(appendField(b, `,"total_tokens":`, a.usage.Prompt), `}}`...)
}
