package anthropic

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"gatewright/internal/server"
)

// created is the date of every model: public names have no birthday, clients
// want one, and it must not change with a restart.
const created = "2026-01-01T00:00:00Z"

// mostModels is how many models a page may have.
const mostModels = 1000

// modelObject is a model as the protocol shows it.
type modelObject struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

func newModelObject(id string) modelObject {
	return modelObject{Type: "model", ID: id, DisplayName: id, CreatedAt: created}
}

// page is a part of the list of models; nil ids are those of an empty one.
type page struct {
	Data    []modelObject `json:"data"`
	HasMore bool          `json:"has_more"`
	FirstID *string       `json:"first_id"`
	LastID  *string       `json:"last_id"`
}

// listModels lists the models that the caller may use, page by page if the
// client wants pages.
func listModels(x *server.Exchange) error {
	p, err := pageOf(slices.Collect(x.Models()), x.Request.URL.Query())
	if err != nil {
		return err
	}
	return writeJSON(x, p)
}

// pageOf cuts out what a query asks for: up to limit models behind after_id, or
// those that end before before_id. Without a limit it is all of them: what has
// only names is short, and not every client turns pages.
func pageOf(names []string, query url.Values) (page, error) {
	limit := mostModels
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostModels {
			return page{}, invalid("limit", fmt.Sprintf("limit must be a whole number from 1 to %d", mostModels))
		}
		limit = n
	}
	after, before := query.Get("after_id"), query.Get("before_id")
	more := false
	switch {
	case after != "" && before != "":
		return page{}, invalid("before_id", "after_id and before_id exclude each other: send one of them")
	case before != "":
		end := slices.Index(names, before)
		if end < 0 {
			return page{}, invalid("before_id", "before_id names no model of the list: send the first_id of a page")
		}
		start := max(end-limit, 0)
		names, more = names[start:end], start > 0
	default:
		start := 0
		if after != "" {
			if start = slices.Index(names, after) + 1; start == 0 {
				return page{}, invalid("after_id", "after_id names no model of the list: send the last_id of a page")
			}
		}
		names = names[start:]
		if len(names) > limit {
			names, more = names[:limit], true
		}
	}
	p := page{Data: make([]modelObject, 0, len(names)), HasMore: more}
	for _, name := range names {
		p.Data = append(p.Data, newModelObject(name))
	}
	if n := len(p.Data); n > 0 {
		p.FirstID, p.LastID = &p.Data[0].ID, &p.Data[n-1].ID
	}
	return p, nil
}

func invalid(param, message string) *server.Error {
	return &server.Error{Code: server.CodeInvalidValue, Param: param, Message: message}
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
