package sdk_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm"
	"gatewright/wasm/check"
)

// smallMemory is what a module has at most before it is given a larger input, in
// bytes: an instance is put back after each call, which takes longer the more
// memory it has.
const smallMemory = 128 << 10

// Every module keeps to its profile, describes itself as the others do, takes
// little memory and fits the sandbox.
func TestModules(t *testing.T) {
	kinds := map[string]check.Kind{"admission": check.KindAdmission, "ranking": check.KindRanking, "features": check.KindRanking, "removals": check.KindAdmission}
	r := newRuntime(t)
	for _, policy := range slices.Sorted(maps.Keys(kinds)) {
		var first *wasm.Manifest
		for _, language := range languages {
			t.Run(policy+"/"+language, func(t *testing.T) {
				_, profile := rules(language)
				info, err := check.Check(module(t, language, policy), profile)
				if err != nil {
					t.Fatal(err)
				}
				if info.Kind != kinds[policy] {
					t.Errorf("%s is of kind %s", policy, info.Kind)
				}
				m := load(t, r, language, policy, "")
				got := m.Info().Manifest
				if got == nil {
					t.Fatalf("%s has no manifest", policy)
				}
				got.Parameters = compact(t, got.Parameters)
				if first == nil {
					first = got
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Errorf("%s describes itself in another way than the first (-first +this):\n%s", policy, diff)
				}
				if s := m.Stats(); language != "go" && s.Memory > smallMemory {
					t.Errorf("%s takes %d bytes of memory", policy, s.Memory)
				}
			})
		}
	}
}

func compact(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	if len(text) > 0 {
		if err := json.Compact(&b, text); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

// The modules in the repository were made of the sources in the repository.
func TestSourcesHaveNotChanged(t *testing.T) {
	for _, language := range languages[:3] {
		lines := bufio.NewScanner(bytes.NewReader(read(t, filepath.Join(built, language+".sums"))))
		n := 0
		for ; lines.Scan(); n++ {
			want, name, _ := strings.Cut(lines.Text(), "  ")
			got := sha256.Sum256(read(t, filepath.Join("../..", name)))
			if hex.EncodeToString(got[:]) != want {
				t.Errorf("%s has changed since the modules were built: run wasm/sdk/build.sh %s", name, language)
			}
		}
		if n < 4 {
			t.Errorf("%s: %d sources", language, n)
		}
	}
}
