package request_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

func TestDisguised(t *testing.T) {
	for key, refused := range map[string]bool{"Model": true, "mODEL": true, "models": false, "modem": false, "mod": false, "": false} {
		err := request.Disguised([]byte(key))
		want := ""
		if refused {
			want = `"` + key + `" is not a field; write "model"`
		}
		if e, ok := errors.AsType[*request.Error](err); ok != refused || ok && (e.Message != want || e.Param != key || e.Code != request.CodeDuplicate) {
			t.Errorf("%q: got %v, want %q", key, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	const twice = " stands in the body twice; send it once, an upstream might read the other one"
	for name, c := range map[string]struct {
		got  error
		want request.Error
	}{
		"quoted, missing":        {request.Quoted.Missing("n", "send one"), request.Error{Param: "n", Code: "missing_required_parameter", Message: `"n" is missing; send one`}},
		"bare, missing":          {request.Bare.Missing("n", "send one"), request.Error{Param: "n", Code: "missing_required_parameter", Message: "n is missing; send one"}},
		"quoted, twice":          {request.Quoted.Twice("n"), request.Error{Param: "n", Code: "duplicate_parameter", Message: `"n"` + twice}},
		"bare, twice":            {request.Bare.Twice("n"), request.Error{Param: "n", Code: "duplicate_parameter", Message: "n" + twice}},
		"a name that is no name": {request.Quoted.Twice("a\"\n"), request.Error{Param: "a\"\n", Code: "duplicate_parameter", Message: `"a\"\n"` + twice}},
	} {
		if diff := cmp.Diff(error(&c.want), c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestInvalidJSON(t *testing.T) {
	for name, c := range map[string]struct {
		body, want string
		deep       bool
	}{
		"broken":   {`{"a":tru}`, "the body is not valid JSON: ", false},
		"too deep": {`[[[]]]`, "the body is nested deeper than 2 levels", true},
	} {
		cursor := scan.NewCursor([]byte(c.body), 2)
		err := request.InvalidJSON(cursor.Close())
		_, deep := errors.AsType[*scan.DepthError](err)
		_, broken := errors.AsType[*scan.SyntaxError](err)
		if !strings.HasPrefix(err.Error(), c.want) || deep != c.deep || broken == c.deep {
			t.Errorf("%s: got %v (too deep %t, broken %t), want %q", name, err, deep, broken, c.want)
		}
	}
}
