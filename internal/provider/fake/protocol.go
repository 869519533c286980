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
	// failure is the body of an error answer and of an error in a stream.
	failure(c *call, e *apiError) []byte
	// stamp sets the headers that the maker sends with every answer.
	stamp(h http.Header, c *call, s stamp)
}

// protocols are asked in this order; the first that knows a path has it.
var protocols = []protocol{openAI{}}

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
	// tool is the function that an answer would call; nil for none.
	tool *tool
	// structured is set when the content must be JSON, of schema if not nil.
	structured bool
	schema     json.RawMessage
	// inputs, dimensions and base64 belong to embeddings.
	inputs     []string
	dimensions int
	base64     bool
	// media is what images, audio, moderations and rerank ask for.
	media mediaCall
	// responses is what the Responses endpoints ask for.
	responses responsesCall
}

// plain reports whether one JSON answer is asked for.
func (c *call) plain() bool { return !c.stream && c.media.contentType == "" }

// pieces reports whether the answer goes out in pieces: a stream, or sound.
func (c *call) pieces() bool { return c.stream || c.media.sound != "" }

// answerType is the content type of the normal answer.
func (c *call) answerType() string {
	switch {
	case c.stream:
		return contentStream
	case c.media.contentType != "":
		return c.media.contentType
	}
	return contentJSON
}

// lastMessage is how a conversation ends.
type lastMessage struct {
	// role is that of the last message.
	role string
	// user is the text of the last message of a user.
	user string
}

// tool is a function that a request offers.
type tool struct {
	name       string
	parameters json.RawMessage
	// forced is set when the request leaves no choice.
	forced bool
}

// apiError is an error as a maker's API tells it.
type apiError struct {
	status int
	// typ, code and param are null in OpenAI's form when empty. A code of
	// digits alone is a number.
	typ, code, param string
	message          string
	// extra is further members of the error object: JSON without braces.
	extra string
	// retryAfter is sent as it stands; allow is the Allow header of a 405.
	retryAfter []string
	allow      string
}

// stamp is what [protocolWriter.stamp] has to tell.
type stamp struct {
	requestID string
	elapsed   time.Duration
	limits    *limits
}

// frameKind says what an event of a stream is for.
type frameKind int

const (
	framePrelude frameKind = iota // before the role: no choices
	frameRole
	frameContent // text, reasoning, refusal or a piece of a tool call
	frameFinish
	frameUsage
	frameDone
)

// frame is one event of a stream: the bounds of its data in a rendering.
type frame struct {
	kind frameKind
	// paced is set where the next piece of content begins.
	paced bool
	// from is where the framing begins.
	from, lo, hi int
}

// The framing that a rendering holds around the data of each event.
const (
	framePrefix = "data: "
	frameSuffix = "\n\n"
)

// rendering is an answer in a wire format. Of a stream, buf holds the events
// one after the other, framed.
type rendering struct {
	buf    []byte
	frames []frame
	// bare is set when the frames are pieces of one body and no events.
	bare bool
	// The list of answers in a body that is not streamed: where its key
	// begins, and where its value does and ends.
	key, lo, hi int
}

func (o *rendering) reset() {
	o.buf, o.frames = o.buf[:0], o.frames[:0]
	o.key, o.lo, o.hi, o.bare = 0, 0, 0, false
}

// begin opens the data of a new event.
func (o *rendering) begin(kind frameKind, paced bool) { o.beginNamed(kind, paced, "") }

// beginNamed opens the data of a new event that has a name, unless that is
// empty.
func (o *rendering) beginNamed(kind frameKind, paced bool, name string) {
	from := len(o.buf)
	if name != "" {
		o.buf = append(append(append(o.buf, "event: "...), name...), '\n')
	}
	if !o.bare {
		o.buf = append(o.buf, framePrefix...)
	}
	o.frames = append(o.frames, frame{kind: kind, paced: paced, from: from, lo: len(o.buf)})
}

// end closes the event that begin opened.
func (o *rendering) end() {
	o.frames[len(o.frames)-1].hi = len(o.buf)
	if !o.bare {
		o.buf = append(o.buf, frameSuffix...)
	}
}

// data is the payload of one event.
func (o *rendering) data(i int) []byte { return o.buf[o.frames[i].lo:o.frames[i].hi] }

// framed holds the events from i to j-1 as they go on the wire.
func (o *rendering) framed(i, j int) []byte {
	if i >= j {
		return nil
	}
	end := len(o.buf)
	if j < len(o.frames) {
		end = o.frames[j].from
	}
	return o.buf[o.frames[i].from:end]
}

// first returns the index of the first event of a kind or later kind.
func (o *rendering) first(kind frameKind) int {
	for i := range o.frames {
		if o.frames[i].kind >= kind {
			return i
		}
	}
	return len(o.frames)
}

// upTo returns the index of the event that follows the first n content events;
// when there are fewer, of the one that follows them all.
func (o *rendering) upTo(n int) int {
	i := o.first(frameContent)
	for ; n > 0 && i < len(o.frames) && o.frames[i].kind == frameContent; i++ {
		n--
	}
	return i
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
