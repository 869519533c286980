package openai

import (
	"encoding/json"
	"fmt"

	"gatewright/engine"
	"gatewright/internal/server"
)

// created is the date of every model, 2026-01-01: public names have no
// birthday, clients want a number, and it must not change with a restart.
const created = 1767225600

// modelObject is a model as the protocol shows it.
type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func newModelObject(id string) modelObject {
	return modelObject{ID: id, Object: "model", Created: created, OwnedBy: "gatewright"}
}

// listModels lists the models that the caller may use, each alias as a model of
// its own, in the order of the configuration.
func listModels(x *server.Exchange) error {
	list := struct {
		Object string        `json:"object"`
		Data   []modelObject `json:"data"`
	}{Object: "list", Data: []modelObject{}}
	for _, m := range x.Snapshot.Models {
		if !usable(x.Caller, m) {
			continue
		}
		list.Data = append(list.Data, newModelObject(m.Name))
		for _, alias := range m.Aliases {
			list.Data = append(list.Data, newModelObject(alias))
		}
	}
	return writeJSON(x, list)
}

// oneModel shows one model under the name that the client uses for it, which
// may be an alias or name a provider too.
func oneModel(x *server.Exchange) error {
	id := x.PathVar("id")
	name, err := x.Resolve(id)
	if err != nil {
		return err
	}
	if m, ok := x.Snapshot.Model(name); !ok || !usable(x.Caller, m) {
		return &server.Error{
			Code: engine.CodeModelNotFound, Param: "model",
			Message: fmt.Sprintf("the model %q does not exist; GET /v1/models lists what this key may use", id),
		}
	}
	return writeJSON(x, newModelObject(id))
}

// usable reports whether the caller may use the model: it is among the allowed
// ones, and a deployment that is switched on is at a provider that the caller
// may use and that can be called.
func usable(c *engine.Caller, m *engine.Model) bool {
	if !c.AllowedModels.Allows(m.Name) {
		return false
	}
	for _, d := range m.Deployments {
		p := d.Provider
		if d.Enabled && p.Enabled && p.HasCredential && c.AllowedProviders.Allows(p.ID) && c.SupplyTiers.Allows(p.SupplyTier) {
			return true
		}
	}
	return false
}

func writeJSON(x *server.Exchange, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	x.WriteJSON(body)
	return nil
}
