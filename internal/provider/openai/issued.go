package openai

import (
	"slices"

	"gatewright/engine"
	"gatewright/internal/wire/responses"
)

// Issues remembers what deployments issued. Its methods run in parallel and must
// not block.
type Issues interface {
	// Put remembers that the deployment issued things to the caller.
	Put(c *engine.Caller, deployment string, issued ...engine.Issue)
	// Forget forgets a thing that was deleted.
	Forget(c *engine.Caller, i engine.Issue)
}

// noIssues remembers nothing.
type noIssues struct{}

// Put implements [Issues].
func (noIssues) Put(*engine.Caller, string, ...engine.Issue) {}

// Forget implements [Issues].
func (noIssues) Forget(*engine.Caller, engine.Issue) {}

// names reports whether the request names anything that the upstream may keep.
func (x *call) names() bool {
	o := x.about
	return o != nil && (o.Response != "" || o.Conversation != "" || o.Prompt != "" || len(o.Items) > 0)
}

// issued remembers what an answer names, before the client can see it. Of an
// answer that the upstream does not keep, only encrypted contents mean something
// later.
func (x *call) issued(o *responses.Owned, kept bool) {
	list := make([]engine.Issue, 0, 2+len(o.Items)+len(o.Encrypted))
	if kept {
		list = append(list, engine.Issue{Kind: engine.IssueResponse, ID: o.Response})
		list = append(list, engine.Issue{Kind: engine.IssueConversation, ID: o.Conversation})
		if o.Conversation == "" && x.about != nil {
			list[1].ID = x.about.Conversation // the request's: it was good
		}
		for _, id := range o.Items {
			list = append(list, engine.Issue{Kind: engine.IssueItem, ID: id})
		}
	}
	for _, sum := range o.Encrypted {
		list = append(list, engine.Sealed(sum))
	}
	list = slices.DeleteFunc(list, func(i engine.Issue) bool { return i.ID == "" })
	if len(list) == 0 {
		return
	}
	x.issues.Put(x.Call.Request.Caller, x.Call.Deployment.ID, list...)
}

// news is the part of what a stream has named so far that it had not named
// before.
type news struct {
	response, conversation string
	item                   string // the newest that was seen
	sum                    uint64
	sealed                 bool // there was a sum
}

// of returns what is new.
func (n *news) of(o *responses.Owned) (fresh responses.Owned, some bool) {
	if o.Response != n.response || o.Conversation != n.conversation {
		n.response, n.conversation = o.Response, o.Conversation
		fresh.Response, fresh.Conversation = o.Response, o.Conversation
		some = true
	}
	if k := len(o.Items); k > 0 && o.Items[k-1] != n.item {
		fresh.Items = o.Items[slices.Index(o.Items, n.item)+1:]
		n.item, some = o.Items[k-1], true
	}
	if k := len(o.Encrypted); k > 0 && (!n.sealed || o.Encrypted[k-1] != n.sum) {
		fresh.Encrypted = o.Encrypted
		if n.sealed {
			fresh.Encrypted = o.Encrypted[slices.Index(o.Encrypted, n.sum)+1:]
		}
		n.sum, n.sealed, some = o.Encrypted[k-1], true, true
	}
	return fresh, some
}
