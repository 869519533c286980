package admin

import (
	"encoding/json"
	"fmt"
	"net/http"

	"gatewright/policies"
)

// bindingBody is a binding as the API takes and shows it: as the configuration
// file has it.
type bindingBody struct {
	ID         string          `json:"id,omitempty"`
	Policy     string          `json:"policy"`
	Org        string          `json:"org,omitempty"`
	Team       string          `json:"team,omitempty"`
	Key        string          `json:"key,omitempty"`
	Model      string          `json:"model,omitempty"`
	OnFault    string          `json:"on_fault,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Grant      []string        `json:"grant,omitempty"`
	Stateful   bool            `json:"stateful,omitempty"`
	Tolerance  string          `json:"tolerance,omitempty"`
	Order      int             `json:"order,omitempty"`
	Managed    bool            `json:"managed_by_config,omitempty"`
}

func newBindingBody(b *policies.Binding) bindingBody {
	return bindingBody{
		ID: b.ID, Policy: b.Policy, Org: b.Org, Team: b.Team, Key: b.Key, Model: b.Model, OnFault: b.OnFault.String(),
		Parameters: b.Parameters, Grant: b.Grants.Names(), Stateful: b.Stateful,
		Tolerance: policies.ToleranceText(b.Tolerance), Order: b.Order, Managed: b.Managed,
	}
}

// binding is what the body says, under the id of the path.
func (b *bindingBody) binding(id string) (*policies.Binding, error) {
	switch {
	case b.ID != "" && b.ID != id:
		return nil, fmt.Errorf("%w: id: %s in the body and %s in the path", policies.ErrInvalid, quote(b.ID), quote(id))
	case b.Policy == "":
		return nil, fmt.Errorf("%w: policy is missing: the name of the policy to bind", policies.ErrInvalid)
	}
	out := &policies.Binding{
		ID: id, Policy: b.Policy, Org: b.Org, Team: b.Team, Key: b.Key, Model: b.Model,
		Parameters: b.Parameters, Stateful: b.Stateful, Order: b.Order,
	}
	var ok bool
	if out.OnFault, ok = policies.OnFaultByName(b.OnFault); !ok {
		return nil, fmt.Errorf("%w: on_fault %s: want fail_closed or fail_open", policies.ErrInvalid, quote(b.OnFault))
	}
	var err error
	if out.Grants, err = policies.GrantsByName(b.Grant); err != nil {
		return nil, fmt.Errorf("%w: %w", policies.ErrInvalid, err)
	}
	if out.Tolerance, err = policies.ToleranceByText(b.Tolerance); err != nil {
		return nil, fmt.Errorf("%w: %w", policies.ErrInvalid, err)
	}
	return out, nil
}

func (a *api) listBindings(w http.ResponseWriter, r *http.Request) error {
	return writePage(a, w, r, a.Library.State().Bindings(),
		func(b *policies.Binding) string { return b.ID }, newBindingBody)
}

func (a *api) oneBinding(w http.ResponseWriter, r *http.Request) error {
	b, err := a.Library.State().Binding(variable(r, "id"))
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, newBindingBody(b))
	return nil
}

func (a *api) putBinding(w http.ResponseWriter, r *http.Request) error {
	id := variable(r, "id")
	var body bindingBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	b, err := body.binding(id)
	if err != nil {
		return err
	}
	err = a.Library.Change(r.Context(), func(s *policies.State) (*policies.State, error) {
		return s.Bind(b)
	}, author(r, "binding.put", "binding/"+id))
	if err != nil {
		return err
	}
	return a.oneBinding(w, r)
}

func (a *api) deleteBinding(w http.ResponseWriter, r *http.Request) error {
	id := variable(r, "id")
	err := a.Library.Change(r.Context(), func(s *policies.State) (*policies.State, error) {
		return s.Unbind(id)
	}, author(r, "binding.delete", "binding/"+id))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
