package fake

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSampleOf(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"none", "", "{}"},
		{"no JSON", "{", "{}"},
		{"no schema", "true", "{}"},
		{"required only", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"null"}},"required":["b"]}`, `{"b":null}`},
		{"all when none is required", `{"properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}`, `{"a":"text","b":true}`},
		{"numbers", `{"properties":{"a":{"type":"integer","minimum":2.5},"b":{"type":"number","exclusiveMinimum":3},"c":{"type":"integer","maximum":-4},"d":{"type":"integer"}}}`, `{"a":3,"b":4,"c":-4,"d":1}`},
		{"texts", `{"properties":{"a":{"type":"string","minLength":6},"b":{"type":"string","maxLength":2},"c":{"type":"string","format":"date"},"d":{"type":"string","enum":["x","y"]}}}`, `{"a":"textxx","b":"te","c":"2026-01-31","d":"x"}`},
		{"const, default, examples", `{"properties":{"a":{"const":5},"b":{"default":[1]},"c":{"examples":["e"]}}}`, `{"a":5,"b":[1],"c":"e"}`},
		{"lists", `{"type":"array","items":{"type":"integer"},"minItems":2}`, `[1,1]`},
		{"alternatives", `{"anyOf":[{"type":["string","null"]},{"type":"integer"}]}`, `"text"`},
		{"references", `{"properties":{"p":{"$ref":"#/$defs/a~1b"}},"$defs":{"a/b":{"type":"boolean"}}}`, `{"p":true}`},
		{"upper case", `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, `{"a":"text"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(sampleOf(json.RawMessage(c.schema))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A schema that refers to itself many times over stays small.
func TestSampleIsBounded(t *testing.T) {
	var wide strings.Builder
	wide.WriteString(`{"properties":{"p":{"$ref":"#"}`)
	for i := range 40 {
		fmt.Fprintf(&wide, `,"q%d":{"$ref":"#"}`, i)
	}
	wide.WriteString("}}")
	for _, schema := range []string{
		`{"$ref":"#"}`, `{"properties":{"a":{"$ref":"#"}}}`, wide.String(),
		`{"type":"array","minItems":1e9,"items":{"type":"array","minItems":1e9,"items":{"$ref":"#"}}}`,
		`{"type":"string","minLength":1e12}`,
	} {
		if got := sampleOf(json.RawMessage(schema)); !json.Valid(got) || len(got) > 1<<20 {
			t.Errorf("%.80s: %d bytes", schema, len(got))
		}
	}
}
