package request_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/request"
)

const maxDepth = 4

// taken is what the fields of a body hold that the tests know.
type taken struct {
	Text   string
	Flag   bool
	Number int64
	Items  int
	Index  []int // of the members that were taken, in order
}

var numbers = map[string]int{"text": 1, "flag": 2, "number": 3, "items": 4, "object": 63}

// take reads a body with every method of a Reader.
func take(body []byte, names request.Names) (got taken, err error) {
	r := request.NewReader(body, maxDepth, names)
	if err := r.Enter(); err != nil {
		return got, err
	}
	err = r.Fields(func(key []byte) int { return numbers[string(key)] }, func(field, index int) error {
		got.Index = append(got.Index, index)
		switch field {
		case numbers["text"]:
			return r.TakeText("text", &got.Text)
		case numbers["flag"]:
			return r.TakeFlag("flag", &got.Flag)
		case numbers["number"]:
			return r.TakeInteger("number", 1, 10, &got.Number)
		case numbers["object"]:
			if err := r.Object("object"); err != nil {
				return err
			}
			for r.Member() {
				r.Skip()
			}
			return nil
		}
		return r.Objects("items", func() {
			got.Items++
			for r.Member() {
				r.Skip()
			}
		})
	})
	return got, err
}

func TestReader(t *testing.T) {
	got, err := take([]byte(`{"x":[1],"text":"a\u00e9","x":2,"flag":true,"number":1e1,"items":[{"a":1},{}],"object":{"b":[]}}`), request.Quoted)
	want := taken{Text: "aé", Flag: true, Number: 10, Items: 2, Index: []int{1, 3, 4, 5, 6}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestReaderErrors(t *testing.T) {
	for _, c := range []struct {
		name, body         string
		param, code        string
		quoted, afterParam string // the message: what stands there for all names, or what follows the name
	}{
		{"empty", ``, "", request.CodeJSON, "the body is not valid JSON: the text ends too early at byte 0", ""},
		{"no object", ` 7`, "", request.CodeJSON, "the body must be a JSON object, not a number", ""},
		{"no value at all", `x`, "", request.CodeJSON, "the body is not valid JSON: a value is missing at byte 0", ""},
		{"open", `{"text":"a"`, "", request.CodeJSON, "the body is not valid JSON: the text ends too early at byte 11", ""},
		{"text behind", `{} {}`, "", request.CodeJSON, "the body is not valid JSON: text after the end of the value at byte 3", ""},
		{"too deep in what is not read", `{"x":[[[[]]]]}`, "", request.CodeJSON, "the body is nested deeper than 4 levels", ""},
		{"value missing", `{"text":}`, "", request.CodeJSON, "the body is not valid JSON: a value is missing at byte 8", ""},
		{"broken number", `{"number":-}`, "", request.CodeJSON, "the body is not valid JSON: a digit is missing at byte 11", ""},
		{"model disguised", `{"MODEL":1}`, "MODEL", request.CodeDuplicate, `"MODEL" is not a field; write "model"`, ""},
		{"twice", `{"flag":true,"flag":true}`, "flag", request.CodeDuplicate, "", " stands in the body twice; send it once, an upstream might read the other one"},
		{"the last number twice", `{"object":{},"object":{}}`, "object", request.CodeDuplicate, "", " stands in the body twice; send it once, an upstream might read the other one"},
		{"no text", `{"text":7}`, "text", request.CodeType, "", " must be a string, not a number"},
		{"half a character", `{"text":"\ud800"}`, "text", request.CodeValue, "", ": the string holds half a surrogate pair"},
		{"no flag", `{"flag":"true"}`, "flag", request.CodeType, "", " must be true or false, not a string"},
		{"no number", `{"number":null}`, "number", request.CodeType, "", " must be an integer, not null"},
		{"a fraction", `{"number":1.5}`, "number", request.CodeValue, "", " must be an integer from 1 to 10, not 1.5"},
		{"too small", `{"number":0}`, "number", request.CodeValue, "", " must be an integer from 1 to 10, not 0"},
		{"too large", `{"number":11}`, "number", request.CodeValue, "", " must be an integer from 1 to 10, not 11"},
		{"digits without end", `{"number":` + strings.Repeat("9", 50) + `}`, "number", request.CodeValue, "", " must be an integer from 1 to 10, not " + strings.Repeat("9", 40)},
		{"no object inside", `{"object":[]}`, "object", request.CodeType, "", " must be an object, not an array"},
		{"no array", `{"items":{}}`, "items", request.CodeType, "", " must be an array, not an object"},
		{"empty array", `{"items":[]}`, "items", request.CodeMissing, "", " is missing; the array is empty"},
		{"array that ends early", `{"items":[`, "", request.CodeJSON, "the body is not valid JSON: the text ends too early at byte 10", ""},
	} {
		for _, names := range []request.Names{request.Quoted, request.Bare} {
			want := request.Error{Param: c.param, Code: c.code, Message: c.quoted}
			if c.afterParam != "" {
				want.Message = map[request.Names]string{request.Quoted: `"` + c.param + `"`, request.Bare: c.param}[names] + c.afterParam
			}
			_, err := take([]byte(c.body), names)
			got, ok := errors.AsType[*request.Error](err)
			if !ok {
				t.Errorf("%s: got %v, want a *request.Error", c.name, err)
				continue
			}
			if (got.Err != nil) != (c.code == request.CodeJSON && c.name != "no object") {
				t.Errorf("%s: wraps %v", c.name, got.Err)
			}
			if got.Err = nil; *got != want {
				t.Errorf("%s:\n got %+v\nwant %+v", c.name, *got, want)
			}
		}
	}
}

func TestReaderNamesElements(t *testing.T) {
	const body = `{"items":[{},{},"x"]}`
	for names, want := range map[request.Names]string{
		request.Quoted: `items[2]: "items[2]" must be an object, not a string`,
		request.Bare:   "items.2: items.2 must be an object, not a string",
	} {
		_, err := take([]byte(body), names)
		if e, ok := errors.AsType[*request.Error](err); !ok || e.Param+": "+e.Message != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestReaderTextBytesAndRole(t *testing.T) {
	for body, want := range map[string]int64{`"abc"`: 3, `"\u00e9"`: 2, `""`: 0, `7`: 0, `["abc"]`: 0} {
		r := request.NewReader([]byte(body), maxDepth, request.Quoted)
		if got := r.TextBytes(); got != want || r.Close() != nil {
			t.Errorf("%s: %d bytes of text, want %d; %v", body, got, want, r.Err())
		}
	}
	for body, want := range map[string]request.Part{
		`"system"`: request.PartSystem, `"developer"`: request.PartSystem, `"user"`: request.PartUser,
		`"assistant"`: request.PartOther, `"User"`: request.PartOther, `7`: request.PartOther,
	} {
		r := request.NewReader([]byte(body), maxDepth, request.Quoted)
		if got := r.Role(); got != want || r.Close() != nil {
			t.Errorf("%s: part %d, want %d; %v", body, got, want, r.Err())
		}
	}
}

// FuzzReader holds that any text ends in an *Error that says something, or is an
// object in which each field stands once.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"text":"a","flag":false,"number":3,"items":[{}],"object":{}}`, `{"items":[{},7]}`, `{"text":"\ud83d"}`, `{"Model":1`, `[[[[[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var messages [2]string
		for i, names := range []request.Names{request.Quoted, request.Bare} {
			got, err := take(body, names)
			if err == nil {
				if len(got.Index) > len(numbers) {
					t.Errorf("%d members for %d fields", len(got.Index), len(numbers))
				}
				continue
			}
			e, ok := errors.AsType[*request.Error](err)
			if !ok || e.Code == "" || e.Message == "" {
				t.Fatalf("got %v, want a *request.Error with a code and a message", err)
			}
			messages[i] = fmt.Sprint(e.Code, " ", strings.NewReplacer(`"`, "", "[", ".", "]", "").Replace(e.Message))
		}
		if (messages[0] == "") != (messages[1] == "") {
			t.Errorf("the way of writing names decides: %q, %q", messages[0], messages[1])
		}
	})
}
