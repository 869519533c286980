package abi_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

var update = flag.Bool("update", false, "write the golden files again")

// Every byte of the header and of a record belongs to one field, at an address
// that its type wants.
func TestLayoutHasNoHolesAndNoOverlaps(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields []abi.Field
		size   int
	}{{"header", abi.Header[:], abi.HeaderSize}, {"record", abi.Record[:], abi.RecordSize}} {
		owner := make([]string, tt.size)
		names := map[string]bool{}
		for _, f := range tt.fields {
			if names[f.Name] {
				t.Errorf("%s: %s stands twice", tt.name, f.Name)
			}
			names[f.Name] = true
			align := f.Type.Size()
			if f.Type == abi.Text {
				align = 4
			}
			if align > 0 && f.Offset%align != 0 {
				t.Errorf("%s: %s at %d", tt.name, f.Name, f.Offset)
			}
			for i := f.Offset; i < f.Offset+f.Type.Size(); i++ {
				if owner[i] != "" {
					t.Errorf("%s: byte %d is of %s and of %s", tt.name, i, owner[i], f.Name)
				}
				owner[i] = f.Name
			}
		}
		for i, name := range owner {
			if name == "" {
				t.Errorf("%s: byte %d is of no field", tt.name, i)
			}
		}
	}
}

// The layout of version 1 never changes. Where texts lie behind it is told by the
// buffer itself, and only has to stay as it is by intent.
func TestGoldenBytes(t *testing.T) {
	for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
		got := []byte(hex.Dump(encode(t, example(), stage)))
		file := "testdata/" + stage.String() + ".hex"
		if *update {
			if err := os.WriteFile(file, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the bytes are others:\n%s", stage, cmp.Diff(string(want), string(got)))
		}
	}
}
