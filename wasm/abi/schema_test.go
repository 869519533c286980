package abi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatewright/wasm/abi"
)

var keywords = []string{
	"$schema", "title", "description", "type", "properties", "required", "additionalProperties", "patternProperties", "items", "uniqueItems", "enum",
}

// validate checks v against the part of JSON Schema that the schemas use, and
// fails on a keyword that it does not know.
func validate(schema map[string]any, v any, path string) error {
	if choices, ok := schema["anyOf"].([]any); ok {
		var last error
		for _, s := range choices {
			if last = validate(s.(map[string]any), v, path); last == nil {
				return nil
			}
		}
		return last
	}
	for k := range schema {
		if !slices.Contains(keywords, k) {
			return fmt.Errorf("%s: the keyword %s", path, k)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return validateObject(schema, v, path)
	case []any:
		if schema["type"] != "array" {
			return fmt.Errorf("%s is a list", path)
		}
		for i, item := range v {
			if err := validate(schema["items"].(map[string]any), item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	kind := map[string]bool{}
	switch v := v.(type) {
	case nil:
		kind["null"] = true
	case string:
		kind["string"] = true
		if enum, ok := schema["enum"].([]any); ok && !strings.Contains(fmt.Sprint(enum), v) {
			return fmt.Errorf("%s is %q, not one of %v", path, v, enum)
		}
	case bool:
		kind["boolean"] = true
	case json.Number:
		kind["integer"] = !strings.ContainsAny(v.String(), ".eE")
	}
	if !kind[fmt.Sprint(schema["type"])] {
		return fmt.Errorf("%s is %v, not of type %v", path, v, schema["type"])
	}
	return nil
}

func validateObject(schema, v map[string]any, path string) error {
	if schema["type"] != "object" {
		return fmt.Errorf("%s is an object", path)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s.%s is missing", path, name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	for name, value := range v {
		s, ok := properties[name].(map[string]any)
		for pattern, ps := range patterns {
			if !ok && regexp.MustCompile(pattern).MatchString(name) {
				s, ok = ps.(map[string]any), true
			}
		}
		if !ok {
			if s, ok = schema["additionalProperties"].(map[string]any); !ok {
				return fmt.Errorf("%s.%s is unknown", path, name)
			}
		}
		if err := validate(s, value, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// The schema refuses what the JSON form never has.
func TestSchemaRefuses(t *testing.T) {
	base := string(appendJSON(t, &abi.Input{Records: []abi.Candidate{{Region: "eu", PriceIn: 5}}}, abi.Admission, abi.All()))
	for _, tt := range []struct{ name, old, replaced string }{
		{"an unknown field of the request", `"team":""`, `"team":"","teem":""`},
		{"a missing field of the request", `"team":"",`, ``},
		{"null for a text", `"team":""`, `"team":null`},
		{"null for a number", `"price_in":5`, `"price_in":null`},
		{"a fraction", `"price_in":5`, `"price_in":5.5`},
		{"an unknown circuit", `"circuit":"closed"`, `"circuit":"ajar"`},
		{"an unknown facet", `"facets":{`, `"facets":{"regoin":[],`},
		{"an unknown reason", `"skipped":null`, `"skipped":{"reason":"whim"}`},
	} {
		for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
			schema := parse(t, []byte(abi.Schema(stage)))
			if err := validate(schema, parse(t, []byte(base)), "input"); err != nil {
				t.Fatal(err)
			}
			bad := strings.Replace(base, tt.old, tt.replaced, 1)
			if bad == base {
				t.Fatalf("%s: %s is not there", tt.name, tt.old)
			}
			if validate(schema, parse(t, []byte(bad)), "input") == nil {
				t.Errorf("%s %s: accepted", stage, tt.name)
			}
		}
	}
}
