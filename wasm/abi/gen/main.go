// Gen writes what is made from the tables of package abi: its offsets as
// constants, the JSON Schemas of its two inputs, docs/wasm-abi.md and the layout
// in each SDK.
//
//	go run ./gen ROOT
//
// ROOT is the repository's root, from the current folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the repository's root as the only argument, got %d", len(args))
	}
	files, err := outputs(args[0])
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(args[0], name), content, 0o644); err != nil { //nolint:gosec // sources, for everybody
			return err
		}
	}
	return nil
}

// outputs are all files that are made, by their path from the root.
func outputs(root string) (map[string][]byte, error) {
	files, err := sdks(root)
	if err != nil {
		return nil, err
	}
	files["docs/wasm-abi.md"] = document()
	if files["wasm/abi/offsets.go"], err = offsets(); err != nil {
		return nil, err
	}
	for _, s := range stages {
		if files["wasm/abi/schema_"+s.String()+".json"], err = schema(s); err != nil {
			return nil, err
		}
	}
	return files, nil
}
