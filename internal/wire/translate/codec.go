package translate

// Protocol names one of the protocols that can be translated.
type Protocol uint8

// The protocols.
const (
	Chat      Protocol = iota // OpenAI's chat completions
	Messages                  // Anthropic's Messages
	Gemini                    // Google's generateContent
	Responses                 // OpenAI's Responses
)

// String returns the protocol as it appears in logs and in configuration.
func (p Protocol) String() string {
	switch p {
	case Chat:
		return "chat"
	case Messages:
		return "messages"
	case Gemini:
		return "gemini"
	case Responses:
		return "responses"
	}
	return "unknown"
}

// For returns the codec of a protocol, false if there is none.
func For(p Protocol) (Codec, bool) {
	switch p {
	case Chat:
		return chatCodec(), true
	case Messages:
		return messagesCodec(), true
	case Gemini:
		return geminiCodec(), true
	case Responses:
		return responsesCodec(), true
	}
	return Codec{}, false
}

// Codec is what one protocol gives. Its functions may be called from several
// goroutines; the decoders and encoders that they return may not be shared.
//
// A Request is read-only once DecodeRequest has returned it: several attempts
// encode the same one. Memory: results may share memory with the body that was
// decoded, which must not change while they are in use.
type Codec struct {
	Protocol Protocol

	// DecodeRequest reads a request of a client. The losses are the fields for
	// which the neutral form has no room. The error is an *InvalidError or an
	// *UnsupportedError.
	DecodeRequest func(body []byte) (*Request, []Loss, error)
	// EncodeRequest writes a request for an upstream. The losses are what of r
	// the protocol has no room for. The error is an *UnsupportedError.
	EncodeRequest func(r *Request, up *Upstream) ([]byte, []Loss, error)

	// DecodeAnswer reads an answer with a good status. r and up are those of
	// EncodeRequest. The error is a *fault.InsideError for an error object, and
	// otherwise wraps fault.ErrUndecodable.
	DecodeAnswer func(body []byte, r *Request, up *Upstream) (*Answer, error)
	// EncodeAnswer appends the answer for a client to dst; r is the request as
	// DecodeRequest read it, model the name that the answer shows.
	EncodeAnswer func(dst []byte, a *Answer, r *Request, model string) []byte

	// NewDecoder and NewEncoder are the same for streams.
	NewDecoder func(r *Request, up *Upstream) Decoder
	NewEncoder func(r *Request, model string) Encoder
}

// Decoder reads the stream of an upstream.
type Decoder interface {
	// Event takes one server-sent event, appends what it stands for to dst and
	// returns the longer slice. An error object in the stream is an event, no
	// error. The error wraps fault.ErrUndecodable and means that the rest cannot be
	// read, and that what was appended before it is all.
	Event(dst []Event, name, data []byte) ([]Event, error)
	// Close says that the body has ended. It appends what is still owed: the end
	// of parts, the finish if the protocol lets it be inferred, EventEnd if the
	// answer is whole. Without EventEnd the stream broke off.
	Close(dst []Event) []Event
}

// Encoder writes the stream for a client.
type Encoder interface {
	// Event appends the framed server-sent events that e stands for to dst and
	// returns the longer slice; nothing if e means nothing to the protocol.
	Event(dst []byte, e *Event) []byte
}

// Upstream is what an encoder must know of the service and the model that it
// writes for. The zero value is a plain one: it is asked for nothing that only
// some have.
type Upstream struct {
	// Model is the upstream's name for the model.
	Model string
	// MaxOutput is the model's own output limit in tokens, used where the
	// protocol demands one and the client said none; 0 if not known.
	MaxOutput int64
	// Version is the interface version of Messages, a date; empty means the
	// oldest.
	Version string
	// Full says that the service takes all fields of its protocol, the newer and
	// rarer ones too, as OpenAI's own does; services that only follow a protocol
	// often refuse what they do not know.
	Full bool
	// Reasons says that the model reasons and can be told how much; a model that
	// does not may refuse to be told.
	Reasons bool
	// Adaptive says that such a model takes an effort and decides for itself how
	// long it thinks (Messages); otherwise it is given a budget.
	Adaptive bool
	// NoStreamOptions says that the service refuses stream_options, and tells the
	// usage of a stream unasked (chat: Mistral).
	NoStreamOptions bool
	// NoSystemRole says that the model refuses instructions that stand in a place
	// of their own: they go to the head of what the user says first (chat, Gemini).
	NoSystemRole bool
	// MaxTokensField is the only name that the service knows for the output limit,
	// openai.MaxTokens or openai.MaxCompletionTokens; empty means the former, with
	// Full the latter (chat).
	MaxTokensField string
	// ThinkTags says that answers begin with what the model thought, between tags
	// (chat).
	ThinkTags bool
	// KeepsReasoning says that the service wants the reasoning of earlier turns
	// back (chat: DeepSeek, Moonshot, Z.ai, Google's chat endpoint).
	KeepsReasoning bool
	// ShortCallIDs says that the ids of calls must be nine letters or digits
	// (chat: Mistral).
	ShortCallIDs bool
	// SchemaOutput says that the model can be held to a JSON schema by the
	// protocol's own means; otherwise it is made to call a tool.
	SchemaOutput bool
}
