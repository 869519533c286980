package fake

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// protocol speaks the wire format of one maker. Everything else (faults, pace,
// quotas, the record) is the same for all of them. A protocol has no state.
type protocol interface {
	protocolReader
	protocolWriter
	protocolErrors
}

type protocolReader interface {
	// route says what a request asks for, from its line and its headers
	// alone; false when the protocol has no such path.
	route(r *http.Request, path string) (*call, bool)
	// decode reads the body of a request into c.
	decode(c *call, body []byte) *apiError
}

type protocolWriter interface {
	// render writes the answer into out, as a stream when c.stream is set.
	render(out *rendering, c *call, a *answer)
	// stamp sets the headers that the maker sends with every answer.
	stamp(h http.Header, c *call, s stamp)
	// farewell is the event that ends a stream; without data there is none.
	farewell(c *call) (name, data string)
	// broken appends an error in a stream, as it goes on the wire, after so many
	// events.
	broken(dst []byte, c *call, a *answer, e *apiError, events int) []byte
}

type protocolErrors interface {
	// words are what the maker says in a case that has a name: a fault of the
	// class status, http-NNN, or one of the say constants.
	words(c *call, what string) apiError
	// exceeded is the 429 of a quota.
	exceeded(c *call, l *limits) apiError
	// coded gives an error the code that a script names.
	coded(e *apiError, code string)
	// failure is the body of an error answer.
	failure(c *call, e *apiError) []byte
}

// The cases beside the faults in which an upstream refuses a request. The words
// of a maker may hold {model}, {request}, {method}, {path}, {allowed} and {limit}.
const (
	sayNoKey    = "no-key"    // no credential was sent
	sayNoPath   = "no-path"   // the path leads nowhere
	sayMethod   = "no-method" // the path takes another method
	sayTooLarge = "too-large" // the body is longer than the simulation takes
	sayUnknown  = "unknown-model"
	sayBroken   = "broken"   // an error in the middle of a stream
	sayProvider = "provider" // an error in the place of an answer
)

// protocols are asked in this order; the first that knows a path has it.
var protocols = []protocol{anthropic{}, gemini{}, openAI{}}

// protocolOf guesses the protocol of a request whose path leads nowhere.
func protocolOf(r *http.Request) protocol {
	switch {
	case r.Header.Get(headerVersion) != "":
		return anthropic{}
	case r.Header.Get(headerGoogleKey) != "":
		return gemini{}
	}
	return openAI{}
}

// call is one decoded request.
type call struct {
	proto    protocol
	endpoint Endpoint
	// method is the only one that the path takes.
	method string
	// azure marks Azure's path form: other credentials, other small print.
	azure bool
	// missing is set when something that the path needs is not in the query.
	missing *apiError
	// key is the credential as it was sent, contentType that of the body.
	key, contentType string
	// json is the content type of a whole answer; empty means contentJSON.
	json string
	// crlf ends the lines of a stream with CR LF; array makes a stream of it that
	// is one JSON array, its elements sent one after the other.
	crlf, array bool
	// waits tells in the body how long to wait, not in a header.
	waits bool
	// requestID is the one of the answer, once it is made.
	requestID string
	// model is the name asked for; of the models endpoint, the one to show.
	model string

	stream, includeUsage bool
	// choices is how many answers are asked for.
	choices int
	// maxTokens bounds each answer; 0 means no bound.
	maxTokens int
	// promptTokens is an estimate: four bytes of input make a token.
	promptTokens int
	// last reads the last message, which few answers need.
	last func() lastMessage
	// tools are the functions that an answer may call. forced leaves no other
	// choice, serial allows one call at a time.
	tools          []tool
	forced, serial bool
	// stops end the text before the first of them that it holds.
	stops []string
	// thought says what becomes of the reasoning; bounded counts it among
	// maxTokens.
	thought thoughtForm
	bounded bool
	// reasons is set when the upstream thinks: its script has a reasoning.
	reasons bool
	// version is the interface version that the request names.
	version string
	// structured is set when the content must be JSON, of schema if not nil.
	structured bool
	schema     json.RawMessage
	// inputs, dimensions and base64 belong to embeddings.
	inputs     []string
	dimensions int
	base64     bool
	// google is what belongs to calls of Google's alone.
	google googleCall
	// media is what images, audio, moderations and rerank ask for.
	media mediaCall
	// responses is what the Responses endpoints ask for.
	responses responsesCall
}

// thoughtForm is what becomes of the reasoning that a script has.
type thoughtForm int

const (
	thoughtSaid   thoughtForm = iota // it is sent
	thoughtHidden                    // it is counted and signed, but not sent
	thoughtNone                      // there is none
)

// speaks reports whether a model is asked to say something.
func (c *call) speaks() bool {
	return c.endpoint == EndpointChat || c.endpoint == EndpointResponses || c.endpoint == EndpointMessages || c.endpoint == EndpointGenerate
}

// plain reports whether one JSON answer is asked for.
func (c *call) plain() bool { return !c.stream && !c.array && c.media.contentType == "" }

// pieces reports whether the answer goes out in pieces: a stream, or sound.
func (c *call) pieces() bool { return c.stream || c.array || c.media.sound != "" }

// answerType is the content type of the normal answer.
func (c *call) answerType() string {
	switch {
	case c.stream:
		return contentStream
	case c.media.contentType != "":
		return c.media.contentType
	}
	return c.jsonType()
}

// jsonType is the content type of JSON.
func (c *call) jsonType() string {
	if c.json != "" {
		return c.json
	}
	return contentJSON
}

// lastMessage is how a conversation ends.
type lastMessage struct {
	// role is that of the last message; roleTool when it is what a tool gave.
	role string
	// user is the text of the last message of a user.
	user string
}

// tool is a function that a request offers.
type tool struct {
	name       string
	parameters json.RawMessage
}

// roleTool is the role of what a tool gave.
const roleTool = "tool"

// apiError is an error as a maker's API tells it.
type apiError struct {
	// status is that of the answer, number the one that the body names where that
	// is another.
	status, number int
	// typ, code and param are null in OpenAI's form when empty. A code of
	// digits alone is a number.
	typ, code, param string
	message          string
	// extra is further members of the error object, or of its list of details:
	// JSON without braces or brackets.
	extra string
	// blocks is why a prompt is blocked, where that is no error but an answer.
	blocks string
	// retryAfter is sent as it stands; allow is the Allow header of a 405.
	retryAfter []string
	allow      string
}

// stamp is what [protocolWriter.stamp] has to tell.
type stamp struct {
	elapsed time.Duration
	limits  *limits
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	if plainText(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	quoted, err := json.Marshal(s)
	if err != nil { // a string always has a JSON form
		return append(dst, `""`...)
	}
	return append(dst, quoted...)
}

// plainText reports that s is its own JSON form.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendNullable appends s as a JSON string, or null when it is empty.
func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, s)
}

// appendField appends a key and a whole number as its value.
func appendField(dst []byte, key string, n int) []byte {
	dst = append(dst, key...)
	return strconv.AppendInt(dst, int64(n), 10)
}
