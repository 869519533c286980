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

	attemptsBudget   = 2900
	skippedBudget    = 1500
	candidatesBudget = 900
	orderBudget      = 500
	pathBudget       = 250
	faultsBudget     = 250
	restBudget       = 3500 // all that is in no list
)

// The budgets fit into a line: otherwise this does not compile.
const _ = uint(maxLine - attemptsBudget - skippedBudget - candidatesBudget - orderBudget - pathBudget - faultsBudget - restBudget)

// codeInternal is the code of a request that ended with a fault of our own.
const codeInternal = "internal_error"

// attributes are the fields of the line of one decision. The names are those of
// a decision everywhere else.
func (r *Recorder) attributes(d *engine.Decision, debug bool) []slog.Attr {
	attrs := make([]slog.Attr, 0, 24)
	attrs = append(attrs, slog.String("id", clean(d.ID, maxID)), requestGroup(d.Request))
	attrs = appendText(attrs, "model", d.Model, maxName)
	attrs = appendText(attrs, "resolved_by", d.Resolved, maxID)
	attrs = appendText(attrs, "strategy", d.Strategy, maxID)
	attrs = appendText(attrs, "selection_source", d.SelectionSource, maxID)
	attrs = append(attrs, slog.Uint64("snapshot", d.Snapshot))
	attrs = appendStrings(attrs, "order", d.Order, orderBudget)
	attrs = appendSkipped(attrs, d.Skipped)
	attrs = appendAttempts(attrs, d.Attempts)
	attrs = appendStrings(attrs, "fallback_path", d.FallbackPath, pathBudget)
	attrs = appendFaults(attrs, d.Faults)
	if d.LawMended {
		attrs = append(attrs, slog.Bool("law_mended", true))
	}
	if debug {
		attrs = appendCandidates(attrs, d.Candidates)
	}
	return append(attrs, r.resultGroup(d),
		slog.Float64("duration_ms", milliseconds(d.Duration)),
		slog.Float64("overhead_ms", milliseconds(max(d.Duration-d.Upstream, 0))))
}

// requestGroup is what was asked, by whom: features, never content.
func requestGroup(q *engine.Request) slog.Attr {
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs,
		slog.String("model", clean(q.Model, maxName)),
		slog.String("endpoint", q.Endpoint.String()),
		slog.Bool("stream", q.Stream))
	if c := q.Caller; c != nil {
		attrs = appendText(attrs, "key", c.Key, maxID)
		attrs = appendText(attrs, "team", c.Team, maxID)
		attrs = appendText(attrs, "org", c.Org, maxID)
	}
	if q.Session.Present() {
		attrs = appendText(attrs, "session", hex.EncodeToString(q.Session.Key[:sessionSize]), maxID)
		attrs = appendText(attrs, "session_source", q.Session.Source, maxID)
	}
	attrs = appendText(attrs, "needs", strings.Join(q.Needs.Names(), " "), maxID)
	if q.InputTokens > 0 {
		attrs = append(attrs, slog.Int64("input_tokens_estimate", q.InputTokens))
	}
	if q.MaxOutput > 0 {
		attrs = append(attrs, slog.Int64("max_output_tokens", q.MaxOutput))
	}
	return slog.GroupAttrs("request", attrs...)
}

// resultGroup is how it ended.
func (r *Recorder) resultGroup(d *engine.Decision) slog.Attr {
	res := &d.Result
	status, code := res.Status, res.Code
	if d.Err != nil && code == "" && !res.Cancelled && !errors.Is(d.Err, context.Canceled) {
		code = codeInternal
	}
	if status == 0 && code != "" {
		status = r.status(code)
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs, slog.Int("status", status))
	attrs = appendText(attrs, "code", code, maxID)
	attrs = appendText(attrs, "deployment", res.Deployment, maxName)
	attrs = appendText(attrs, "model", res.Model, maxName)
	if u := res.Usage; u.Known {
		attrs = append(attrs, slog.Any("usage", document(appendUsage(nil, u))))
	}
	if res.Cost != engine.Unknown {
		attrs = append(attrs, slog.Int64("cost_nusd", res.Cost))
	}
	if res.Truncated {
		attrs = append(attrs, slog.Bool("upstream_truncated", true))
	}
	if res.Cancelled {
		attrs = append(attrs, slog.Bool("cancelled", true))
	}
	return slog.GroupAttrs("result", attrs...)
}

// appendText appends a text field unless it is empty.
func appendText(attrs []slog.Attr, name, value string, limit int) []slog.Attr {
	if value == "" {
		return attrs
	}
	return append(attrs, slog.String(name, clean(value, limit)))
}

func appendStrings(attrs []slog.Attr, name string, values []string, budget int) []slog.Attr {
	l := newList(budget)
	for _, v := range values {
		l.add(appendString(l.buf, v, maxName))
	}
	return l.attrs(attrs, name)
}

func appendSkipped(attrs []slog.Attr, skipped []engine.Skipped) []slog.Attr {
	l := newList(skippedBudget)
	for i := range skipped {
		s := &skipped[i]
		b := appendField(append(l.buf, '{'), "deployment", s.Deployment, maxName)
		b = appendField(append(b, ','), "reason", string(s.Reason), maxID)
		if s.Detail != "" {
			b = appendField(append(b, ','), "detail", s.Detail, maxDetail)
		}
		if s.Passing() {
			b = appendField(append(b, ','), "until", s.Until.UTC().Format(time.RFC3339), maxID)
		}
		l.add(append(b, '}'))
	}
	return l.attrs(attrs, "skipped_candidates")
}

func appendAttempts(attrs []slog.Attr, attempts []engine.Attempt) []slog.Attr {
	l := newList(attemptsBudget)
	for i := range attempts {
		a := &attempts[i]
		b := appendField(append(l.buf, '{'), "deployment", a.Deployment, maxName)
		b = appendField(append(b, ','), "selection_source", a.SelectionSource, maxID)
		b = appendField(append(b, ','), "class", a.Class.String(), maxID)
		if a.Status != 0 {
			b = appendInt(append(b, `,"status":`...), int64(a.Status))
		}
		b = appendField(append(b, ','), "start", a.Start.UTC().Format("2006-01-02T15:04:05.000Z"), maxID)
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
	return l.attrs(attrs, "attempts")
}

func appendFaults(attrs []slog.Attr, faults []engine.RuleFault) []slog.Attr {
	l := newList(faultsBudget)
	for i := range faults {
		b := appendField(append(l.buf, '{'), "rule", faults[i].Rule, maxID)
		if err := faults[i].Err; err != nil {
			b = appendField(append(b, ','), "fault", err.Error(), maxName)
		}
		l.add(append(b, '}'))
	}
	return l.attrs(attrs, "rule_faults")
}

func appendCandidates(attrs []slog.Attr, candidates []engine.CandidateRecord) []slog.Attr {
	l := newList(candidatesBudget)
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
	return l.attrs(attrs, "candidates")
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
