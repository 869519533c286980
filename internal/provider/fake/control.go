package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// controlPrefix is the path of the controls; no upstream's name can begin so.
const controlPrefix = "/_sim/"

// maxBehaviour bounds a behaviour that is posted, in bytes.
const maxBehaviour = 1 << 20

// The answers of the controls, as JSON. These names only grow.
type (
	stateReply struct {
		Seed      uint64                   `json:"seed"`
		Upstreams map[string]upstreamReply `json:"upstreams"`
	}
	upstreamReply struct {
		Calls     int            `json:"calls"`
		InFlight  int            `json:"in_flight"`
		Cancelled int            `json:"cancelled"`
		Statuses  map[int]int    `json:"statuses"`
		Faults    map[string]int `json:"faults"`
		Script    *scriptReply   `json:"script,omitempty"`
		Requests  []seenReply    `json:"requests,omitempty"`
	}
	scriptReply struct {
		Decided int64 `json:"decided"`
		Total   int64 `json:"total"`
		Repeat  bool  `json:"repeat"`
	}
	seenReply struct {
		Call       int         `json:"call"`
		Time       time.Time   `json:"time"`
		DurationMS float64     `json:"duration_ms"`
		Method     string      `json:"method"`
		Path       string      `json:"path"`
		Query      string      `json:"query,omitempty"`
		Header     http.Header `json:"header"`
		BodySHA256 string      `json:"body_sha256"`
		Size       int64       `json:"size"`
		Model      string      `json:"model,omitempty"`
		Stream     bool        `json:"stream"`
		Fault      string      `json:"fault,omitempty"`
		Status     int         `json:"status"`
		Cancelled  bool        `json:"cancelled"`
		Finished   bool        `json:"finished"`
	}
	faultsReply struct {
		Faults    []faultReply `json:"faults"`
		Elsewhere []faultReply `json:"not_played_here"`
	}
	faultReply struct {
		Name    string   `json:"name"`
		Class   string   `json:"class"`
		Does    string   `json:"does"`
		Applies Applies  `json:"applies,omitempty"`
		Params  []string `json:"params,omitempty"`
		Matrix  []string `json:"matrix,omitempty"`
	}
)

// control serves the paths below /_sim/; false when the path is none of them.
func (u *Upstreams) control(w http.ResponseWriter, r *http.Request) bool {
	path, ok := strings.CutPrefix(r.URL.Path, controlPrefix)
	if !ok {
		return false
	}
	name, one := strings.CutPrefix(path, "upstreams/")
	switch {
	case path == "state":
		u.controlGet(w, r, func() any { return u.state() })
	case path == "faults":
		u.controlGet(w, r, func() any { return faultsReply{faultReplies(Faults()), faultReplies(Elsewhere())} })
	case path == "reset":
		if allow(w, r, http.MethodPost) {
			u.Reset()
			w.WriteHeader(http.StatusNoContent)
		}
	case one:
		u.controlUpstream(w, r, name)
	default:
		writeError(w, http.StatusNotFound, "no such control; there are: GET /_sim/state, GET /_sim/faults, POST /_sim/reset, GET and POST /_sim/upstreams/NAME")
	}
	return true
}

func (u *Upstreams) controlGet(w http.ResponseWriter, r *http.Request, reply func() any) {
	if allow(w, r, http.MethodGet) {
		writeJSON(w, http.StatusOK, reply())
	}
}

func (u *Upstreams) controlUpstream(w http.ResponseWriter, r *http.Request, name string) {
	up, ok := u.byName[name]
	switch {
	case !ok:
		writeError(w, http.StatusNotFound, fmt.Sprintf("no upstream %q; there are: %s", name, listing(u.Names())))
	case r.Method == http.MethodGet:
		reply := up.reply()
		for _, s := range up.requests() {
			reply.Requests = append(reply.Requests, seenOf(&s))
		}
		writeJSON(w, http.StatusOK, reply)
	case allow(w, r, http.MethodGet, http.MethodPost):
		u.controlSet(w, r, up)
	}
}

func (u *Upstreams) controlSet(w http.ResponseWriter, r *http.Request, up *upstream) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBehaviour))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a behaviour has at most %d bytes", maxBehaviour))
		return
	}
	if err != nil {
		return // the client left
	}
	b, err := ParseBehaviour("behaviour", data)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	up.set(&b)
	writeJSON(w, http.StatusOK, up.reply())
}

func (u *Upstreams) state() stateReply {
	s := stateReply{Seed: u.seed, Upstreams: make(map[string]upstreamReply, len(u.byName))}
	for name, up := range u.byName {
		s.Upstreams[name] = up.reply()
	}
	return s
}

// reply is the state of one upstream, without its requests.
func (up *upstream) reply() upstreamReply {
	up.mu.Lock()
	defer up.mu.Unlock()
	out := upstreamReply{
		Calls: up.calls, InFlight: up.open, Cancelled: up.cancelled,
		Statuses: maps.Clone(up.statuses), Faults: maps.Clone(up.faults),
	}
	beh := up.beh.Load()
	if decided, total := beh.progress(); total > 0 {
		out.Script = &scriptReply{Decided: decided, Total: total, Repeat: beh.repeat}
	}
	return out
}

// credentialHeaders are masked where people see them: a gateway under test may
// hold a real key.
var credentialHeaders = []string{"Authorization", "Api-Key", "X-Api-Key", headerGoogleKey, "Cookie", "Proxy-Authorization"}

func seenOf(s *Seen) seenReply {
	h := s.Header.Clone()
	for _, name := range credentialHeaders {
		if h.Get(name) != "" {
			h.Set(name, "***")
		}
	}
	ended := s.Ended
	if ended.IsZero() {
		ended = time.Now()
	}
	return seenReply{
		Call: s.Call, Time: s.Time, DurationMS: float64(ended.Sub(s.Time).Microseconds()) / 1000,
		Method: s.Method, Path: s.Path, Query: maskedQuery(s.Query), Header: h,
		BodySHA256: s.BodySHA256, Size: s.Size, Model: s.Model, Stream: s.Stream,
		Fault: s.Fault, Status: s.Status, Cancelled: s.Cancelled, Finished: s.Finished,
	}
}

// maskedQuery is a query without the key that may stand in it.
func maskedQuery(query string) string {
	values, err := url.ParseQuery(query)
	switch {
	case err != nil:
		return "***"
	case !values.Has("key"):
		return query
	}
	values.Set("key", "***")
	return values.Encode()
}

func faultReplies(table []FaultInfo) []faultReply {
	out := make([]faultReply, len(table))
	for i, f := range table {
		out[i] = faultReply(f)
	}
	return out
}

// allow answers 405 unless the method is one of those given.
func allow(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	w.Header().Set("Allow", listing(methods))
	writeError(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s takes %s", r.URL.Path, listing(methods)))
	return false
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentJSON)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that left misses nothing
}

// writeError answers with an error that is the simulation's, not an upstream's.
func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "simulator_error", "param": nil, "code": nil,
	}})
}
