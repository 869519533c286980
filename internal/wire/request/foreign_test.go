package request_test

import (
	"testing"

	"pgregory.net/rapid"

	"gatewright/internal/wire/request"
)

func TestForeign(t *testing.T) {
	for text, want := range map[string]request.Foreign{
		"gatewright:gemini::a%3Ab:c:d":    {Origin: "gemini", ID: "a:b", Data: "c:d"},
		"gatewright:openai:before:rs_1:x": {Origin: "openai", Before: true, ID: "rs_1", Data: "x"},
		"gatewright::::":                  {},
	} {
		got, ok := request.ParseForeign(text)
		if !ok || got != want || got.String() != text || !request.IsForeign([]byte(text)) {
			t.Errorf("%s: got %+v, %t; want %+v", text, got, ok, want)
		}
	}
	for text, marked := range map[string]bool{"": false, "abc": false, "a:b:c:d": false, "gatewright:": true, "gatewright:a:b:c": true, "gatewright:a::%zz:d": true} {
		if f, ok := request.ParseForeign(text); ok || request.IsForeign([]byte(text)) != marked {
			t.Errorf("%q: read as %+v, or marked is not %t", text, f, marked)
		}
	}
}

func TestForeignComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := request.Foreign{
			Origin: rapid.StringMatching(`[a-z]*`).Draw(t, "origin"), ID: rapid.String().Draw(t, "id"),
			Data: rapid.String().Draw(t, "data"), Before: rapid.Bool().Draw(t, "before"),
		}
		if got, ok := request.ParseForeign(want.String()); !ok || got != want {
			t.Errorf("got %+v, %t; want %+v", got, ok, want)
		}
	})
}
