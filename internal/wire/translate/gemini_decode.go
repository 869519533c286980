package translate

import (
	"strconv"
	"strings"

	"gatewright/internal/wire/scan"
)

// decodeGeminiRequest reads the body of a generateContent request. The model and
// whether the answer is streamed stand in its path: the caller sets them.
func decodeGeminiRequest(body []byte) (*Request, []Loss, error) {
	d := geminiRequestDecoder{reader: newReader(body), r: &Request{IncludeUsage: true}}
	d.object(d.member)
	if err := d.finish(); err != nil {
		return nil, nil, err
	}
	if len(d.r.Turns) == 0 {
		return nil, nil, invalid("contents", "is missing; it is what the model answers to")
	}
	return d.r, d.losses, nil
}

// geminiRequestDecoder reads one request. The service takes its fields in both
// spellings, camelCase and snake_case.
type geminiRequestDecoder struct {
	*reader
	r *Request

	calls int      // so far
	open  []string // ids of calls without a result, oldest first
	names []string // theirs
}

// camel returns the key of the member at hand in camelCase.
func (d *geminiRequestDecoder) camel() string {
	key := string(d.Key())
	if !strings.Contains(key, "_") {
		return key
	}
	parts := strings.Split(key, "_")
	for i := 1; i < len(parts); i++ {
		if p := parts[i]; p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

func (d *geminiRequestDecoder) member() {
	switch d.camel() {
	case "contents":
		d.array(func(int) { d.content() })
	case "systemInstruction":
		d.object(func() {
			if d.camel() == "parts" {
				d.array(func(int) { d.instruction() })
			}
		})
	case "tools":
		d.array(func(int) { d.tool() })
	case "toolConfig":
		d.object(func() {
			if d.camel() == "functionCallingConfig" {
				d.choice()
				return
			}
			d.unknown()
		})
	case "generationConfig":
		d.object(d.config)
	case "labels":
		d.r.Metadata = map[string]string{}
		d.object(func() {
			key := string(d.Key())
			d.r.Metadata[key] = d.text()
		})
	case "cachedContent":
		d.unsupported("a cached content is known only to its own upstream; send it whole")
	case "model":
		d.r.Model = strings.TrimPrefix(d.text(), "models/")
	case "safetySettings":
		d.drop("other makers have no such thresholds")
	default:
		d.unknown()
	}
}

func (d *geminiRequestDecoder) instruction() {
	d.object(func() {
		if d.camel() == "text" {
			d.r.System = append(d.r.System, Part{Kind: KindText, Text: d.text()})
			return
		}
		d.unknown()
	})
}

func (d *geminiRequestDecoder) content() {
	var role string
	var parts []Part
	d.object(func() {
		switch d.camel() {
		case "role":
			role = d.text()
		case "parts":
			d.array(func(int) {
				if p, ok := d.part(); ok {
					parts = append(parts, p)
				}
			})
		default:
			d.unknown()
		}
	})
	turn := Turn{Role: RoleUser, Parts: parts}
	switch role {
	case "model":
		turn.Role = RoleAssistant
	case "", "user", "function":
	default:
		d.invalid("the role must be user or model, not %.40q", role)
	}
	d.r.Turns = append(d.r.Turns, turn)
}

// part takes a part; it is false for one that holds nothing that counts.
func (d *geminiRequestDecoder) part() (p Part, ok bool) {
	thought, text := false, false
	d.object(func() {
		switch d.camel() {
		case "text":
			p.Text, text, ok = d.text(), true, true
		case "thought":
			thought = d.flag()
		case "thoughtSignature":
			if data := d.text(); data != unsigned {
				p.Signature = googleSignature(data)
			}
		case "inlineData", "fileData":
			p.Kind, p.Media, ok = d.blob()
		case "functionCall":
			p.Kind, p.Call, ok = KindCall, d.call(), true
		case "functionResponse":
			p.Kind, p.Result, ok = KindResult, d.response(), true
		case "executableCode", "codeExecutionResult":
			d.drop("what a tool of the upstream's own did")
		default:
			d.unknown()
		}
	})
	if text && thought {
		p.Kind = KindReasoning
		p.Redacted = p.Text == ""
	}
	return p, ok
}

func (d *geminiRequestDecoder) blob() (Kind, Media, bool) {
	var m Media
	d.object(func() {
		switch d.camel() {
		case "mimeType":
			m.MIME = d.text()
		case "data":
			m.Data = d.text()
		case "fileUri":
			m.URL = d.text()
		case "displayName":
			m.Name = d.text()
		default:
			d.unknown()
		}
	})
	if strings.Contains(m.URL, "generativelanguage.googleapis.com/") || strings.HasPrefix(m.URL, "gs://") {
		m.FileID, m.Origin, m.URL = m.URL, OriginGoogle, ""
	}
	kind := KindDocument
	switch family, _, _ := strings.Cut(m.MIME, "/"); family {
	case "image":
		kind = KindImage
	case "audio":
		kind = KindAudio
	case "video":
		kind = KindVideo
	}
	return kind, m, true
}

func (d *geminiRequestDecoder) call() (c Call) {
	c.Arguments = "{}"
	d.object(func() {
		switch d.camel() {
		case "id":
			c.ID = d.text()
		case "name":
			c.Name = d.text()
		case "args":
			c.Arguments = string(d.raw())
		default:
			d.unknown()
		}
	})
	d.calls++
	if c.ID == "" {
		c.ID = "call_" + strconv.Itoa(d.calls)
	}
	d.open, d.names = append(d.open, c.ID), append(d.names, c.Name)
	return c
}

// response takes what a function gave. Without an id it belongs to the oldest
// call of the function that has no result yet.
func (d *geminiRequestDecoder) response() (r Result) {
	d.object(func() {
		switch d.camel() {
		case "id":
			r.CallID = d.text()
		case "name":
			r.Name = d.text()
		case "response":
			d.output(&r)
		default:
			d.unknown()
		}
	})
	for i, id := range d.open {
		if r.CallID == id || r.CallID == "" && d.names[i] == r.Name {
			r.CallID = id
			d.open = append(d.open[:i:i], d.open[i+1:]...)
			d.names = append(d.names[:i:i], d.names[i+1:]...)
			break
		}
	}
	return r
}

// output takes a response: {"output": …}, {"error": …}, or an object that is
// itself the output.
func (d *geminiRequestDecoder) output(r *Result) {
	d.Kind() // brings the position to the value
	start := d.Pos()
	var value []byte
	members := 0
	d.object(func() {
		members++
		switch key := string(d.Key()); key {
		case "output", "error":
			value, r.IsError = d.raw(), key == "error"
		default:
			d.raw()
		}
	})
	if members != 1 || value == nil {
		r.IsError = false
		c := d.Sub(start, d.Pos())
		value = c.Raw()
	}
	text := string(value)
	if len(value) > 0 && value[0] == '"' {
		var err error
		if text, err = scan.String(value); err != nil {
			d.invalid("the %v", err)
		}
	}
	r.Parts = []Part{{Kind: KindText, Text: text}}
}
