package fake

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// The bounds of a sample: how deep it goes into a schema that refers to
// itself, how many values it has, and how long its texts and lists get.
const (
	sampleDepth    = 12
	sampleValues   = 1024
	maxSampleText  = 4096
	maxSampleItems = 64
)

// sampleOf returns the smallest JSON value that a JSON Schema plainly asks for:
// required members, first alternatives, lower bounds. It knows the parts of
// JSON Schema that tools use; a schema that it cannot read yields {}.
func sampleOf(schema json.RawMessage) []byte {
	var root any
	if len(schema) == 0 || json.Unmarshal(schema, &root) != nil {
		return []byte("{}")
	}
	s := sampler{root: root, left: sampleValues}
	out, err := json.Marshal(s.value(root, sampleDepth))
	if err != nil {
		return []byte("{}")
	}
	return out
}

type sampler struct {
	root any
	left int // values that may still be made
}

// value samples one schema; depth is how much deeper it may go.
func (s *sampler) value(schema any, depth int) any {
	node, ok := schema.(map[string]any)
	if !ok || depth == 0 || s.left == 0 {
		return map[string]any{}
	}
	s.left--
	if ref, ok := node["$ref"].(string); ok {
		return s.value(s.resolve(ref), depth-1)
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := node[key]; ok {
			return v
		}
	}
	for _, key := range []string{"enum", "examples"} {
		if list, ok := node[key].([]any); ok && len(list) > 0 {
			return list[0]
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := node[key].([]any); ok && len(list) > 0 {
			return s.value(list[0], depth-1)
		}
	}
	return s.typed(node, depth)
}

// typed samples a schema by its type.
func (s *sampler) typed(node map[string]any, depth int) any {
	switch typeOf(node) {
	case "string":
		return sampleText(node)
	case "integer":
		return math.Ceil(lowerBound(node))
	case "number":
		return lowerBound(node)
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		return s.list(node, depth)
	default:
		return s.object(node, depth)
	}
}

// typeOf is the type of a schema; of several, the first.
func typeOf(node map[string]any) string {
	switch t := node["type"].(type) {
	case string:
		return strings.ToLower(t)
	case []any:
		if len(t) > 0 {
			if name, ok := t[0].(string); ok {
				return strings.ToLower(name)
			}
		}
	}
	if _, ok := node["items"]; ok {
		return "array"
	}
	return "object"
}

func sampleText(node map[string]any) string {
	text := "text"
	switch node["format"] {
	case "date":
		text = "2026-01-31"
	case "date-time":
		text = "2026-01-31T12:00:00Z"
	case "email":
		text = "someone@example.com"
	case "uri":
		text = "https://example.com/"
	case "uuid":
		text = "00000000-0000-4000-8000-000000000000"
	}
	if least, ok := node["minLength"].(float64); ok && least > float64(len(text)) && least <= maxSampleText {
		text += strings.Repeat("x", int(least)-len(text))
	}
	if most, ok := node["maxLength"].(float64); ok && most >= 0 && most < float64(len(text)) {
		text = text[:int(most)]
	}
	return text
}

func lowerBound(node map[string]any) float64 {
	if v, ok := node["minimum"].(float64); ok {
		return v
	}
	if v, ok := node["exclusiveMinimum"].(float64); ok {
		return v + 1
	}
	if v, ok := node["maximum"].(float64); ok && v < 1 {
		return v
	}
	return 1
}

func (s *sampler) list(node map[string]any, depth int) any {
	items, ok := node["items"]
	if !ok {
		return []any{}
	}
	n := 1
	if least, ok := node["minItems"].(float64); ok && least > 1 {
		n = int(min(least, maxSampleItems))
	}
	out := make([]any, n)
	for i := range out {
		out[i] = s.value(items, depth-1)
	}
	return out
}

// object samples the required members; all of them when none is required.
func (s *sampler) object(node map[string]any, depth int) any {
	properties, _ := node["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	if required, ok := node["required"].([]any); ok && len(required) > 0 {
		names = names[:0]
		for _, r := range required {
			if name, ok := r.(string); ok {
				names = append(names, name)
			}
		}
	}
	out := make(map[string]any, len(names))
	for _, name := range names {
		out[name] = s.value(properties[name], depth-1)
	}
	return out
}

// resolve follows a reference inside the schema, such as #/$defs/point.
func (s *sampler) resolve(ref string) any {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return s.root
	}
	at := s.root
	for part := range strings.SplitSeq(rest, "/") {
		node, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		at = node[part]
	}
	return at
}
