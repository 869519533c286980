package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"gatewright/internal/config"
	"gatewright/policies"
	"gatewright/wasm/rego"
)

// regoSource makes a source of an upload.
func regoSource(u *upload) rego.Source {
	// Nothing but a bundle and the parameters brings data.
	s := rego.Source{Data: []byte("{}")}
	if u.media == medias[config.PolicyBundle] {
		s.Bundle = u.body
	} else {
		s.Files = map[string]string{u.name: string(u.body)}
	}
	return s
}

// inspectRego compiles Rego and says what the gateway found in it.
func inspectRego(ctx context.Context, r *sourceReport, u *upload) error {
	r.Format = "Rego"
	m, err := rego.Compile(ctx, regoSource(u))
	if refused, ok := errors.AsType[*rego.Error](err); ok {
		r.Problems = regoProblems(refused.Problems, u.place)
		return nil
	}
	if err != nil {
		return err
	}
	r.Kind = m.Kind.String()
	outputs := make([]string, len(m.Outputs))
	for i, o := range m.Outputs {
		outputs[i] = string(o)
	}
	r.fact("answers with", strings.Join(outputs, ", "))
	r.fact("form", m.Form.String())
	r.fact("reads", m.Reads...)
	r.fact("reads of data", m.DataReads...)
	if m.Cacheable {
		r.fact("answers are kept by", append(m.CacheKey, "parameters and data")...)
	} else {
		r.fact("answers are kept", "no: it reads what differs from request to request")
	}
	r.fact("host serves", m.Builtins...)
	r.fact("compiled", strconv.Itoa(len(m.Wasm))+" bytes of Wasm")
	for _, n := range regoProblems(m.Notes, u.place) {
		r.fact("note", n.String())
	}
	return nil
}

// regoProblems are problems of Rego with the names of files as the user has
// them.
func regoProblems(list []rego.Problem, place func(string) string) []policies.Problem {
	out := make([]policies.Problem, len(list))
	for i, p := range list {
		out[i] = policies.Problem(p)
		if place != nil && p.File != "" {
			out[i].File = place(p.File)
		}
	}
	return out
}
