package openai

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"gatewright/internal/wire/form"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// maxFormField is the longest value of a form's field that is read, in bytes.
const maxFormField = 4 << 10

// RawRequest is what one scan found in the body of a byte route, JSON or a form.
type RawRequest struct {
	// Model is the model as the client named it, never empty.
	Model string
	// Stream is true if the client asks for a stream; absent means false.
	Stream bool
	// Text is true if the client asks for an answer that is no JSON: a transcript
	// as plain text or as subtitles.
	Text bool
	// DisableFallbacks is the gateway's own field disable_fallbacks.
	DisableFallbacks bool

	boundary string      // of a form; "" = JSON
	model    span        // the value, of JSON with its quotes
	gone     []scan.Edit // the gateway's own fields
}

// The fields of a byte route that are read.
const (
	rawNone = iota
	rawModel
	rawStream
	rawFormat
	rawDisableFallbacks
)

func rawFieldOf(name string) int {
	switch name {
	case "model":
		return rawModel
	case "stream":
		return rawStream
	case "response_format":
		return rawFormat
	case "disable_fallbacks":
		return rawDisableFallbacks
	}
	return rawNone
}

// ScanRaw reads what routing needs of a byte route's body in one pass.
// formType is the content type of a multipart/form-data body; "" means that
// the body is JSON, nested at most maxDepth levels deep. The error is a
// *request.Error.
//
// Refused are: text that is neither; a model that is missing, empty or a file;
// wrong types of the fields that are read; and a field that is read twice, or
// "model" in another case beside it, because an upstream might read the other
// one. Everything else is the upstream's to judge.
func ScanRaw(formType string, body []byte, maxDepth int) (*RawRequest, error) {
	r := new(RawRequest)
	var err error
	if formType == "" {
		err = r.scanJSON(body, maxDepth)
	} else {
		err = r.scanForm(formType, body)
	}
	switch {
	case err != nil:
		return nil, err
	case r.Model == "":
		return nil, request.Quoted.Missing("model", "name the model to use")
	}
	return r, nil
}

// scanJSON reads a JSON body. A value that is null counts as absent.
func (r *RawRequest) scanJSON(body []byte, maxDepth int) error {
	s := request.NewReader(body, maxDepth, request.Quoted)
	if err := s.Enter(); err != nil {
		return err
	}
	return s.Fields(
		func(key []byte) int { return rawFieldOf(string(key)) },
		func(f, index int) error {
			s.Kind() // brings the position to the value
			m := scan.Member{Index: index, KeyStart: s.KeyStart(), Start: s.Pos()}
			err := r.member(&s, f)
			m.End = s.Pos()
			switch f {
			case rawModel:
				r.model = span{m.Start, m.End}
			case rawDisableFallbacks:
				r.gone = scan.Remove(r.gone, body, m)
			}
			return err
		},
	)
}

// member takes the value of a field in a JSON body.
func (r *RawRequest) member(s *request.Reader, f int) error {
	if s.Null() {
		return nil
	}
	switch f {
	case rawModel:
		return s.TakeText("model", &r.Model)
	case rawStream:
		return s.TakeFlag("stream", &r.Stream)
	case rawDisableFallbacks:
		return s.TakeFlag("disable_fallbacks", &r.DisableFallbacks)
	case rawFormat:
		if raw, _, ok := s.Text(); ok {
			r.Text = plainFormat(string(raw))
		} else {
			s.Skip() // not what it is at OpenAI: the upstream knows better
		}
	}
	return nil
}

// plainFormat reports whether a response_format asks for text that is no JSON.
func plainFormat(format string) bool { return format == "text" || format == "srt" || format == "vtt" }

// scanForm reads a form. An empty value of a flag counts as absent.
func (r *RawRequest) scanForm(contentType string, body []byte) error {
	boundary, err := form.Boundary(contentType)
	if err != nil {
		return &request.Error{Code: request.CodeForm, Message: err.Error(), Err: err}
	}
	r.boundary = boundary
	var seen uint
	err = form.Walk(body, boundary, func(p form.Part) error {
		f := rawFieldOf(p.Name)
		if f == rawNone {
			return request.Disguised([]byte(p.Name))
		}
		if seen&(1<<f) != 0 {
			return request.Quoted.Twice(p.Name)
		}
		seen |= 1 << f
		return r.part(&p, f, body[p.Start:p.End])
	})
	if syntax, ok := errors.AsType[*form.SyntaxError](err); ok {
		return &request.Error{Code: request.CodeForm, Message: "the form cannot be read: " + syntax.Error(), Err: syntax}
	}
	return err
}

// part takes the value of a field in a form.
func (r *RawRequest) part(p *form.Part, f int, value []byte) error {
	switch {
	case p.File || p.Encoded:
		return &request.Error{Param: p.Name, Code: request.CodeType, Message: fmt.Sprintf("%q must be a plain field of the form, not a file and not encoded", p.Name)}
	case len(value) > maxFormField:
		return &request.Error{Param: p.Name, Code: request.CodeValue, Message: fmt.Sprintf("%q has more than %d bytes", p.Name, maxFormField)}
	case !utf8.Valid(value):
		return &request.Error{Param: p.Name, Code: request.CodeValue, Message: fmt.Sprintf("%q is not valid UTF-8", p.Name)}
	}
	text := string(value)
	switch f {
	case rawModel:
		r.Model, r.model = text, span{p.Start, p.End}
	case rawStream:
		return formFlag(p.Name, text, &r.Stream)
	case rawDisableFallbacks:
		r.gone = append(r.gone, scan.Edit{Start: p.From, End: p.To})
		return formFlag(p.Name, text, &r.DisableFallbacks)
	case rawFormat:
		r.Text = plainFormat(text)
	}
	return nil
}

// formFlag reads true or false in the spellings of common languages.
func formFlag(name, text string, into *bool) error {
	if text == "" {
		return nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return &request.Error{Param: name, Code: request.CodeValue, Message: fmt.Sprintf("%q must be true or false, not %.40q", name, text)}
	}
	*into = value
	return nil
}

// FormType returns the content type of a form in one spelling that no two
// readers read differently; "" if the body is JSON.
func (r *RawRequest) FormType() string {
	if r.boundary == "" {
		return ""
	}
	return form.ContentType(r.boundary)
}

// Rewrite appends body, which must be the text that was scanned or a copy of
// it, to dst with another model and returns the longer slice; an empty model
// leaves the client's. The field disable_fallbacks is taken out; every other
// byte is the client's. The model must hold no line break. Rewrite may be
// called many times and from several goroutines.
func (r *RawRequest) Rewrite(dst, body []byte, model string) []byte {
	var room [2]scan.Edit
	edits := append(room[:0], r.gone...)
	if model != "" && model != r.Model {
		text := []byte(model)
		if r.boundary == "" {
			text = scan.AppendString(nil, model)
		}
		edits = append(edits, scan.Edit{Start: r.model.start, End: r.model.end, Text: text})
	}
	slices.SortFunc(edits, byStart)
	return scan.Splice(slices.Grow(dst, len(body)+len(model)), body, edits)
}
