package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"gatewright/policies"
)

const (
	// maxUpload is the largest policy that is read.
	maxUpload = 10 << 20
	// maxJSON is the largest body of every other request.
	maxJSON = 2 << 20
)

// readBody reads a whole body. One that says that it is too large is refused
// unread.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close")
		return nil, &http.MaxBytesError{Limit: limit}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, large
		}
		return nil, fmt.Errorf("%w: read the body: %w", policies.ErrInvalid, err)
	}
	return body, nil
}

// readJSON reads a body into a value, strictly. An empty body is an empty
// object.
func readJSON(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := readBody(w, r, maxJSON)
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		body = []byte("{}")
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: the body: %s", policies.ErrInvalid, jsonFault(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the body: something follows the object", policies.ErrInvalid)
	}
	return nil
}

// jsonFault says what is wrong with JSON in words for people.
func jsonFault(err error) string {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) && typ.Field != "" {
		return fmt.Sprintf("%s: want %s, not a JSON %s", typ.Field, typ.Type, typ.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// variable returns a variable of the path, unescaped.
func variable(r *http.Request, name string) string {
	text, err := url.PathUnescape(mux.Vars(r)[name])
	if err != nil {
		return mux.Vars(r)[name]
	}
	return text
}

// query reads the parameters of a request and refuses those that are not known.
func query(r *http.Request, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%w: the query: %w", policies.ErrInvalid, err)
	}
	for name, list := range values {
		ok := false
		for _, k := range known {
			ok = ok || k == name
		}
		switch {
		case !ok:
			return nil, fmt.Errorf("%w: there is no parameter %s; there are %s", policies.ErrInvalid, quote(name), strings.Join(known, ", "))
		case len(list) > 1:
			return nil, fmt.Errorf("%w: the parameter %s stands twice", policies.ErrInvalid, name)
		}
	}
	return values, nil
}

const (
	defaultPage = 100
	largestPage = 1000
)

// page is a part of a list: of those behind a name at most so many.
type page struct {
	after string
	limit int
}

func readPage(r *http.Request) (page, error) {
	values, err := query(r, "after", "limit")
	if err != nil {
		return page{}, err
	}
	p := page{after: values.Get("after"), limit: defaultPage}
	if text := values.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > largestPage {
			return page{}, fmt.Errorf("%w: limit %s: want a number from 1 to %d", policies.ErrInvalid, quote(text), largestPage)
		}
		p.limit = n
	}
	return p, nil
}

// listed is a page of a list as JSON. Next is what to give as after to go on; ""
// at the end.
type listed[T any] struct {
	Data []T    `json:"data"`
	Next string `json:"next,omitempty"`
}

// cut takes one page out of a list that name tells the names of, in their order.
func cut[T, U any](list []T, p page, name func(T) string, show func(T) U) (listed[U], error) {
	out := listed[U]{Data: []U{}}
	if p.after != "" {
		i := slices.IndexFunc(list, func(x T) bool { return name(x) == p.after })
		if i < 0 {
			return out, fmt.Errorf("%w: after %s: there is no such entry any more; begin again", policies.ErrInvalid, quote(p.after))
		}
		list = list[i+1:]
	}
	for i, x := range list {
		if i == p.limit {
			out.Next = name(list[i-1])
			break
		}
		out.Data = append(out.Data, show(x))
	}
	return out, nil
}

// writePage answers with one page of a list.
func writePage[T, U any](a *api, w http.ResponseWriter, r *http.Request, list []T, name func(T) string, show func(T) U) error {
	p, err := readPage(r)
	if err != nil {
		return err
	}
	out, err := cut(list, p, name, show)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, out)
	return nil
}
