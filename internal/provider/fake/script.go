package fake

import (
	"net/http"
	"time"
)

// Million is the denominator of the rates in this package: they are parts per
// million.
const Million = 1_000_000

// Script is a whole simulation: a seed and the upstreams that it plays.
// [Parse] makes one from YAML. One made by hand can be checked with
// [Script.Validate]. [New] reads it and keeps nothing of it that the caller
// could change afterwards, save the maps and slices inside, which must stay
// unchanged.
type Script struct {
	// Seed is where every random choice comes from.
	Seed uint64
	// Upstreams holds the behaviours by name. A name is a path segment:
	// letters, digits, dot, dash and underscore, beginning with a letter or
	// a digit.
	Upstreams map[string]Behaviour
}

// Behaviour is how one upstream acts. The zero value serves every model, asks
// for no key, answers at once and never fails.
type Behaviour struct {
	// Models are the names that the upstream serves; empty means any.
	Models []string
	// APIKey, when set, is the only credential that is not answered 401.
	APIKey string
	// Latency is how long answers take.
	Latency Latency
	// Answer is what the upstream says.
	Answer Answer
	// Script tells the fate of the first requests, in order of arrival.
	Script []Step
	// Repeat starts the script again whenever it has ended.
	Repeat bool
	// Always, when its name is set, strikes every request that the script
	// does not decide.
	Always Fault
	// Fail strikes at random what neither Script nor Always decides.
	Fail Fail
	// FaultsOn lists the endpoints that Script, Always and Fail apply to;
	// empty means all but models.
	FaultsOn []Endpoint
	// Quota limits how much the upstream serves.
	Quota Quota
}

// Latency is the pace of an upstream. A stream sends its headers after
// Headers, its first content FirstToken after the request came, and each
// further piece PerToken after the one before. An answer that is not streamed
// takes as long as the stream would have.
type Latency struct {
	// Headers is the wait before the response headers, those of errors too.
	Headers time.Duration
	// FirstToken is the wait, from the arrival of the request, before the
	// first content.
	FirstToken time.Duration
	// PerToken is the wait between two pieces of content.
	PerToken time.Duration
	// Jitter widens each wait by a random share of itself, up or down, in
	// parts per million: 200,000 makes 100 ms anything from 80 to 120 ms.
	Jitter int64
}

// ToolCalls says when an upstream answers with a tool call.
type ToolCalls string

// The values of [Answer.ToolCalls].
const (
	// ToolsAuto calls the first function of a request that offers tools,
	// unless its last message already is a tool's result. It is the default.
	ToolsAuto ToolCalls = "auto"
	// ToolsAll is like ToolsAuto, and calls all of the functions at once, unless the
	// request wants one call at a time.
	ToolsAll ToolCalls = "all"
	// ToolsNone answers with text whatever tools are offered.
	ToolsNone ToolCalls = "none"
)

// Answer is what an upstream says when nothing is wrong.
type Answer struct {
	// Text is the content, and what a transcript says; empty means a sentence
	// with the upstream's name.
	Text string
	// Tokens is how many pieces the content has: Text is repeated or cut to
	// fit. 0 means as many as Text has. Speech has a tenth of a second of sound
	// for each.
	Tokens int
	// Echo answers with the last user message instead of Text.
	Echo bool
	// Reasoning, when set, is sent before the content: as reasoning_content, as
	// several makers do; in Messages as a block of thinking when the request asks
	// for it; of Gemini as thoughts when it includes them, and counted otherwise.
	Reasoning string
	// ToolCalls says when tools are called; empty means [ToolsAuto].
	ToolCalls ToolCalls
	// Dimensions is the length of an embedding for which the request asks
	// none; 0 means 256.
	Dimensions int
	// Usage overrides single counts of the usage that is reported; a field
	// that is 0 stays what was counted.
	Usage Usage
}

// Usage is a count of tokens.
type Usage struct {
	// Prompt and Completion are all input and all output tokens.
	Prompt, Completion int
	// Cached is the part of Prompt that was read from a cache, CacheWrite the part
	// that was written to one.
	Cached, CacheWrite int
	// Reasoning is the part of Completion that was thought, not said.
	Reasoning int
}

// Fail strikes requests at random.
type Fail struct {
	// Rate is the share of requests that are struck, in parts per million.
	Rate int64
	// With holds the faults, each as likely as the others. A fault that does
	// not fit a request (a stream's fault on a request that is not streamed)
	// is left out of the draw for it.
	With []Fault
}

// Step is one entry of a script.
type Step struct {
	// Times is how many requests the step decides; 0 means 1.
	Times int
	// Fault is what happens to them; the name "ok" answers them normally. A
	// fault that does not fit a request answers it normally, and the step
	// counts as used.
	Fault Fault
}

// Quota limits an upstream. What is beyond it is answered 429 as OpenAI does.
type Quota struct {
	// Requests and Tokens are the limits of one window; 0 means no limit.
	// Tokens counts the prompt and what is going to be answered.
	Requests, Tokens int
	// Per is the length of a window, which begins with its first request.
	Per time.Duration
	// Concurrent is the limit of requests in flight; 0 means no limit.
	Concurrent int
	// RetryAfter sends the seconds to the end of the window with a 429.
	RetryAfter bool
	// Headers sends x-ratelimit-* with every answer.
	Headers bool
}

// Fault is one fault of the table ([Faults]) and its parameters. A parameter
// that is left out has the fault's own default; one that the fault does not
// take is an error.
type Fault struct {
	// Name is a name of the table, "http-NNN" for a status, or "ok".
	Name string
	// After is how many content events go out before a stream is struck.
	After *int
	// Size is a length in bytes.
	Size int64
	// Count is a number of things.
	Count int
	// Delay is a wait, by fault: before a token, between bytes, …
	Delay time.Duration
	// Status is the status of a page.
	Status int
	// Code, Type and Message go into an error object. A Code of digits alone
	// is sent as a number.
	Code, Type, Message string
	// RetryAfter is sent as given, however wrong; two values are two headers.
	RetryAfter []string
	// Headers are added to the answer, or replace its own.
	Headers http.Header
	// Body replaces the body.
	Body *string
	// Location is where a redirect leads; empty means a path of the upstream
	// that serves nothing.
	Location string
}

// Endpoint is one of the things that an upstream can be asked for.
type Endpoint string

// The endpoints of the simulated upstreams.
const (
	// EndpointChat is chat completions.
	EndpointChat Endpoint = "chat"
	// EndpointCompletions is the old text completions.
	EndpointCompletions Endpoint = "completions"
	// EndpointEmbeddings is embeddings.
	EndpointEmbeddings Endpoint = "embeddings"
	// EndpointImageGenerations makes images of a prompt.
	EndpointImageGenerations Endpoint = "images_generations"
	// EndpointImageEdits makes images of images and a prompt.
	EndpointImageEdits Endpoint = "images_edits"
	// EndpointImageVariations makes images of an image.
	EndpointImageVariations Endpoint = "images_variations"
	// EndpointTranscriptions is the text of speech.
	EndpointTranscriptions Endpoint = "audio_transcriptions"
	// EndpointTranslations is the text of speech, in English.
	EndpointTranslations Endpoint = "audio_translations"
	// EndpointSpeech is the sound of a text.
	EndpointSpeech Endpoint = "audio_speech"
	// EndpointModerations judges texts.
	EndpointModerations Endpoint = "moderations"
	// EndpointRerank orders documents by a query, as Cohere and Jina do.
	EndpointRerank Endpoint = "rerank"
	// EndpointResponses is OpenAI's Responses.
	EndpointResponses Endpoint = "responses"
	// EndpointCompact makes a conversation shorter, for Responses.
	EndpointCompact Endpoint = "responses_compact"
	// EndpointInputTokens counts what Responses would read.
	EndpointInputTokens Endpoint = "responses_input_tokens"
	// EndpointStored is what is asked of a response that the upstream keeps.
	EndpointStored Endpoint = "responses_stored"
	// EndpointMessages is Anthropic's Messages.
	EndpointMessages Endpoint = "messages"
	// EndpointCountTokens counts what Messages would read.
	EndpointCountTokens Endpoint = "messages_count_tokens"
	// EndpointGenerate is Gemini's generateContent, streamed or not.
	EndpointGenerate Endpoint = "generate_content"
	// EndpointGeminiCount counts what Gemini would read.
	EndpointGeminiCount Endpoint = "gemini_count_tokens"
	// EndpointGeminiEmbed is Gemini's embeddings, of one text or several.
	EndpointGeminiEmbed Endpoint = "gemini_embed_content"
	// EndpointModels is the list of models and each model of it.
	EndpointModels Endpoint = "models"
)

func allEndpoints() []Endpoint {
	return append(faultyEndpoints(), EndpointModels)
}

// faultyEndpoints are those that faults apply to when a script names none.
func faultyEndpoints() []Endpoint {
	return []Endpoint{
		EndpointChat, EndpointCompletions, EndpointEmbeddings,
		EndpointImageGenerations, EndpointImageEdits, EndpointImageVariations,
		EndpointTranscriptions, EndpointTranslations, EndpointSpeech, EndpointModerations, EndpointRerank,
		EndpointResponses, EndpointCompact, EndpointInputTokens, EndpointStored,
		EndpointMessages, EndpointCountTokens, EndpointGenerate, EndpointGeminiCount, EndpointGeminiEmbed,
	}
}
