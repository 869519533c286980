package meter

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"math"
	"strings"
	"time"

	"gatewright/engine"
)

// maxLine is the size that no line exceeds, in bytes, as JSON or as text.
const maxLine = 10_000

// The bytes that parts of a line may take, quoting included.
const (
	maxName     = 128 // a model, deployment or provider
	maxID       = 64  // a key, team, org, code or request id
	maxDetail   = 200 // a reason for people
	sessionSize = 8   // bytes of the session's key that are shown

	attemptsBudget   = 2500
	skippedBudget    = 1300
	policiesBudget   = 750
	candidatesBudget = 900
	orderBudget      = 500
	pathBudget       = 250
	faultsBudget     = 250
	restBudget       = 3500 // all that is in no list
)

// The budgets fit into a line: otherwise this does not compile.
const _ = uint(maxLine - attemptsBudget - skippedBudget - candidatesBudget - orderBudget - pathBudget - faultsBudget - policiesBudget - restBudget)

// codeInternal is the code of a request that ended with a fault of our own.
const codeInternal = "internal_error"

// fields takes the fields of one line, in order.
type fields interface {
	// add takes a field. One that holds a *list is taken before add returns: the
	// list is used again.
	add(a slog.Attr)
	// open begins a group of fields, close ends it. Groups are not nested.
	open(group string)
	close()
}

// describer walks over the fields of decisions. It is used by one goroutine.
type describer struct {
	status func(code string) int
	list   list
}

// describe hands the fields of the line of one decision to f. The names are
// those of a decision everywhere else.
func (w *describer) describe(f fields, d *engine.Decision, debug bool) {
	f.add(slog.String("id", clean(d.ID, maxID)))
	f.open("request")
	addRequest(f, d.Request, d.CountedTokens > 0)
	f.close()
	addText(f, "model", d.Model, maxName)
	addText(f, "resolved_by", d.Resolved, maxID)
	addText(f, "strategy", d.Strategy, maxID)
	addText(f, "selection_source", d.SelectionSource, maxID)
	f.add(slog.Uint64("snapshot", d.Snapshot))
	w.strings(f, "order", d.Order, orderBudget)
	w.skipped(f, d.Skipped)
	w.policies(f, d.Policies)
	w.attempts(f, d.Attempts)
	w.strings(f, "fallback_path", d.FallbackPath, pathBudget)
	w.faults(f, d.Faults)
	if d.LawMended {
		f.add(slog.Bool("law_mended", true))
	}
	if d.Counting > 0 {
		f.add(slog.Float64("counting_ms", milliseconds(d.Counting)))
	}
	if debug {
		w.candidates(f, d.Candidates)
	}
	f.open("result")
	w.result(f, d)
	f.close()
	f.add(slog.Float64("duration_ms", milliseconds(d.Duration)))
	f.add(slog.Float64("overhead_ms", milliseconds(max(d.Duration-d.Upstream, 0))))
}

// addRequest tells what was asked, by whom: features, never content. counted
// says that a tokenizer has counted the input.
func addRequest(f fields, q *engine.Request, counted bool) {
	f.add(slog.String("model", clean(q.Model, maxName)))
	f.add(slog.String("endpoint", q.Endpoint.String()))
	f.add(slog.Bool("stream", q.Stream))
	if c := q.Caller; c != nil {
		addText(f, "key", c.Key, maxID)
		addText(f, "team", c.Team, maxID)
		addText(f, "org", c.Org, maxID)
	}
	if q.Session.Present() {
		addText(f, "session", hex.EncodeToString(q.Session.Key[:sessionSize]), maxID)
		addText(f, "session_source", q.Session.Source, maxID)
	}
	addText(f, "needs", strings.Join(q.Needs.Names(), " "), maxID)
	switch {
	case counted:
		f.add(slog.Int64("input_tokens_counted", q.InputTokens))
	case q.InputTokens > 0:
		f.add(slog.Int64("input_tokens_estimate", q.InputTokens))
	}
	if q.MaxOutput > 0 {
		f.add(slog.Int64("max_output_tokens", q.MaxOutput))
	}
}

// result tells how it ended.
func (w *describer) result(f fields, d *engine.Decision) {
	res := &d.Result
	status, code := res.Status, res.Code
	if d.Err != nil && code == "" && !res.Cancelled && !errors.Is(d.Err, context.Canceled) {
		code = codeInternal
	}
	if status == 0 && code != "" {
		status = w.status(code)
	}
	f.add(slog.Int("status", status))
	addText(f, "code", code, maxID)
	addText(f, "deployment", res.Deployment, maxName)
	addText(f, "model", res.Model, maxName)
	if u := res.Usage; u.Known {
		w.list.document(f, "usage", appendUsage(w.list.buf[:0], u))
	}
	if res.Cost != engine.Unknown {
		f.add(slog.Int64("cost_nusd", res.Cost))
	}
	if res.Truncated {
		f.add(slog.Bool("upstream_truncated", true))
	}
	if res.Cancelled {
		f.add(slog.Bool("cancelled", true))
	}
}

// addText adds a text field unless it is empty.
func addText(f fields, name, value string, limit int) {
	if value != "" {
		f.add(slog.String(name, clean(value, limit)))
	}
}

func (w *describer) strings(f fields, name string, values []string, budget int) {
	l := w.list.begin(budget)
	for _, v := range values {
		l.add(appendString(l.buf, v, maxName))
	}
	l.end(f, name)
}

func (w *describer) skipped(f fields, skipped []engine.Skipped) {
	l := w.list.begin(skippedBudget)
	for i := range skipped {
		s := &skipped[i]
		b := appendField(append(l.buf, '{'), "deployment", s.Deployment, maxName)
		b = appendField(append(b, ','), "reason", string(s.Reason), maxID)
		if s.Detail != "" {
			b = appendField(append(b, ','), "detail", s.Detail, maxDetail)
		}
		if s.Passing() {
			b = appendTime(append(b, `,"until":`...), s.Until, time.RFC3339)
		}
		l.add(append(b, '}'))
	}
	l.end(f, "skipped_candidates")
}

// versionSize is how much of a version's digest is shown: what commands take for
// its name.
const versionSize = 12

func (w *describer) policies(f fields, policies []engine.PolicyRecord) {
	l := w.list.begin(policiesBudget)
	for i := range policies {
		p := &policies[i]
		b := appendField(append(l.buf, '{'), "name", p.Name, maxName)
		b = appendField(append(b, ','), "version", p.Version, versionSize)
		b = appendField(append(b, ','), "stage", p.Stage, maxID)
		if p.Mode != "" {
			b = appendField(append(b, ','), "mode", p.Mode, maxID)
		}
		b = appendField(append(b, ','), "outcome", string(p.Outcome), maxID)
		if p.Detail != "" {
			b = appendField(append(b, ','), "detail", p.Detail, maxDetail)
		}
		if p.Removed > 0 {
			b = appendInt(append(b, `,"removed":`...), int64(p.Removed))
		}
		if p.Differs {
			b = append(b, `,"differs":true`...)
		}
		b = appendInt(append(b, `,"micros":`...), p.Micros)
		l.add(append(b, '}'))
	}
	l.end(f, "policies")
}

func (w *describer) attempts(f fields, attempts []engine.Attempt) {
	l := w.list.begin(attemptsBudget)
	for i := range attempts {
		a := &attempts[i]
		b := appendField(append(l.buf, '{'), "deployment", a.Deployment, maxName)
		b = appendField(append(b, ','), "selection_source", a.SelectionSource, maxID)
		b = appendField(append(b, ','), "class", a.Class.String(), maxID)
		if a.Status != 0 {
			b = appendInt(append(b, `,"status":`...), int64(a.Status))
		}
		b = appendTime(append(b, `,"start":`...), a.Start, "2006-01-02T15:04:05.000Z")
		b = appendFloat(append(b, `,"duration_ms":`...), milliseconds(a.Duration))
		if a.FirstByte > 0 {
			b = appendFloat(append(b, `,"first_byte_ms":`...), milliseconds(a.FirstByte))
		}
		if a.UpstreamRequestID != "" {
			b = appendField(append(b, ','), "upstream_request_id", a.UpstreamRequestID, maxID)
		}
		if a.Usage.Known {
			b = appendUsage(append(b, `,"usage":`...), a.Usage)
		}
		if a.Note != "" {
			b = appendField(append(b, ','), "note", a.Note, maxDetail)
		}
		l.add(append(b, '}'))
	}
	l.end(f, "attempts")
}

func (w *describer) faults(f fields, faults []engine.RuleFault) {
	l := w.list.begin(faultsBudget)
	for i := range faults {
		b := appendField(append(l.buf, '{'), "rule", faults[i].Rule, maxID)
		if err := faults[i].Err; err != nil {
			b = appendField(append(b, ','), "fault", err.Error(), maxName)
		}
		l.add(append(b, '}'))
	}
	l.end(f, "rule_faults")
}

func (w *describer) candidates(f fields, candidates []engine.CandidateRecord) {
	l := w.list.begin(candidatesBudget)
	for i := range candidates {
		c := &candidates[i]
		b := appendField(append(l.buf, '{'), "deployment", c.Deployment, maxName)
		b = appendInt(append(b, `,"position":`...), int64(c.Position))
		b = appendFloat(append(b, `,"draw":`...), c.Draw)
		b = append(b, `,"values":{`...)
		for k, name := range c.Keys {
			if v := c.Values[k]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				b = appendFloat(append(appendString(appendComma(b, '{'), name, maxID), ':'), v)
			}
		}
		b = append(b, '}')
		if c.Circuit != engine.CircuitClosed {
			b = appendField(append(b, ','), "circuit", c.Circuit.String(), maxID)
		}
		l.add(append(b, '}'))
	}
	l.end(f, "candidates")
}

func appendUsage(b []byte, u engine.Usage) []byte {
	b = appendInt(append(b, `{"input_tokens":`...), u.Input)
	b = appendInt(append(b, `,"output_tokens":`...), u.Output)
	for _, f := range [...]struct {
		name   string
		tokens int64
	}{{"cached_tokens", u.Cached}, {"cache_write_tokens", u.CacheWrite}, {"reasoning_tokens", u.Reasoning}} {
		if f.tokens != 0 {
			b = appendInt(append(appendString(append(b, ','), f.name, maxID), ':'), f.tokens)
		}
	}
	return append(b, '}')
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
