package server

import (
	"fmt"
	"iter"
	"time"

	"gatewright/engine"
)

// Models lists the names that the caller may use, each alias as a model of its
// own, in the order of the configuration.
func (x *Exchange) Models() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, m := range x.Snapshot.Models {
			if !x.usable(m) {
				continue
			}
			if !yield(m.Name) {
				return
			}
			for _, alias := range m.Aliases {
				if !yield(alias) {
					return
				}
			}
		}
	}
}

// FindModel checks that the caller may use the model that it means by a name,
// which may be an alias or name a provider too. The error is for the handler to
// return.
func (x *Exchange) FindModel(id string) error {
	name, err := x.Resolve(id)
	if err != nil {
		return err
	}
	if m, ok := x.Snapshot.Model(name); !ok || !x.usable(m) {
		return &Error{
			Code: engine.CodeModelNotFound, Param: "model",
			Message: fmt.Sprintf("the model %q does not exist; GET /v1/models lists what this key may use", id),
		}
	}
	return nil
}

// usable reports whether the caller may use the model: it is among the allowed
// ones, and a deployment that is switched on is at a provider that the caller
// may use and that can be called.
func (x *Exchange) usable(m *engine.Model) bool {
	c := x.Caller
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

// Timed makes of a function that counts tokens one for engine.Request, which
// says how long it took.
func Timed(count func(model string) int64) func(model string) (int64, time.Duration) {
	return func(model string) (int64, time.Duration) {
		began := time.Now()
		tokens := count(model)
		return tokens, time.Since(began)
	}
}
