package fake

// unheld are the members of a schema to which an answer cannot be held.
var unheld = names("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems minProperties maxProperties")

// strictSchema judges a schema to which an answer is held: each object names all
// that it may have, and bounds of numbers and lengths are not held.
func (m *messagesCheck) strictSchema(p place) {
	if !p.set() {
		return
	}
	if !isSchema(p.v, schemaDepth) {
		p.refuse("JSON schema is invalid")
		return
	}
	m.heldTo(p, p.v, schemaDepth)
}

func (m *messagesCheck) heldTo(p place, v any, depth int) {
	node, ok := v.(map[string]any)
	if !ok || depth == 0 {
		return
	}
	kind := typeOf(node)
	if _, named := node["type"]; named && kind == typeObject {
		if closed, ok := node["additionalProperties"].(bool); !ok || closed {
			p.refuse("For 'object' type, 'additionalProperties' must be explicitly set to false")
		}
	}
	for key, value := range node {
		switch {
		case unheld[key]:
			p.refuse("For '%s' type, property '%s' is not supported", kind, key)
		case key == "properties" || key == "$defs" || key == "definitions":
			of, _ := value.(map[string]any)
			for _, one := range of {
				m.heldTo(p, one, depth-1)
			}
		case key == "anyOf" || key == "allOf":
			list, _ := value.([]any)
			for _, one := range list {
				m.heldTo(p, one, depth-1)
			}
		case key == "oneOf":
			p.refuse("Schema type 'oneOf' is not supported")
		case key == "items":
			m.heldTo(p, value, depth-1)
		}
	}
}
