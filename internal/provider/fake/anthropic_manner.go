package fake

import (
	"strconv"
	"strings"
)

// messagesManner is how Anthropic's service tells what is wrong with a request:
// messages.0.content.1.text: Field required.
var messagesManner = manner{
	key: func(path, key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	},
	index: func(path string, i int) string { return path + "." + strconv.Itoa(i) },
	wrong: wrongMessages,
	unknown: func(path, key string) *apiError {
		if path != "" {
			key = path + "." + key
		}
		return wrongMessages(key, "Extra inputs are not permitted")
	},
	absent: func(path string) *apiError { return wrongMessages(path, "Field required") },
	mistyped: func(path, want string, _ any) *apiError {
		return wrongMessages(path, "Input should be a valid "+messagesTypes[want])
	},
	unlisted: func(path string, want []string, _ string) *apiError {
		quoted := make([]string, len(want))
		for i, w := range want {
			quoted[i] = "'" + w + "'"
		}
		list := quoted[0]
		if n := len(quoted) - 1; n > 0 {
			list = strings.Join(quoted[:n], ", ") + " or " + quoted[n]
		}
		return wrongMessages(path, "Input should be "+list)
	},
}

var messagesTypes = map[string]string{
	typeText: "string", typeWhole: "integer", typeNumber: "number", typeTruth: "boolean", typeList: "list", typeObject: "dictionary",
}
