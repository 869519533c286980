package gemini

import "gatewright/internal/wire/scan"

// PartKind says what a part of an answer is.
type PartKind uint8

// The kinds of parts and the fields of [Part] that they use beside Signature.
const (
	PartNothing PartKind = iota // it holds a Signature at most
	PartText                    // Text
	PartThought                 // Text: what the model thought
	PartCall                    // Call
	PartBlob                    // MIME, Data
	PartFile                    // MIME, URI
	// PartOther is something that only tools of the upstream's own make, such as
	// code that it ran.
	PartOther
)

// Part is one piece of a candidate's content.
type Part struct {
	Kind PartKind
	Text string
	Call Call
	// MIME and Data, in base64, are of an image or a sound in the answer.
	MIME, Data string
	URI        string
	// Signature is the thoughtSignature: the service wants it back with this
	// part, unchanged.
	Signature string
}

// Call is a function call.
type Call struct {
	ID   string // empty if the service gave none, as it mostly does
	Name string
	// Args is a JSON object, "{}" if there are no arguments. It shares memory with
	// the text that was read unless it came in pieces.
	Args []byte

	pieces []piece
	more   bool // its arguments go on in the next parts
}

// holds reports whether the part is something that a client sees.
func (p *Part) holds() bool {
	switch p.Kind {
	case PartText, PartThought:
		return p.Text != ""
	case PartCall, PartBlob, PartFile, PartOther:
		return true
	case PartNothing:
	}
	return false
}

var noArgs = []byte("{}")

// readPart takes the part that is due.
func readPart(c *scan.Cursor) (p Part) {
	if !c.EnterObject() {
		return Part{}
	}
	thought := false
	for c.Member() {
		switch string(c.Key()) {
		case "text":
			p.Kind, p.Text = PartText, text(c)
		case "thought":
			thought, _ = c.Bool()
		case "thoughtSignature":
			p.Signature = text(c)
		case "functionCall":
			p.Kind, p.Call = PartCall, readCall(c)
		case "inlineData":
			p.Kind = PartBlob
			p.media(c)
		case "fileData":
			p.Kind = PartFile
			p.media(c)
		case "executableCode", "codeExecutionResult", "functionResponse", "toolCall", "toolResponse":
			p.Kind = PartOther
		}
	}
	if thought && p.Kind == PartText {
		p.Kind = PartThought
	}
	return p
}

func (p *Part) media(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch string(c.Key()) {
		case "mimeType":
			p.MIME = text(c)
		case "data":
			p.Data = text(c)
		case "fileUri":
			p.URI = text(c)
		}
	}
}

func readCall(c *scan.Cursor) (call Call) {
	call.Args = noArgs
	if !c.EnterObject() {
		return call
	}
	for c.Member() {
		switch string(c.Key()) {
		case "id":
			call.ID = text(c)
		case "name":
			call.Name = text(c)
		case "args":
			if c.Kind() == scan.KindObject {
				call.Args = c.Raw()
			}
		case "partialArgs":
			call.pieces = readPieces(c)
		case "willContinue":
			call.more, _ = c.Bool()
		}
	}
	return call
}
