package scan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/scan"
)

func TestCursorWalk(t *testing.T) {
	const body = ` {"skipped":[1,{"x":"yy"}],"text":"a\nb","flag":true,"none":null,"list":[{"n":1},2,"three",[]],"last":{"deep":{"deeper":7}}} `
	c := scan.NewCursor([]byte(body), depth)
	var got []string
	add := func(parts ...string) { got = append(got, strings.Join(parts, " ")) }
	if !c.EnterObject() {
		t.Fatal(c.Err())
	}
	for c.Member() {
		key := string(c.Key())
		switch key {
		case "text":
			raw, decoded, ok := c.Text()
			if !ok || decoded != len("a\nb") {
				t.Errorf("text: got %d bytes, %v", decoded, ok)
			}
			add(key, string(raw))
		case "flag":
			if v, ok := c.Bool(); !v || !ok {
				t.Errorf("flag: got %v, %v", v, ok)
			}
			add(key)
		case "none":
			if _, ok := c.Bool(); ok {
				t.Error("null was taken for a bool")
			}
			if !c.Null() {
				t.Error("null was not taken")
			}
		case "list":
			c.EnterArray()
			for c.Element() {
				kind := c.Kind()
				if c.EnterObject() {
					for c.Member() {
						add(key, string(c.Key()))
					}
				}
				add(key, kind.String())
			}
		case "last":
			start, end := c.Skip()
			sub := c.Sub(start, end)
			for sub.EnterObject(); sub.Member(); {
				add(key, string(sub.Key()), string(sub.Raw()))
			}
			if err := sub.Close(); err != nil {
				t.Errorf("sub: %v", err)
			}
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	want := []string{`text a\nb`, "flag", "list n", "list an object", "list a number", "list a string", "list an array", `last deep {"deeper":7}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("walk (-want +got):\n%s", diff)
	}
	texts := len("skipped" + "x" + "yy" + "text" + "a\nb" + "flag" + "none" + "list" + "n" + "three" + "last" + "deep" + "deeper")
	if got := c.StringBytes(); got != int64(texts) {
		t.Errorf("got %d bytes of strings, want %d", got, texts)
	}
}

func TestCursorWrongKind(t *testing.T) {
	// A value of another kind stays due and is skipped.
	c := scan.NewCursor([]byte(`{"a":[1],"b":2}`), depth)
	c.EnterObject()
	c.Member()
	_, _, text := c.Text()
	_, flag := c.Bool()
	if text || flag || c.Null() || c.EnterObject() {
		t.Error("an array was taken for something else")
	}
	if got := c.Kind(); got != scan.KindArray {
		t.Errorf("got %v, want an array", got)
	}
	if !c.Member() || string(c.Key()) != "b" {
		t.Errorf("got key %q, want b", c.Key())
	}
	if c.Member() || c.Close() != nil {
		t.Errorf("at the end: %v", c.Err())
	}
}

func TestCursorErrorSticks(t *testing.T) {
	c := scan.NewCursor([]byte(`{"a":1,"b":x,"c":2}`), depth)
	c.EnterObject()
	var seen []byte
	for c.Member() {
		seen = append(seen, c.Key()...)
	}
	if string(seen) != "ab" {
		t.Errorf("got members %q, want ab", seen)
	}
	first := c.Err()
	if c.Member() || c.Element() || c.EnterArray() || c.Kind() != scan.KindInvalid || len(c.Raw()) != 0 {
		t.Error("the walk went on after an error")
	}
	if err := c.Close(); err == nil || !errors.Is(err, first) {
		t.Errorf("got error %v, want the first: %v", err, first)
	}
}

func TestCursorFail(t *testing.T) {
	c := scan.NewCursor([]byte(` [1]`), depth)
	c.Fail("not what was wanted")
	if got, want := c.Close().Error(), "not what was wanted at byte 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAcceptsWhatEncodingJSONAccepts compares on texts that are nearly JSON.
func TestAcceptsWhatEncodingJSONAccepts(t *testing.T) {
	token := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"\u00e9"`, `"\`, `"`, "1", "-", "0", ".5", "e", "E+", "true", "nul", "null", " ", "\n", "\x00", "\\", "é",
		`"` + strings.Repeat("long ", 20) + `"`, `"` + strings.Repeat("x", 31) + "\x1f\"",
	})
	rapid.Check(t, func(t *rapid.T) {
		var body string
		if rapid.Bool().Draw(t, "object") {
			body = `{"k":` + strings.Join(rapid.SliceOfN(token, 1, 6).Draw(t, "tokens"), "") + "}"
		} else {
			body = "{" + strings.Join(rapid.SliceOfN(token, 0, 12).Draw(t, "tokens"), "")
		}
		err := scan.Object([]byte(body), 100, func(scan.Member) error { return nil })
		if valid := json.Valid([]byte(body)); valid != (err == nil) {
			t.Fatalf("%q: got error %v, but encoding/json says valid: %v", body, err, valid)
		}
	})
}
