package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"
)

// mediaCall is what a call of images, audio, moderations or rerank asks for.
type mediaCall struct {
	render func(out *rendering, c *call, a *answer)
	// contentType is that of an answer that is no JSON; empty for JSON.
	contentType string
	// sound is the format of speech; empty when no speech is asked for.
	sound string
	// format is response_format: of an image or of a transcript.
	format string
	// partials is how many unfinished images a stream shows.
	partials int
	// query, documents, top and whole belong to rerank.
	query     string
	documents []string
	top       int
	whole     bool
}

// mediaRequest is what the simulation reads of a request, JSON or a form; the
// rest is taken as it comes.
type mediaRequest struct {
	Model           string            `json:"model"`
	Prompt          string            `json:"prompt"`
	Image           json.RawMessage   `json:"image"`
	Images          json.RawMessage   `json:"images"`
	Voice           json.RawMessage   `json:"voice"`
	Input           json.RawMessage   `json:"input"`
	ResponseFormat  string            `json:"response_format"`
	StreamFormat    string            `json:"stream_format"`
	Stream          bool              `json:"stream"`
	N               *int              `json:"n"`
	PartialImages   int               `json:"partial_images"`
	Query           string            `json:"query"`
	Documents       []json.RawMessage `json:"documents"`
	TopN            *int              `json:"top_n"`
	ReturnDocuments bool              `json:"return_documents"`

	files map[string]int // length by field, of a form
}

// The bounds of what a request may ask for.
const (
	maxImages   = 10
	maxPartials = 3
	imageTokens = 272 // that an image of low quality costs

	fileToText = 1000 // bytes of a file that count as much as one of text

	defaultModeration = "omni-moderation-latest"
)

// decodeMedia reads the body of a request as OpenAI's service does.
func decodeMedia(c *call, body []byte) *apiError {
	var q mediaRequest
	if e := q.read(c.contentType, body); e != nil {
		return e
	}
	if c.model == "" {
		c.model = q.Model
	}
	if c.model == "" && c.endpoint == EndpointModerations {
		c.model = defaultModeration
	}
	if c.model == "" {
		return missing("model", "you must provide a model parameter")
	}
	size := len(q.Prompt) + len(q.Input) + len(q.Query)
	for _, n := range q.files {
		size += n / fileToText
	}
	c.promptTokens = tokensOf(size)
	c.choices, c.stream, c.media.format = 1, q.Stream, q.ResponseFormat
	switch c.endpoint {
	case EndpointImageGenerations, EndpointImageEdits, EndpointImageVariations:
		return decodeImages(c, &q)
	case EndpointTranscriptions, EndpointTranslations:
		return decodeTranscript(c, &q)
	case EndpointSpeech:
		return decodeSpeech(c, &q)
	case EndpointModerations:
		return decodeModeration(c, &q)
	case EndpointRerank:
		return decodeRerank(c, &q)
	case EndpointChat, EndpointCompletions, EndpointEmbeddings, EndpointModels,
		EndpointResponses, EndpointCompact, EndpointInputTokens, EndpointStored,
		EndpointMessages, EndpointCountTokens, EndpointGenerate, EndpointGeminiCount, EndpointGeminiEmbed:
	}
	return nil
}

// read reads a body by its content type.
func (q *mediaRequest) read(contentType string, body []byte) *apiError {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		if err := json.Unmarshal(body, q); err != nil {
			return invalidBody(err)
		}
		return nil
	}
	q.files = map[string]int{}
	parts := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return invalid("", "The body of the request is not a form: "+err.Error()+".")
		}
		value, err := io.ReadAll(p)
		if err != nil {
			return invalid("", "The body of the request is not a form: "+err.Error()+".")
		}
		if p.FileName() != "" {
			q.files[p.FormName()] += len(value)
			continue
		}
		if e := q.field(p.FormName(), string(value)); e != nil {
			return e
		}
	}
}

// field takes a field of a form.
func (q *mediaRequest) field(name, value string) *apiError {
	var err error
	switch name {
	case "model":
		q.Model = value
	case "prompt":
		q.Prompt = value
	case "response_format":
		q.ResponseFormat = value
	case "stream":
		q.Stream, err = strconv.ParseBool(value)
	case "partial_images":
		q.PartialImages, err = strconv.Atoi(value)
	case "n":
		q.N = new(int)
		*q.N, err = strconv.Atoi(value)
	}
	if err != nil {
		e := invalid(name, fmt.Sprintf("Invalid '%s': %.40q.", name, value))
		e.code = "invalid_type"
		return e
	}
	return nil
}

// oneOf refuses a value that is none of those there are; an empty one is the
// first.
func oneOf(param string, value *string, known ...string) *apiError {
	if *value == "" {
		*value = known[0]
	}
	if slices.Contains(known, *value) {
		return nil
	}
	e := invalid(param, fmt.Sprintf("Invalid value: '%.40s'. The simulation supports: %s.", *value, strings.Join(known, ", ")))
	e.code = "invalid_value"
	return e
}

func decodeImages(c *call, q *mediaRequest) *apiError {
	given := len(q.Image) > 0 || len(q.Images) > 0 || q.files["image"] > 0 || q.files["image[]"] > 0
	switch {
	case q.Prompt == "" && c.endpoint != EndpointImageVariations:
		return missing("prompt", "Missing required parameter: 'prompt'.")
	case !given && c.endpoint != EndpointImageGenerations:
		return missing("image", "Missing required parameter: 'image'.")
	case q.PartialImages < 0 || q.PartialImages > maxPartials:
		return invalid("partial_images", fmt.Sprintf("Invalid 'partial_images': %d is not in 0 to %d.", q.PartialImages, maxPartials))
	}
	if q.N != nil {
		if *q.N < 1 || *q.N > maxImages {
			return invalid("n", fmt.Sprintf("Invalid 'n': %d is not in 1 to %d.", *q.N, maxImages))
		}
		c.choices = *q.N
	}
	c.stream = c.stream && c.endpoint != EndpointImageVariations
	c.media.partials = q.PartialImages
	c.media.render = renderImages
	return oneOf("response_format", &c.media.format, "b64_json", "url")
}

func decodeTranscript(c *call, q *mediaRequest) *apiError {
	if q.files["file"] == 0 {
		return missing("file", "Missing required parameter: 'file', the sound, in a form.")
	}
	if e := oneOf("response_format", &c.media.format, "json", "verbose_json", "text", "srt", "vtt"); e != nil {
		return e
	}
	c.stream = c.stream && c.endpoint == EndpointTranscriptions
	if !strings.HasSuffix(c.media.format, "json") {
		c.media.contentType = contentPlain
	}
	c.media.render = renderTranscript
	return nil
}

const contentPlain = "text/plain; charset=utf-8"

func decodeSpeech(c *call, q *mediaRequest) *apiError {
	var text string
	if json.Unmarshal(q.Input, &text) != nil || text == "" {
		return missing("input", "Missing required parameter: 'input', the text to speak.")
	}
	if len(q.Voice) == 0 {
		return missing("voice", "Missing required parameter: 'voice'.")
	}
	if e := oneOf("stream_format", &q.StreamFormat, "audio", "sse"); e != nil {
		return e
	}
	if e := oneOf("response_format", &c.media.format, "mp3", "wav", "pcm"); e != nil {
		return e
	}
	c.stream = q.StreamFormat == "sse"
	c.media.sound = c.media.format
	c.media.contentType = soundTypes[c.media.sound]
	c.media.render = renderSpeech
	return nil
}

// decodeModeration reads a text, a list of texts, or the parts of one input.
func decodeModeration(c *call, q *mediaRequest) *apiError {
	var one string
	if json.Unmarshal(q.Input, &one) == nil && one != "" {
		c.inputs = []string{one}
	} else if json.Unmarshal(q.Input, &c.inputs) != nil {
		c.inputs = []string{contentText(q.Input)}
	}
	if len(q.Input) == 0 || len(c.inputs) == 0 {
		return missing("input", "Missing required parameter: 'input'.")
	}
	c.media.render = renderModeration
	return nil
}

func decodeRerank(c *call, q *mediaRequest) *apiError {
	switch {
	case q.Query == "":
		return missing("query", "Missing required parameter: 'query'.")
	case len(q.Documents) == 0:
		return missing("documents", "Missing required parameter: 'documents'.")
	}
	for _, raw := range q.Documents {
		text := documentText(raw)
		c.promptTokens += tokensOf(len(text))
		c.media.documents = append(c.media.documents, text)
	}
	c.media.query, c.media.top, c.media.whole = q.Query, len(q.Documents), q.ReturnDocuments
	if q.TopN != nil {
		if *q.TopN < 1 {
			return invalid("top_n", fmt.Sprintf("Invalid 'top_n': %d is less than 1.", *q.TopN))
		}
		c.media.top = min(*q.TopN, c.media.top)
	}
	c.media.render = renderRerank
	return nil
}

// documentText is the text of a document: a string, or an object with one.
func documentText(raw json.RawMessage) string {
	var object struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return object.Text
	}
	return contentText(raw)
}
