package admin

import "net/http"

func (a *api) listChanges(w http.ResponseWriter, r *http.Request) error {
	p, err := readPage(r)
	if err != nil {
		return err
	}
	out := listed[Change]{Data: []Change{}}
	err = a.Journal.Changes(p.after, func(c Change) bool {
		if len(out.Data) == p.limit {
			out.Next = out.Data[p.limit-1].ID
			return false
		}
		out.Data = append(out.Data, c)
		return true
	})
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, out)
	return nil
}
