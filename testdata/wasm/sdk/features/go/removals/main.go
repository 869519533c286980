//go:build wasip1

// Removes candidates more than once, and refuses; features_test.go says what
// becomes of it.
package main

import "gatewright/wasm/sdk/go/gatewright"

/* gatewright.manifest
{"name": "removals", "version": "1", "kind": "admission", "abi": "1.0", "reasons": ["one", "two"]}
*/

func main() {}

//go:wasmexport gw_admit
func decide(at, size uint32) int32 { return gatewright.Admission(at, size, admit) }

func admit(r *gatewright.Request) error {
	for c := range r.Candidates() {
		switch c.Provider.String() {
		case "later":
			c.Remove(1)
			c.RemoveUntil(2, 5)
		case "lasting":
			c.RemoveUntil(2, 5)
			c.Remove(1)
		case "none":
			c.Remove(0)
		}
	}
	switch r.Session.String() {
	case "refuse":
		r.Refuse(429, 2, 7, "grün")
	case "bare":
		r.Refuse(403, 0, 0, "")
	}
	return nil
}
