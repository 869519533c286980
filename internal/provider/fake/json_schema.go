package fake

// schemaDepth is how deep schemas are judged.
const schemaDepth = 32

var schemaTypes = names("object array string number integer boolean null")

// isSchema reports whether a value is a JSON Schema, in the parts that tools use.
func isSchema(v any, depth int) bool {
	node, ok := v.(map[string]any)
	if !ok {
		_, truth := v.(bool)
		return truth
	}
	for key, value := range node {
		if depth > 0 && !isSchemaMember(key, value, depth-1) {
			return false
		}
	}
	return true
}

func isSchemaMember(key string, v any, depth int) bool {
	switch key {
	case "type":
		return isSchemaType(v)
	case "properties", "$defs", "definitions", "patternProperties":
		of, ok := v.(map[string]any)
		for _, one := range of {
			ok = ok && isSchema(one, depth)
		}
		return ok
	case "items", "additionalProperties", "not":
		return isSchema(v, depth)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		list, ok := v.([]any)
		for _, one := range list {
			ok = ok && isSchema(one, depth)
		}
		return ok && len(list) > 0
	case "required":
		list, ok := v.([]any)
		for _, one := range list {
			_, text := one.(string)
			ok = ok && text
		}
		return ok
	case "enum":
		_, ok := v.([]any)
		return ok
	}
	return true
}

// isSchemaType reads the name of a type, or a list of them.
func isSchemaType(v any) bool {
	if name, ok := v.(string); ok {
		return schemaTypes[name]
	}
	list, ok := v.([]any)
	for _, one := range list {
		name, _ := one.(string)
		ok = ok && schemaTypes[name]
	}
	return ok
}
