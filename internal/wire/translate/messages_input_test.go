package translate_test

import (
	"fmt"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

// TestAlternativesThatMultiply translates tools whose alternatives refer to one
// another, each several times: to themselves, and in a long row.
func TestAlternativesThatMultiply(t *testing.T) {
	var row strings.Builder
	for i := range 60 {
		fmt.Fprintf(&row, `"D%d":{"anyOf":[{"$ref":"#/$defs/D%d"},{"$ref":"#/$defs/D%[2]d"}]},`, i, i+1)
	}
	for name, schema := range map[string]string{
		"to themselves": `{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}],"$defs":{"A":{"properties":{"a":{}},"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}]}}}`,
		"in a row":      `{"anyOf":[{"$ref":"#/$defs/D0"},{"properties":{"a":{}}}],"$defs":{` + row.String() + `"D60":{"properties":{"a":{}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":` + schema + `}}]}`
			got, _, err := translated(t, translate.Chat, translate.Messages, &translate.Upstream{Model: "up"}, body)
			if err != nil || !strings.Contains(got, `"properties":{"a":{}}`) && name == "to themselves" || !strings.Contains(got, `"properties":{`) {
				t.Errorf("%v: %.300s", err, got)
			}
		})
	}
}
