package policies

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gatewright/wasm/abi"
)

// withstands asks a policy about the largest request that a client may send, as far
// as the policy looks at it: whoever sends one must not make the policy fail. b is
// nil when it is not bound yet.
func (l *Library) withstands(ctx context.Context, u *Upload, c *compiled, b *Binding) error {
	n := c.reads.granted(&everyGrant)
	switch {
	case b != nil:
		n = c.reads.granted(&b.Grants)
	case c.unready || c.version.Inputs == nil: // nobody can say what it looks at
		return nil
	}
	if !n.metadata && len(n.headers) == 0 && n.text == TextNone {
		return nil
	}
	for _, some := range longTexts {
		in := &input{Input: *probeInput(probeCounts[len(probeCounts)-1])}
		enlarge(&in.Input, &n, some)
		err := (&unit{program: c.program}).decide(ctx, in, &verdict{})
		said, own := errors.AsType[*abi.ReturnedError](err)
		if err == nil || errors.Is(err, errUndefined) || own && said.Code <= abi.CodeOwn { // it may have its reasons
			continue
		}
		return tooLarge(u, c, err)
	}
	return nil
}

// tooLarge says what is wrong with a policy that fails for a large request.
func tooLarge(u *Upload, c *compiled, err error) error {
	p := Problem{
		File: u.file(), Rule: "probe", Message: fmt.Sprintf("asked about the longest text and the most entries that a client can send: %v", err),
		Fix: "look at the beginning of a text alone, as substring(input.request.text, 0, 250)",
	}
	if c.version.Format == FormatWasm {
		p.Fix = "let gw_alloc have room for more, and give the policy less to do"
	}
	return &SourceError{Name: u.Name, Problems: []Problem{p}}
}

// everyGrant is what an author may have in mind who has not bound the policy yet.
var everyGrant = Grants{Text: TextAll, Headers: []string{"x-probe"}}

// longTexts are what long texts are made of: characters that cost a policy the
// most, and words.
var longTexts = [...]string{"é", "\"\n", "a b "}

// enlarge makes an input the largest that a client can make it, of what is needed.
func enlarge(in *abi.Input, n *needs, some string) {
	text := func(size int) string { return strings.Repeat(some, size/abi.JSONSize(some)) }
	in.Granted = n.text != TextNone
	if in.Granted {
		in.Text = text(abi.MaxGranted)
	}
	for _, name := range n.headers {
		in.Headers = append(in.Headers, abi.Tag{Key: name, Value: text(abi.MaxText)})
	}
	if n.metadata {
		for k := range abi.MaxPairs {
			in.Metadata = append(in.Metadata, abi.Tag{Key: fmt.Sprintf("probe-%02d", k), Value: text(maxMetadata/abi.MaxPairs - 20)})
		}
	}
}
