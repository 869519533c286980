package translate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

// TestHeldSchemas translates schemas to which an answer of Anthropic's is held:
// into words that its service takes, or not at all.
func TestHeldSchemas(t *testing.T) {
	const closed = `"additionalProperties":false`
	object := func(property string) string {
		return `{"type":"object","properties":{"a":` + property + `},"required":["a"],` + closed + `}`
	}
	many := func(n int, property, required string) string {
		var properties, names []string
		for i := range n {
			properties = append(properties, fmt.Sprintf(`"p%d":%s`, i, property))
			names = append(names, fmt.Sprintf(`"p%d"`, i))
		}
		if required == "all" {
			required = `"required":[` + strings.Join(names, ",") + `],`
		}
		return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},` + required + closed + `}`
	}
	deep := strings.Repeat(`{"type":"array","items":`, 70) + `{"type":"string"}` + strings.Repeat("}", 70)
	tests := []struct {
		name, in, want string // want is empty if the model cannot be held to it
	}{
		{"plain", object(`{"type":"string"}`), object(`{"type":"string"}`)},
		{"an object is closed", `{"type":"object","properties":{"a":{"type":"null"}},"required":["a"],"additionalProperties":true}`, object(`{"type":"null"}`)},
		{"a type that is not said", `{"properties":{"a":{"type":"string"}},"required":["a"]}`, object(`{"type":"string"}`)},
		{"a list whose type is not said", object(`{"items":{"type":"string"}}`), object(`{"type":"array","items":{"type":"string"}}`)},
		{"bounds of a number", object(`{"type":"number","exclusiveMinimum":0,"maximum":1e2,"multipleOf":0.5}`), object(`{"type":"number","description":"(exclusiveMinimum 0, maximum 1e2, multipleOf 0.5)"}`)},
		{"bounds of a text", object(`{"type":"string","description":"A code.","minLength":2,"maxLength":5,"pattern":"^[a-z]+$"}`), object(`{"type":"string","description":"A code. (minLength 2, maxLength 5, pattern \"^[a-z]+$\")"}`)},
		{"bounds of a list", object(`{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":3,"uniqueItems":true}`), object(`{"type":"array","description":"(minItems 2, maxItems 3, uniqueItems true)","items":{"type":"string"}}`)},
		{"a list that is not empty", object(`{"type":"array","items":{"type":"string"},"minItems":1}`), object(`{"type":"array","items":{"type":"string"},"minItems":1}`)},
		{"formats", object(`{"type":"array","items":{"anyOf":[{"type":"string","format":"uuid"},{"type":"string","format":"iban"}]}}`), object(`{"type":"array","items":{"anyOf":[{"type":"string","format":"uuid"},{"type":"string","description":"(format \"iban\")"}]}}`)},
		{"words without meaning", `{"$schema":"s","$id":"i","title":"T","type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","title":"T","properties":{},` + closed + `}`},
		{"examples", object(`{"type":"string","default":"x","examples":["x","y"]}`), object(`{"type":"string","default":"x","description":"(examples [\"x\",\"y\"])"}`)},
		{"a property that has the name of a word", object(`{"type":"object","properties":{"minimum":{"type":"string"}},"required":["minimum"]}`), object(`{"type":"object","properties":{"minimum":{"type":"string"}},"required":["minimum"],` + closed + `}`)},
		{"values", object(`{"enum":["x",1,null,true]}`), object(`{"type":["string","number","null","boolean"],"enum":["x",1,null,true]}`)},
		{"one value", object(`{"const":"x"}`), object(`{"type":"string","const":"x"}`)},
		{"alternatives", object(`{"oneOf":[{"type":"string"},{"type":"null"}],"description":"d"}`), object(`{"anyOf":[{"type":"string"},{"type":"null"}],"description":"d"}`)},
		{"a type or null", object(`{"type":["string","null"]}`), object(`{"type":["string","null"]}`)},
		{"an object or null", object(`{"type":["object","null"],"properties":{"b":{"type":"string"}}}`), object(`{"type":["object","null"],"properties":{"b":{"type":"string"}},` + closed + `}`)},
		{
			"parts", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"],` + closed + `}`,
		},
		{
			"definitions", `{"$ref":"#/$defs/A","$defs":{"A":` + object(`{"$ref":"#/$defs/B"}`) + `,"B":{"type":"string","minLength":1}}}`,
			`{"$ref":"#/$defs/A","$defs":{"A":` + object(`{"$ref":"#/$defs/B"}`) + `,"B":{"type":"string","description":"(minLength 1)"}}}`,
		},
		{
			"words beside a reference", `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/definitions/A"}],"description":"d","default":"x"}},"required":["a"],"definitions":{"A":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/definitions/A"}],"description":"d","default":"x"}},"required":["a"],"definitions":{"A":{"type":"string"}},` + closed + `}`,
		},
		{"as many optional properties as are taken", many(24, `{"type":"string"}`, ""), many(24, `{"type":"string"}`, "")},
		{"as many unions as are taken", many(16, `{"type":["string","null"]}`, "all"), many(16, `{"type":["string","null"]}`, "all")},

		{"too many optional properties", many(25, `{"type":"string"}`, ""), ""},
		{"too many unions", many(17, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, "all"), ""},
		{"a map", object(`{"type":"object","additionalProperties":{"type":"string"}}`), ""},
		{"any object", object(`{"type":"object"}`), ""},
		{"any value", object(`{}`), ""},
		{"any value, in a word", object(`true`), ""},
		{"a list of anything", object(`{"type":"array"}`), ""},
		{"a tuple", object(`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}}`), ""},
		{"an old tuple", object(`{"type":"array","items":[{"type":"string"}]}`), ""},
		{"what it must not be", object(`{"type":"string","not":{"const":"x"}}`), ""},
		{"a condition", `{"type":"object","properties":{"a":{"type":"string"}},"if":{},"then":{}}`, ""},
		{"values that are no plain ones", object(`{"enum":[{"x":1}]}`), ""},
		{"no values", object(`{"type":"string","enum":[]}`), ""},
		{"alternatives of one object", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, ""},
		{"two lists of alternatives", object(`{"anyOf":[{"type":"string"}],"oneOf":[{"type":"string"}]}`), ""},
		{"parts that contradict", object(`{"allOf":[{"type":"string"},{"type":"number"}]}`), ""},
		{"two references", `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]}},"$defs":{"A":{"type":"string"},"B":{"type":"string"}}}`, ""},
		{"a bound beside a reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A","minLength":1}},"$defs":{"A":{"type":"string"}}}`, ""},
		{"itself", object(`{"$ref":"#"}`), ""},
		{"definitions in a circle", `{"$ref":"#/$defs/A","$defs":{"A":` + object(`{"$ref":"#/$defs/B"}`) + `,"B":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`, ""},
		{"a reference to nothing", object(`{"$ref":"#/$defs/A"}`), ""},
		{"a reference elsewhere", object(`{"$ref":"https://example.com/a"}`), ""},
		{"definitions inside", object(`{"$ref":"#/properties/a/$defs/A","$defs":{"A":{"type":"string"}}}`), ""},
		{"too deep", object(deep), ""},
	}
	up := &translate.Upstream{Model: "up", SchemaOutput: true}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + tt.in + `}}}`
			got, _, err := translated(t, translate.Chat, translate.Messages, up, body)
			if err != nil {
				t.Fatal(err)
			}
			var request struct {
				Config struct {
					Format struct{ Schema json.RawMessage }
				} `json:"output_config"`
				Tools []struct {
					Schema json.RawMessage `json:"input_schema"`
				}
			}
			if err := json.Unmarshal([]byte(got), &request); err != nil {
				t.Fatalf("%s: %v", got, err)
			}
			if tt.want == "" {
				if request.Config.Format.Schema != nil || len(request.Tools) != 1 {
					t.Errorf("got %s, want a tool", got)
				}
				return
			}
			if request.Config.Format.Schema == nil {
				t.Fatalf("got %s, want a schema in output_config", got)
			}
			compareJSON(t, tt.want, string(request.Config.Format.Schema))
		})
	}
}

// TestHeldSchemaKeepsTheOrder: models write the properties in the order of the
// schema.
func TestHeldSchemaKeepsTheOrder(t *testing.T) {
	up := &translate.Upstream{Model: "up", SchemaOutput: true}
	body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"z":{"type":"string","maxLength":9},"a":{"type":"string"}},"required":["z","a"]}}}}`
	got, _, err := translated(t, translate.Chat, translate.Messages, up, body)
	if z, a := strings.Index(got, `"z":`), strings.Index(got, `"a":`); err != nil || z < 0 || a < z {
		t.Errorf("got %s, error %v", got, err)
	}
}
