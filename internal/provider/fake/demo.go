package fake

import (
	_ "embed"
	"slices"
)

//go:embed demo.yaml
var demoScript []byte

// Demo returns the script of the demonstration, as YAML for [Parse]: a slow, a
// fast and an unreliable upstream, cheap, quick and flaky, that all serve the
// model demo and say who they are. The caller owns the result.
func Demo() []byte { return slices.Clone(demoScript) }
