// Manifest puts the description of a policy into its module, which Go's linker
// cannot do.
//
//	go run gatewright/wasm/sdk/go/manifest policy.wasm main.go
//
// The description is JSON in a comment of the source file that begins with
// "gatewright.manifest"; it becomes the module's custom section of that name.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
)

const section = "gatewright.manifest"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manifest:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a module and a source file, got %d arguments", len(args))
	}
	module, err := os.ReadFile(args[0]) //nolint:gosec // the caller names it
	if err != nil {
		return err
	}
	source, err := os.ReadFile(args[1]) //nolint:gosec // the caller names it
	if err != nil {
		return err
	}
	text, err := find(source)
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	if module, err = add(module, text); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return os.WriteFile(args[0], module, 0o644) //nolint:gosec // for everybody, and named by the caller
}

var comment = regexp.MustCompile(`(?s)/\*\s*gatewright\.manifest\b(.*?)\*/`)

// find is the manifest of a source file, on one line.
func find(source []byte) ([]byte, error) {
	found := comment.FindAllSubmatch(source, -1)
	if len(found) != 1 {
		return nil, fmt.Errorf("want one comment that begins with %s, found %d", section, len(found))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, found[0][1]); err != nil {
		return nil, fmt.Errorf("the comment that begins with %s is not JSON: %w", section, err)
	}
	return b.Bytes(), nil
}

// add puts the section behind those that the module has.
func add(module, text []byte) ([]byte, error) {
	const head = "\x00asm\x01\x00\x00\x00"
	if !bytes.HasPrefix(module, []byte(head)) {
		return nil, errors.New("not a WebAssembly module")
	}
	for rest := module[len(head):]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) { //nolint:gosec // n is within rest
			return nil, errors.New("a section goes on behind the end of the file")
		}
		body := rest[1+n:][:size]
		if rest[0] == 0 && bytes.HasPrefix(body, slices.Concat([]byte{byte(len(section))}, []byte(section))) {
			return nil, fmt.Errorf("there is a section %s already", section)
		}
		rest = rest[1+n+len(body):]
	}
	body := slices.Concat([]byte{byte(len(section))}, []byte(section), text)
	return slices.Concat(module, []byte{0}, binary.AppendUvarint(nil, uint64(len(body))), body), nil
}
