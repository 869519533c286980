package openai

import (
	"slices"

	"gatewright/engine"
	"gatewright/internal/server"
	wire "gatewright/internal/wire/responses"
)

// Owners tell which deployment issued what a request names. Their methods run in
// parallel and must not block.
type Owners interface {
	// Find returns the deployment that issued a thing to the caller.
	Find(c *engine.Caller, i engine.Issue) (deployment string, ok bool)
	// Claimed reports whether any caller has used a conversation.
	Claimed(i engine.Issue) bool
}

// owner returns the deployment that alone can continue what a request names; ""
// = any may serve it.
//
// What is named and not held by the request must be the caller's own: an unknown
// response or item is refused, and so is a conversation of another caller.
// Otherwise one key could read, through the account that they share, what
// belongs to another. A conversation that nobody has used yet may have been made
// at an upstream; it goes the usual way and belongs to whoever answers. What the
// request holds itself, items and encrypted contents, pins it where it is known
// and nothing where it is not: it came from elsewhere, or long ago.
func (r Responses) owner(c *engine.Caller, q *wire.Request) (string, error) {
	o := &q.Owned
	var owner string
	if o.Response != "" {
		var ok bool
		if owner, ok = r.owners.Find(c, engine.Issue{Kind: engine.IssueResponse, ID: o.Response}); !ok {
			return "", notFound(server.CodePreviousNotFound, "previous_response_id", "there is no response with the id %q to continue: begin anew, or send the conversation so far as input", o.Response)
		}
	}
	if o.Conversation != "" {
		issue := engine.Issue{Kind: engine.IssueConversation, ID: o.Conversation}
		issuer, ok := r.owners.Find(c, issue)
		if !ok && r.owners.Claimed(issue) {
			return "", notFound(server.CodeConversationNotFound, "conversation", "there is no conversation with the id %q", o.Conversation)
		}
		owner = first(owner, issuer)
	}
	for _, id := range o.References {
		issuer, ok := r.owners.Find(c, engine.Issue{Kind: engine.IssueItem, ID: id})
		if !ok {
			return "", notFound(server.CodeItemNotFound, "input", "there is no item with the id %q to refer to: send the item itself", id)
		}
		owner = first(owner, issuer)
	}
	for _, sum := range slices.Backward(o.Encrypted) {
		if owner != "" {
			return owner, nil
		}
		owner, _ = r.owners.Find(c, engine.Sealed(sum))
	}
	for _, id := range slices.Backward(o.Items) {
		if owner != "" {
			return owner, nil
		}
		owner, _ = r.owners.Find(c, engine.Issue{Kind: engine.IssueItem, ID: id})
	}
	return owner, nil
}

// first returns the first id that is one.
func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
