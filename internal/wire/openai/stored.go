package openai

import (
	"net/http"
	"net/url"
)

// StoredAction is what a client wants of an answer that an upstream keeps.
type StoredAction uint8

// The actions, with their paths below …/responses/{id}.
const (
	StoredGet        StoredAction = iota // GET: the answer, or its stream from some event on
	StoredDelete                         // DELETE
	StoredCancel                         // POST /cancel
	StoredInputItems                     // GET /input_items
)

// Method returns the action's HTTP method.
func (a StoredAction) Method() string {
	switch a {
	case StoredDelete:
		return http.MethodDelete
	case StoredCancel:
		return http.MethodPost
	case StoredGet, StoredInputItems:
	}
	return http.MethodGet
}

// Suffix returns what stands behind the answer's id in the action's path; "" =
// nothing.
func (a StoredAction) Suffix() string {
	switch a {
	case StoredCancel:
		return "cancel"
	case StoredInputItems:
		return "input_items"
	case StoredGet, StoredDelete:
	}
	return ""
}

// Stored is one client request about an answer that an upstream keeps, as it
// travels from the server to an adapter. It is not written after the server made
// it.
type Stored struct {
	Action StoredAction
	ID     string
	Query  url.Values
	Header http.Header // the client's headers that may go upstream
}
