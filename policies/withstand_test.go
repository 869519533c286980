package policies

import (
	"strings"
	"testing"

	"gatewright/wasm/abi"
)

// A policy that a client could make fail by the size of what it sends is refused
// when it is uploaded or, if that is known only then, bound.
func TestLargestRequest(t *testing.T) {
	const head = "package gatewright.admission\n\n"
	small := string(testdata(t, "wasm", "answers", "W22-alloc-small.wasm"))
	grantText := Grants{Text: TextAll}
	for _, c := range []struct {
		name, source string
		grants       Grants
		upload, bind string // words of the problem; "" = none
		params       string
	}{
		{"a pattern on the text", head + `deny contains {"code": "x"} if regex.match("(?i)secret|pass(word|phrase)", input.request.text)`, grantText, "", "", ""},
		{"a glob on the text", head + `deny contains {"code": "x"} if glob.match("*secret*", [], input.request.text)`, grantText, "the limit is 1024", "", ""},
		{"a glob on its beginning", head + `deny contains {"code": "x"} if glob.match("*secret*", [], substring(input.request.text, 0, 250))`, grantText, "", "", ""},
		{"each pair of its words", head + `deny contains {"code": "x"} if { words := split(input.request.text, " "); some a in words; some b in words; a == concat("", [b, "x"]) }`, grantText, "used up", "", ""},
		{"the text as a message", head + `deny contains {"code": "x", "message": input.request.text} if contains(input.request.text, "text")`, grantText, "", "", ""},
		{"numbers of all metadata", head + `deny contains {"code": "x"} if { some v in input.request.metadata; to_number(v) > 5 }`, Grants{}, "to_number", "", ""},
		{
			"what a parameter turns on", head + `deny contains {"code": "x"} if { data.params.on == true; glob.match("*secret*", [], input.request.text) }`,
			grantText, "", "the limit is 1024", `{"on": true}`,
		},
		{"a guest with little room, given little", small, Grants{}, "", "", ""},
		{"a guest with little room", small, grantText, "", "no room for", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			err := r.upload("p", []byte(c.source))
			if c.upload != "" {
				refused(t, err, "p.rego", c.upload)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b := Binding{Grants: c.grants}
			if c.params != "" {
				b.Parameters = []byte(c.params)
			}
			r.bind("p", b)
			rules, err := r.library.Rules(t.Context(), r.state, nil, nil)
			if c.bind == "" && err == nil {
				rules.Close()
				return
			}
			if err == nil {
				rules.Close()
				t.Fatal("it is accepted")
			}
			if c.bind == "" || !strings.Contains(err.Error(), c.bind) {
				t.Errorf("got %v, want %q", err, c.bind)
			}
		})
	}
}

// The made-up texts are as long as a client can make them, and what they are made
// of is passed on whole.
func TestEnlarge(t *testing.T) {
	for _, some := range longTexts {
		in := &abi.Input{}
		enlarge(in, &needs{text: TextAll, metadata: true, headers: []string{"a", "b"}}, some)
		if n := abi.JSONSize(in.Text); n < abi.MaxGranted-8 || n > abi.MaxGranted || len(in.Metadata) != abi.MaxPairs || fitting(in.Metadata) != abi.MaxPairs {
			t.Errorf("%q: %d bytes of text, %d of %d entries", some, n, fitting(in.Metadata), len(in.Metadata))
		}
		in.Metadata = append(in.Metadata, in.Metadata[:10]...)
		if n := fitting(in.Metadata); n == len(in.Metadata) {
			t.Errorf("%q: %d entries are within the bounds", some, n)
		}
		in.Metadata = in.Metadata[:abi.MaxPairs]
		if _, err := abi.AppendJSON(nil, in, abi.Admission, abi.All()); err != nil {
			t.Error(err)
		}
	}
}
