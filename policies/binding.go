package policies

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatewright/engine"
)

// Binding says whom a policy serves, and how. It is data; nobody writes it once
// it is in use.
type Binding struct {
	ID      string // unique
	Policy  string // name
	Managed bool   // the configuration file defines it

	// Whom it serves: requests that match all that are set. An admission policy
	// may set several, a ranking one at most: that is the level whose strategy it
	// becomes.
	Org, Team, Key, Model string

	OnFault    OnFault
	Parameters json.RawMessage // an object, data.params of a Rego policy; nil = {}
	Grants     Grants
	Stateful   bool // the policy may keep a memory between requests

	Tolerance engine.Tolerance // of a ranking's score
	Order     int              // among admission policies, lower first; then by id
}

// OnFault is what becomes of a request when an admission policy cannot decide.
type OnFault uint8

// The ways to go on after a fault.
const (
	FailClosed OnFault = iota // refuse it: 503 policy_error
	FailOpen                  // as if the policy had nothing against it
)

// String returns the name that configuration and API use.
func (o OnFault) String() string {
	if o == FailOpen {
		return "fail_open"
	}
	return "fail_closed"
}

// OnFaultByName returns the way that configuration and API call name; "" is
// FailClosed.
func OnFaultByName(name string) (OnFault, bool) {
	switch name {
	case "", "fail_closed":
		return FailClosed, true
	case "fail_open":
		return FailOpen, true
	}
	return FailClosed, false
}

// Grants are what a binding lets a policy see beyond what every policy sees.
type Grants struct {
	Text    TextGrant
	Headers []string // names in lower case, sorted
}

// TextGrant is how much of the prompt a policy sees.
type TextGrant uint8

// The grants of text.
const (
	TextNone     TextGrant = iota
	TextLastUser           // the text of the user's last message
	TextAll                // the text of the whole conversation
)

// The names of grants. A header is granted as "header." and its name.
const (
	grantText     = "text"
	grantLastUser = "last_user"
	grantHeader   = "header."
)

// maxGrantedHeaders bounds what one policy is given of headers.
const maxGrantedHeaders = 32

// secretHeaders carry credentials: no policy ever sees them.
var secretHeaders = []string{"authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key"}

// GrantsByName reads a list of grants: "text", "last_user", "header.NAME".
func GrantsByName(list []string) (Grants, error) {
	var g Grants
	for _, name := range list {
		switch {
		case name == grantText:
			g.Text = TextAll
		case name == grantLastUser:
			g.Text = max(g.Text, TextLastUser)
		case strings.HasPrefix(name, grantHeader):
			header := strings.ToLower(strings.TrimPrefix(name, grantHeader))
			if header == "" || strings.ContainsFunc(header, notInHeaderName) {
				return Grants{}, fmt.Errorf("grant %q: no name of a header stands behind %q", name, grantHeader)
			}
			if slices.Contains(secretHeaders, header) {
				return Grants{}, fmt.Errorf("grant %q: the header carries a credential, which no policy sees; use the key's name instead (request.key)", name)
			}
			g.Headers = append(g.Headers, header)
		default:
			return Grants{}, fmt.Errorf("grant %q: want %s, %s or %sNAME", name, grantText, grantLastUser, grantHeader)
		}
	}
	slices.Sort(g.Headers)
	g.Headers = slices.Compact(g.Headers)
	if len(g.Headers) > maxGrantedHeaders {
		return Grants{}, fmt.Errorf("%d headers are granted, at most %d", len(g.Headers), maxGrantedHeaders)
	}
	return g, nil
}

// notInHeaderName reports whether c cannot stand in the name of a header (RFC
// 9110, section 5.1).
func notInHeaderName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// Names lists the grants as GrantsByName reads them.
func (g *Grants) Names() []string {
	var list []string
	switch g.Text {
	case TextAll:
		list = append(list, grantText)
	case TextLastUser:
		list = append(list, grantLastUser)
	case TextNone:
	}
	for _, h := range g.Headers {
		list = append(list, grantHeader+h)
	}
	return list
}

// check reports what is wrong with the binding by itself, for a policy of the
// kind.
func (b *Binding) check(kind Kind) error {
	if b.Parameters != nil && !isObject(b.Parameters) {
		return fmt.Errorf("binding %q: parameters: want an object", b.ID)
	}
	if kind == Admission {
		if b.Tolerance != (engine.Tolerance{}) {
			return fmt.Errorf("binding %q: tolerance: %q is an admission policy, which has no scores; remove it", b.ID, b.Policy)
		}
		return nil
	}
	var levels []string
	for _, l := range [...]struct{ name, value string }{{"org", b.Org}, {"team", b.Team}, {"key", b.Key}, {"model", b.Model}} {
		if l.value != "" {
			levels = append(levels, l.name)
		}
	}
	switch {
	case len(levels) > 1:
		return fmt.Errorf("binding %q: %s: a ranking becomes the strategy of one level; name one of them, or none for all requests",
			b.ID, strings.Join(levels, ", "))
	case b.OnFault == FailOpen:
		return fmt.Errorf("binding %q: on_fault: %q is a ranking, whose fault leaves the base order and serves the request; remove it", b.ID, b.Policy)
	case b.Order != 0:
		return fmt.Errorf("binding %q: order: %q is a ranking, and a request has one of them; remove it", b.ID, b.Policy)
	}
	return nil
}

func isObject(text json.RawMessage) bool {
	var m map[string]any
	return json.Unmarshal(text, &m) == nil && m != nil
}

// serves reports whether the binding is for a request of this caller and model.
func (b *Binding) serves(c *engine.Caller, model string) bool {
	return (b.Org == "" || b.Org == c.Org) && (b.Team == "" || b.Team == c.Team) &&
		(b.Key == "" || b.Key == c.Key) && (b.Model == "" || b.Model == model)
}

// parameters is the object of parameters, without the space between its parts.
func (b *Binding) parameters() []byte {
	if b == nil || b.Parameters == nil {
		return []byte("{}")
	}
	var out bytes.Buffer
	if json.Compact(&out, b.Parameters) != nil {
		return []byte("{}") // check has refused it
	}
	return out.Bytes()
}

// granted reports what a policy reads that the binding does not grant: it would
// be absent in every request, and the rule that looks at it silent.
func (b *Binding) granted(reads []string) error {
	for _, path := range reads {
		header, isHeader := strings.CutPrefix(path, "request.headers.")
		if !isHeader {
			header = ""
		}
		switch {
		case path == "request.text" && b.Grants.Text == TextNone:
			return fmt.Errorf("binding %q: %w: the policy %q reads input.request.text, which is not granted; add %s or %s to grant",
				b.ID, ErrInvalid, b.Policy, grantLastUser, grantText)
		case isHeader && !slices.Contains(b.Grants.Headers, header),
			path == "request.headers" && len(b.Grants.Headers) == 0:
			return fmt.Errorf("binding %q: %w: the policy %q reads input.%s, which is not granted; add %s%s to grant",
				b.ID, ErrInvalid, b.Policy, path, grantHeader, cmp.Or(header, "NAME"))
		}
	}
	return nil
}

// stateful is Stateful, false without a binding.
func (b *Binding) stateful() bool { return b != nil && b.Stateful }

// level is the level whose strategy a ranking's binding is, for messages and to
// find two of one level.
func (b *Binding) level() string {
	switch {
	case b.Key != "":
		return "key " + b.Key
	case b.Team != "":
		return "team " + b.Team
	case b.Org != "":
		return "org " + b.Org
	case b.Model != "":
		return "model " + b.Model
	}
	return "all requests"
}
