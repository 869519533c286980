package openai

import (
	"encoding/json"
	"fmt"

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
	for name := range x.Models() {
		list.Data = append(list.Data, newModelObject(name))
	}
	return writeJSON(x, list)
}

// oneModel shows one model under the name that the client uses for it.
func oneModel(x *server.Exchange) error {
	id := x.PathVar("id")
	if err := x.FindModel(id); err != nil {
		return err
	}
	return writeJSON(x, newModelObject(id))
}

func writeJSON(x *server.Exchange, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	x.WriteJSON(body)
	return nil
}
