package admin

import (
	"encoding/json"
	"fmt"
	"net/http"

	"gatewright/policies"
)

// try evaluates a version with an input that the client brings, or with a small
// one that is made up.
func (a *api) try(w http.ResponseWriter, r *http.Request) error {
	p, err := a.Library.State().Policy(variable(r, "name"))
	if err != nil {
		return err
	}
	var arguments struct {
		Version    string          `json:"version"`
		Input      json.RawMessage `json:"input"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if err := readJSON(w, r, &arguments); err != nil {
		return err
	}
	if len(arguments.Input) == 0 {
		return fmt.Errorf("%w: input is missing: an object as policies are given it", policies.ErrInvalid)
	}
	v := p.Newest()
	if arguments.Version != "" {
		if v, err = p.Version(arguments.Version); err != nil {
			return err
		}
	}
	if v == nil {
		return fmt.Errorf("policy %q: %w: it has no version; upload one", p.Name, policies.ErrNotFound)
	}
	trial, err := a.Prober.Try(r.Context(), p.Name, v.Digest, arguments.Input, arguments.Parameters)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, trial)
	return nil
}
