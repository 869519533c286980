package engine

import "encoding/binary"

// Issue is a thing that an upstream issued and that it alone can continue: the
// client names it in a later request, which goes to its owner.
type Issue struct {
	Kind IssueKind
	ID   string // as the client sends it, or a fingerprint of that
}

// IssueKind is the kind of an Issue. The values are stored: they never change.
type IssueKind uint8

// The kinds.
const (
	IssueResponse     IssueKind = 1 // an answer that the upstream keeps
	IssueConversation IssueKind = 2 // a conversation that it keeps
	IssueItem         IssueKind = 3 // an item of either
	IssueSealed       IssueKind = 4 // content that only it can decrypt
)

// Sealed is the issue of a content that only its issuer can decrypt, by a
// fingerprint of it.
func Sealed(fingerprint uint64) Issue {
	return Issue{Kind: IssueSealed, ID: string(binary.BigEndian.AppendUint64(nil, fingerprint))}
}
