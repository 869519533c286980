package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// storedAction is what is asked of a response that is kept.
type storedAction int

const (
	storedNone storedAction = iota // no kept response is asked for
	storedGet
	storedDelete
	storedCancel
	storedInputItems
)

// responsesCall is what a call of the Responses endpoints asks for.
type responsesCall struct {
	render func(out *rendering, c *call, a *answer)
	// action, id and behind belong to a kept response: behind is starting_after,
	// -1 for none.
	action storedAction
	id     string
	behind int
	// previous and conversation are what the request continues; references are
	// the ids of items that it names, sealed the encrypted contents in it.
	previous, conversation string
	references, sealed     []string
	// items is the input, each with an id.
	items []json.RawMessage
	// store keeps the answer, background makes it later, seal asks for encrypted
	// reasoning.
	store, background, seal bool
}

// responsesRequest is what the simulation reads of a request; the rest is taken
// as it comes.
type responsesRequest struct {
	Model              string          `json:"model"`
	Input              json.RawMessage `json:"input"`
	Instructions       string          `json:"instructions"`
	Stream             bool            `json:"stream"`
	Store              *bool           `json:"store"`
	Background         bool            `json:"background"`
	Include            []string        `json:"include"`
	PreviousResponseID string          `json:"previous_response_id"`
	Conversation       json.RawMessage `json:"conversation"`
	MaxOutputTokens    *int            `json:"max_output_tokens"`
	Tools              json.RawMessage `json:"tools"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	ParallelToolCalls  *bool           `json:"parallel_tool_calls"`
	Text               struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

// routeResponses knows the paths below /responses; false for every other.
func routeResponses(c *call, r *http.Request, path string) bool {
	rest, ok := strings.CutPrefix(path, "/responses/")
	if !ok || rest == "" {
		return false
	}
	id, suffix, _ := strings.Cut(rest, "/")
	q := &c.responses
	q.id, q.behind = id, -1
	c.endpoint, c.method = EndpointStored, http.MethodGet
	switch {
	case suffix == "" && r.Method == http.MethodDelete:
		q.action, c.method = storedDelete, http.MethodDelete
	case suffix == "":
		q.action = storedGet
		c.stream = r.URL.Query().Get("stream") == "true"
		q.readBehind(r.URL.Query())
	case suffix == "cancel":
		q.action, c.method = storedCancel, http.MethodPost
	case suffix == "input_items":
		q.action = storedInputItems
	default:
		return false
	}
	return true
}

// readBehind reads starting_after.
func (r *responsesCall) readBehind(query url.Values) {
	if n, err := strconv.Atoi(query.Get("starting_after")); err == nil && n >= 0 {
		r.behind = n
	}
}

// decodeResponses reads the body of a request as OpenAI's service does.
func decodeResponses(c *call, body []byte) *apiError {
	c.choices = 1
	c.responses.render = renderResponses
	if c.endpoint == EndpointStored {
		return nil
	}
	var q responsesRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return invalidBody(err)
	}
	if c.model == "" {
		c.model = q.Model
	}
	switch {
	case c.model == "":
		return missing("model", "Missing required parameter: 'model'.")
	case q.PreviousResponseID != "" && len(q.Conversation) > 0:
		return invalid("previous_response_id", "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.")
	case len(q.Input) == 0 && q.PreviousResponseID == "" && len(q.Conversation) == 0:
		return missing("input", "Missing required parameter: 'input'.")
	}
	if q.MaxOutputTokens != nil {
		if *q.MaxOutputTokens < 1 {
			e := invalid("max_output_tokens", fmt.Sprintf("Invalid 'max_output_tokens': %d is less than 1.", *q.MaxOutputTokens))
			e.code = "integer_below_min_value"
			return e
		}
		c.maxTokens = *q.MaxOutputTokens
	}
	return c.responses.read(c, &q)
}

// read takes over what a valid request holds.
func (r *responsesCall) read(c *call, q *responsesRequest) *apiError {
	c.stream = q.Stream && c.endpoint == EndpointResponses
	c.promptTokens = tokensOf(len(q.Input) + len(q.Instructions) + len(q.Tools))
	responsesTools(c, q.Tools, q.ToolChoice)
	c.serial = q.ParallelToolCalls != nil && !*q.ParallelToolCalls
	c.structured, c.schema = strings.HasPrefix(q.Text.Format.Type, "json_"), q.Text.Format.Schema
	r.previous, r.conversation = q.PreviousResponseID, conversationID(q.Conversation)
	r.store = q.Store == nil || *q.Store
	r.background = q.Background
	r.seal = slices.Contains(q.Include, "reasoning.encrypted_content")
	if r.background && !r.store {
		return invalid("background", "Background mode needs 'store' to be true.")
	}
	last, e := r.readInput(q.Input)
	c.last = func() lastMessage { return last }
	return e
}

// conversationID reads an id, or an object with one.
func conversationID(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var object struct{ ID string }
	if json.Unmarshal(raw, &object) != nil {
		return ""
	}
	return object.ID
}

// responsesTools reads the functions that an answer may call, as offeredTools
// does for chat.
func responsesTools(c *call, tools, choice json.RawMessage) {
	var list []struct {
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if len(tools) == 0 || json.Unmarshal(tools, &list) != nil {
		return
	}
	var mode string
	var named struct{ Name string }
	if json.Unmarshal(choice, &mode) != nil && json.Unmarshal(choice, &named) != nil {
		named.Name = ""
	}
	if mode == "none" {
		return
	}
	c.forced = named.Name != "" || mode == "required"
	for _, t := range list {
		if t.Type == "function" && t.Name != "" && (named.Name == "" || named.Name == t.Name) {
			c.tools = append(c.tools, tool{name: t.Name, parameters: t.Parameters})
		}
	}
}

// inputItem is what the simulation reads of an item.
type inputItem struct {
	Type             string          `json:"type"`
	ID               string          `json:"id"`
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	EncryptedContent string          `json:"encrypted_content"`
}

// readInput reads the input: a text, or a list of items.
func (r *responsesCall) readInput(raw json.RawMessage) (last lastMessage, e *apiError) {
	if len(raw) == 0 {
		return last, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		r.items = append(r.items, messageItem(text))
		return lastMessage{role: "user", user: text}, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return last, invalid("input", "Invalid type for 'input': write a text or a list of items.")
	}
	for i, one := range list {
		var item inputItem
		if json.Unmarshal(one, &item) != nil {
			return last, invalid(fmt.Sprintf("input[%d]", i), fmt.Sprintf("Invalid type for 'input[%d]': write an object.", i))
		}
		switch {
		case item.Type == "item_reference":
			r.references = append(r.references, item.ID)
			continue
		case item.Type == "function_call_output":
			last.role = roleTool
		case item.Role != "":
			last.role = item.Role
		}
		if item.Role == "user" {
			last.user = contentText(item.Content)
		}
		if item.EncryptedContent != "" {
			r.sealed = append(r.sealed, item.EncryptedContent)
		}
		r.items = append(r.items, one)
	}
	return last, nil
}

// messageItem is the item that a text as input stands for.
func messageItem(text string) json.RawMessage {
	b := append([]byte(nil), `{"type":"message","role":"user","content":[{"type":"input_text","text":`...)
	return append(appendString(b, text), `}]}`...)
}
