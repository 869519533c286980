package fake

import (
	"fmt"
	"net/http"
	"strconv"
)

// geminiManner is how Google's service tells what is wrong with a request. Names
// may be written in camelCase or in snake_case.
var geminiManner = manner{
	snake: true,
	key: func(path, key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	},
	index: func(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" },
	wrong: func(path, problem string) *apiError {
		if path != "" {
			problem = "GenerateContentRequest." + path + ": " + problem
		}
		return wrongGemini(problem)
	},
	unknown: func(path, key string) *apiError {
		at := ""
		if path != "" {
			at = " at '" + path + "'"
		}
		return wrongGemini("Invalid JSON payload received. Unknown name " + strconv.Quote(key) + at + ": Cannot find field.")
	},
	absent: func(path string) *apiError {
		return wrongGemini("GenerateContentRequest." + path + ": required field is missing")
	},
	mistyped: func(path, want string, got any) *apiError {
		return wrongGemini(fmt.Sprintf("Invalid value at '%s' (%s), %v", path, geminiTypes[want], got))
	},
	unlisted: func(path string, _ []string, got string) *apiError {
		return wrongGemini(fmt.Sprintf("Invalid value at '%s' (TYPE_ENUM), %q", path, got))
	},
}

var geminiTypes = map[string]string{
	typeText: "TYPE_STRING", typeWhole: "TYPE_INT32", typeNumber: "TYPE_FLOAT", typeTruth: "TYPE_BOOL",
	typeList: "a list", typeObject: "a message",
}

// wrongGemini is a refusal of a request.
func wrongGemini(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, typ: "INVALID_ARGUMENT", message: message}
}
