package policies

import (
	"fmt"
	"strings"
	"testing"

	"gatewright/wasm/abi"
)

// entries is a client with so many entries of metadata.
type entries struct {
	n     int
	value string
}

func (e entries) Metadata(each func(key, value string)) {
	for i := range e.n {
		each(fmt.Sprintf("k%07d", i), e.value)
	}
}
func (entries) Header(string) string { return "" }
func (entries) Text(bool) string     { return "" }

// Much metadata is left out from the end, so that it costs a policy no more than a
// bounded amount, however it is written.
func TestMuchMetadata(t *testing.T) {
	for _, c := range []struct {
		entries

		want int
	}{
		{entries{0, "v"}, 0},
		{entries{16, strings.Repeat("v", 512)}, 16}, // the most that the protocol allows
		{entries{64, strings.Repeat("v", 200)}, 64},
		{entries{1_000_000, ""}, 16 << 10 / 14},
		{entries{1_000_000, "\x01"}, 16 << 10 / 20},
		{entries{3, strings.Repeat("\x01", 2000)}, 1},
	} {
		in := &input{}
		request := ask("k")
		request.Client = c.entries
		in.client(request, &needs{metadata: true})
		want := min(c.want, maxMembers)
		if n := len(in.Metadata); n != want {
			t.Errorf("%d entries of %d bytes: %d are passed on, want %d", c.n, len(c.value), n, want)
		}
		if text, err := abi.AppendJSON(nil, &in.Input, abi.Admission, abi.All()); err != nil || len(text) > maxMetadata+1000 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
}
