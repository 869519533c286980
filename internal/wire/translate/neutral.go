package translate

// Request is a request of any protocol. Strings are decoded text; fields named
// raw in their doc are JSON text that was checked to be valid and is passed on
// as it is. The zero value of a field means that the client did not say.
type Request struct {
	// Model is the model as the client named it.
	Model string

	// System holds the instructions that precede the conversation: parts of
	// KindText only.
	System []Part
	// Turns is the conversation in order.
	Turns []Turn

	Tools      []Tool
	ToolChoice ToolChoice
	// Serial is true if at most one tool may be called in an answer.
	Serial bool

	// MaxOutput is the largest number of output tokens, 0 if not said.
	MaxOutput int64
	Stop      []string
	Sampling  Sampling
	Format    Format
	Thinking  Thinking
	// Verbosity is "low", "medium" or "high".
	Verbosity string

	Stream bool
	// IncludeUsage says that a client that streams wants to be told the usage.
	// Decoders of protocols that always tell it set it.
	IncludeUsage bool

	// User names one end user for the upstream's abuse control.
	User string
	// CacheKey groups requests that share a prefix.
	CacheKey string
	// Cache asks for caching of the whole prompt, without a place.
	Cache CacheMark
	// Tier is a service tier in OpenAI's words: "auto", "default", "flex" or
	// "priority".
	Tier string
	// Metadata is what the client attached for its own use.
	Metadata map[string]string
}

// Role says whose a turn is.
type Role uint8

// The roles. There is none for tools: results are parts of a user's turn.
const (
	RoleUser      Role = iota
	RoleAssistant      // the model
	RoleSystem         // instructions that stand inside the conversation
)

// String returns the role as the protocols write it.
func (r Role) String() string {
	switch r {
	case RoleUser:
		return "user"
	case RoleAssistant:
		return "assistant"
	case RoleSystem:
		return "system"
	}
	return "unknown"
}

// Turn is one message. Decoders put all results of the calls of one assistant's
// turn into one user's turn, before whatever else the user says in it. Turns of
// the same role may follow each other.
type Turn struct {
	Role  Role
	Parts []Part
}

// Kind says what a part is.
type Kind uint8

// The kinds of parts and the fields of [Part] that they use beside Cache and
// Signature.
const (
	KindText      Kind = iota // Text
	KindReasoning             // Text, Redacted
	KindRefusal               // Text: the model's words for a refusal
	KindImage                 // Media
	KindAudio                 // Media
	KindVideo                 // Media
	KindDocument              // Media
	KindCall                  // Call
	KindResult                // Result
)

// String returns the kind as a person would name it.
func (k Kind) String() string {
	switch k {
	case KindText:
		return "text"
	case KindReasoning:
		return "reasoning"
	case KindRefusal:
		return "refusal"
	case KindImage:
		return "image"
	case KindAudio:
		return "audio"
	case KindVideo:
		return "video"
	case KindDocument:
		return "document"
	case KindCall:
		return "tool call"
	case KindResult:
		return "tool result"
	}
	return "unknown"
}

// Part is one piece of a turn or of an answer.
type Part struct {
	Kind Kind
	Text string
	// Redacted marks reasoning that has no text, only a Signature.
	Redacted bool
	Media    Media
	Call     Call
	Result   Result

	// Signature is what the maker wants back with this part, unchanged. It
	// belongs to reasoning (all makers), and to texts and calls (Gemini).
	Signature Signature
	// Cache marks the end of a prefix that is worth caching.
	Cache CacheMark
}

// Signature is opaque text of one maker. No other maker can read it: an encoder
// writes it only if Origin is its own, and otherwise drops it, and with it the
// reasoning that makes no sense without.
type Signature struct {
	Origin Origin
	// ID is the maker's id of the item, empty if it gives none.
	ID string
	// Data is the opaque text itself.
	Data string
}

// Origin names the maker whose services can read a Signature.
type Origin string

// The origins.
const (
	OriginNone      Origin = ""
	OriginAnthropic Origin = "anthropic" // thinking.signature, redacted_thinking.data
	OriginGoogle    Origin = "google"    // thoughtSignature
	OriginOpenAI    Origin = "openai"    // reasoning items: id and encrypted_content
)

// CacheMark is a cache lifetime: empty for no mark, "5m" or "1h".
type CacheMark string

// The cache marks.
const (
	CacheNone  CacheMark = ""
	CacheShort CacheMark = "5m" // also what a mark without a lifetime means
	CacheLong  CacheMark = "1h"
)

// Media is an image, a sound, a video or a document. One of URL, Data, Plain
// and FileID says where it is.
type Media struct {
	URL string
	// Data is base64 of the standard alphabet, as the client sent it; MIME is
	// set with it.
	Data string
	// Plain is the text of a document that is nothing but text.
	Plain string
	// FileID is an id in the upstream's own file store, which only Origin reads.
	FileID string
	Origin Origin

	MIME string // "image/png", "application/pdf", "audio/wav"; may be empty with URL
	Name string // of the file, or the title of a document
	// Detail is "low", "high", "auto" or empty.
	Detail string
}

// Call is a call of a tool by the model.
type Call struct {
	ID   string
	Name string
	// Arguments is the text of the arguments as the model wrote it. It should be
	// a JSON object and may be anything, such as a text that was cut. Of a custom
	// tool it is the free text of its input.
	Arguments string
	// Custom says that the tool takes free text.
	Custom bool
}

// Result is what a call gave.
type Result struct {
	CallID string
	// Name is the name of the tool. Decoders of protocols that do not send it
	// look it up from the call; it is empty if there is no such call.
	Name string
	// Parts are texts, images and documents.
	Parts   []Part
	IsError bool
}

// ToolKind says who runs a tool.
type ToolKind uint8

// The kinds of tools.
const (
	ToolFunction ToolKind = iota // the client; arguments are JSON by a schema
	ToolCustom                   // the client; the input is free text
	ToolServer                   // the upstream, which no other maker has
)

// Tool is a tool that the model may call.
type Tool struct {
	Kind        ToolKind
	Name        string
	Description string
	// Schema is the JSON schema of the arguments, raw; nil for no arguments.
	Schema []byte
	// Strict says that arguments must follow the schema; nil if not said.
	Strict *bool
	// Grammar is the format of a custom tool's input, raw; nil for any text.
	Grammar []byte
	// Type is the type of a server tool, as "web_search_20250305".
	Type  string
	Cache CacheMark
}

// ChoiceMode says whether the model calls a tool.
type ChoiceMode uint8

// The modes.
const (
	ChoiceDefault ChoiceMode = iota // the client did not say
	ChoiceAuto
	ChoiceNone
	ChoiceRequired // some tool
	ChoiceTool     // the tool that is named
)

// ToolChoice says which tools the model must or must not call.
type ToolChoice struct {
	Mode ChoiceMode
	Name string // with ChoiceTool
	// Allowed narrows ChoiceAuto and ChoiceRequired to some of the tools; empty
	// for all.
	Allowed []string
}

// Sampling is how the next token is drawn. A nil field was not said.
type Sampling struct {
	Temperature      *float64
	TopP             *float64
	TopK             *float64
	PresencePenalty  *float64
	FrequencyPenalty *float64
	Seed             *int64
}

// FormatKind says what an answer's text must be.
type FormatKind uint8

// The kinds of formats.
const (
	FormatText   FormatKind = iota // anything; also if the client did not say
	FormatJSON                     // any JSON object
	FormatSchema                   // JSON by a schema
)

// Format is the form that the answer's text must have.
type Format struct {
	Kind        FormatKind
	Name        string
	Description string
	Schema      []byte // raw
	Strict      *bool
}

// Effort is how much a model should think, in OpenAI's words.
type Effort string

// The efforts.
const (
	EffortDefault Effort = "" // the client did not say
	EffortNone    Effort = "none"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Thinking is what the client wants of the model's reasoning.
type Thinking struct {
	Effort Effort
	// Budget is the largest number of tokens to think, 0 if not said; with it
	// Effort may be empty.
	Budget int64
	// Adaptive leaves it to the model how much it thinks.
	Adaptive bool
	// Summary asks for the text of the reasoning: "auto", "concise",
	// "detailed", "none" or empty.
	Summary string
}
