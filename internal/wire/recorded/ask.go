package recorded

import (
	"encoding/json"
	"fmt"
)

// Ask is how a client asks.
type Ask struct {
	Client Protocol
	Stream bool
	Usage  bool // that of a stream is asked for, where it must be: in chat completions
}

// String names the client and the form of the answer that it wants.
func (q Ask) String() string {
	if q.Stream {
		return string(q.Client) + ", streamed"
	}
	return string(q.Client)
}

// thinks are the words in which clients ask to see what the model thought.
var thinks = map[Protocol]string{
	Chat:      `"reasoning_effort":"high"`,
	Messages:  `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}`,
	Responses: `"reasoning":{"effort":"high","summary":"auto"}`,
}

// freeText offers the tool that an answer calls with free text.
var freeText = map[Protocol]string{
	Chat:      `"tools":[{"type":"custom","custom":{"name":"write_sql"}}]`,
	Messages:  `"tools":[{"name":"write_sql","input_schema":{"type":"object"}}]`,
	Responses: `"tools":[{"type":"custom","name":"write_sql"}]`,
}

// Body is a request to a model that the recorded answer can be given to.
func (q Ask) Body(model, prompt string, a *Answer) string {
	quoted, err := json.Marshal(prompt)
	if err != nil {
		panic(err) // no text is refused
	}
	members := fmt.Sprintf(`"messages":[{"role":"user","content":%s}]`, quoted)
	switch {
	case q.Client == Messages:
		members += `,"max_tokens":1000`
	case q.Client == Responses:
		members = fmt.Sprintf(`"input":%s`, quoted)
	case q.Stream && q.Usage:
		members += `,"stream_options":{"include_usage":true}`
	}
	members += "," + thinks[q.Client]
	if a.FreeText {
		members += "," + freeText[q.Client]
	}
	return fmt.Sprintf(`{"model":%q,"stream":%v,%s}`, model, q.Stream, members)
}
