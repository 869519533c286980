package main

import (
	"bytes"
	"encoding/json"

	"gatewright/wasm/abi"
)

// object is a JSON Schema of an object. A map has no order, but encoding/json
// writes it sorted, so the file is always the same.
type object = map[string]any

// schema is the JSON Schema of the input of one stage. What a ranking is given
// differs in the meaning of numbers alone, not in their types.
func schema(s abi.Stage) ([]byte, error) {
	facets := object{}
	for _, name := range abi.FacetNames {
		item := "string"
		if name == "tier" {
			item = "integer"
		}
		facets[name] = object{"type": "array", "items": object{"type": item}, "uniqueItems": true}
	}
	candidate := closed(of(abi.CandidateObject), s)
	doc := object{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"title":                "Input of a policy: " + s.String(),
		"type":                 "object",
		"additionalProperties": false,
		"required":             []string{"v", "request", "caller", "candidates", "facets"},
		"properties": object{
			"v":          object{"type": "integer", "description": "major version of the contract"},
			"request":    closed(of(abi.RequestObject), s),
			"caller":     closed(of(abi.CallerObject), s),
			"candidates": object{"type": "array", "items": candidate, "description": "every candidate of the model, also those that are skipped"},
			"facets": object{
				"type": "object", "properties": facets, "description": "distinct values of the pool, sorted",
				"patternProperties":    object{"^tag\\.": object{"type": "array", "items": object{"type": "string"}}},
				"additionalProperties": false,
			},
		},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return b.Bytes(), err
}

// closed is an object that has the fields and no others.
func closed(fields []abi.Field, s abi.Stage) object {
	properties, required := object{}, []string{}
	for _, f := range fields {
		p := property(f)
		p["description"] = f.Doc
		if f.Median && s == abi.Ranking {
			p["description"] = f.Doc + "; the pool's median where it is not known"
		}
		properties[f.Name] = p
		if !f.Absent {
			required = append(required, f.Name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func property(f abi.Field) object {
	switch f.JSON {
	case abi.Integer:
		return object{"type": "integer"}
	case abi.Bool:
		return object{"type": "boolean"}
	case abi.Map:
		return object{"type": "object", "additionalProperties": object{"type": "string"}}
	case abi.Enum:
		return object{"type": "string", "enum": abi.CircuitNames}
	case abi.SkipState:
		return object{"anyOf": []object{{"type": "null"}, {
			"type":                 "object",
			"additionalProperties": false,
			"required":             []string{"reason"},
			"properties": object{
				"reason":        object{"type": "string", "enum": abi.SkipNames[1:]},
				"until_unix_ms": object{"type": "integer", "description": "absent = it lasts"},
			},
		}}}
	case abi.String, abi.Hidden:
	}
	return object{"type": "string"}
}
