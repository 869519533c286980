package fake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// faultOK names the absence of a fault in a script.
const faultOK = "ok"

// statusPrefix begins the names of the faults that are a status: http-503.
const statusPrefix = "http-"

// Applies says which requests a fault fits.
type Applies string

// The values of [FaultInfo.Applies].
const (
	// AppliesAny fits every request.
	AppliesAny Applies = "any"
	// AppliesStream fits requests that ask for a stream.
	AppliesStream Applies = "stream"
	// AppliesPlain fits requests that ask for one JSON answer (not for sound, nor
	// for a transcript as text).
	AppliesPlain Applies = "plain"
	// AppliesText fits chat, completions, responses, messages and generate_content,
	// streamed or not.
	AppliesText Applies = "text"
	// AppliesMessages fits messages, AppliesGenerate generate_content: what no other
	// protocol can say.
	AppliesMessages Applies = "messages"
	AppliesGenerate Applies = "generate"
)

// FaultInfo is one row of the table of faults, for help texts and pages.
type FaultInfo struct {
	// Name is what a script writes; "http-NNN" stands for each status.
	Name string
	// Class groups the rows: status, answer, encoding, connection, http,
	// stream or framing.
	Class string
	// Does is one sentence: what goes on the wire.
	Does string
	// Applies says which requests the fault fits.
	Applies Applies
	// Params are the parameters that it takes, by their names in a script.
	Params []string
	// Matrix lists the rows of the fault matrix that it plays, such as F12.
	Matrix []string
}

// faultDef is a row of the table and what plays it.
type faultDef struct {
	FaultInfo
	// status is the number of an http-NNN.
	status int
	// tune changes what is going to be said, or how fast; nil for nothing.
	tune func(x *exchange)
	// play answers the request; nil for the normal answer.
	play func(x *exchange)
}

func (f *faultDef) fits(c *call) bool {
	switch f.Applies {
	case AppliesStream:
		return c.stream
	case AppliesPlain:
		return c.plain()
	case AppliesText:
		return c.speaks() || c.endpoint == EndpointCompletions
	case AppliesMessages:
		return c.endpoint == EndpointMessages && (c.stream || f.Class != "stream")
	case AppliesGenerate:
		return c.endpoint == EndpointGenerate
	case AppliesAny:
	}
	return true
}

// paramList names the parameters for a message.
func (f *faultDef) paramList() string {
	if len(f.Params) == 0 {
		return "no parameters"
	}
	return listing(f.Params)
}

// Faults returns the table: every fault that a script can name, grouped by
// class. The caller owns the result.
func Faults() []FaultInfo {
	table := faultTable()
	out := make([]FaultInfo, len(table.rows))
	for i := range table.rows {
		out[i] = table.rows[i].FaultInfo
		out[i].Params = slices.Clone(out[i].Params)
		out[i].Matrix = slices.Clone(out[i].Matrix)
	}
	return out
}

// Elsewhere returns the rows of the fault matrix that no handler can play,
// because they happen before one runs or beneath it, each with how to make it
// happen.
func Elsewhere() []FaultInfo {
	return []FaultInfo{
		{
			Name: "connection refused", Class: "network", Matrix: []string{"F01"},
			Does: "point the gateway at a port of which the listener was closed",
		},
		{
			Name: "no such host", Class: "network", Matrix: []string{"F02"},
			Does: "point the gateway at a host name below .invalid",
		},
		{
			Name: "black hole", Class: "network", Matrix: []string{"F03"},
			Does: "point the gateway at a listener that never accepts and has a full backlog",
		},
		{
			Name: "bad TLS", Class: "network", Matrix: []string{"F04"},
			Does: "serve the handler over TLS with a certificate that is expired, untrusted or of another name, or close during the handshake",
		},
		{
			Name: "closed before the request is read", Class: "network", Matrix: []string{"F05"},
			Does: "accept a connection and close it at once; close, reset and close-on-reuse play the same after the request was read",
		},
		{
			Name: "GOAWAY", Class: "network", Matrix: []string{"F56"},
			Does: "shut an HTTP/2 server down while requests arrive",
		},
	}
}

// table is the fault table with its index by name.
type table struct {
	rows   []faultDef
	byName map[string]*faultDef
	status faultDef // the row of http-NNN
}

var faultTable = sync.OnceValue(func() *table {
	t := &table{byName: map[string]*faultDef{}}
	t.rows = slices.Concat(statusFaults(), answerFaults(), outcomeFaults(), encodingFaults(), connectionFaults(), httpFaults(), streamFaults(), framingFaults())
	for i := range t.rows {
		t.byName[t.rows[i].Name] = &t.rows[i]
	}
	t.status = *t.byName[statusPrefix+"NNN"]
	return t
})

// lookup finds a fault by its name in a script.
func lookup(name string) (*faultDef, bool) {
	t := faultTable()
	if n := statusOf(name); n != 0 {
		def := t.status
		def.Name, def.status, def.Params = name, n, statusParams(n)
		return &def, true
	}
	def, ok := t.byName[name]
	if !ok || def.Name == t.status.Name {
		return nil, false
	}
	return def, true
}

// statusOf is the status that an http-NNN names; 0 when name is none.
func statusOf(name string) int {
	digits, ok := strings.CutPrefix(name, statusPrefix)
	if !ok || len(digits) != 3 {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return n
}

// statusParams are the parameters that an http-NNN has a use for.
func statusParams(status int) []string {
	switch {
	case status < http.StatusOK:
		return params("headers")
	case bodiless(status), status == http.StatusPartialContent:
		return params("retry_after", "headers")
	case status < http.StatusMultipleChoices:
		return params("retry_after", "headers", "body")
	case status < http.StatusBadRequest:
		return params("retry_after", "headers", "body", "location")
	default:
		return params("code", "type", "message", "retry_after", "headers", "body")
	}
}

func faultNames() []string {
	t := faultTable()
	names := []string{faultOK, "http-429", "http-500", "http-503"}
	for i := range t.rows {
		if t.rows[i].Name != t.status.Name {
			names = append(names, t.rows[i].Name)
		}
	}
	return names
}

// bodiless reports that an answer of a status has no body.
func bodiless(status int) bool {
	return status >= 100 && status < 200 || status == http.StatusNoContent ||
		status == http.StatusResetContent || status == http.StatusNotModified
}

// params lists the parameters of a row.
func params(names ...string) []string { return names }
