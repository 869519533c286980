package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"gatewright/wasm/abi"
)

// What is made from the tables is what is in the repository.
func TestOutputsAreCurrent(t *testing.T) {
	files, err := outputs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 8 {
		t.Errorf("%d files are made", len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the tables say: run go generate ./wasm/abi", name)
		}
	}
}

// Running it writes them.
func TestRun(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"docs", "wasm/abi"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range languages {
		at := filepath.Join(root, l.path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("head\n// "+regionBegin+"\nold\n// "+regionEnd+"\ntail\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{root}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(root, "docs/wasm-abi.md")); err != nil || len(b) < 5000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for _, l := range languages {
		b, err := os.ReadFile(filepath.Join(root, l.path))
		if err != nil || len(b) < 5000 || !bytes.HasPrefix(b, []byte("head\n// "+regionBegin+"\n\n")) || !bytes.HasSuffix(b, []byte("\n\n// "+regionEnd+"\ntail\n")) {
			t.Errorf("%s: %d bytes, %v", l.path, len(b), err)
		}
	}
	if run(nil) == nil || run([]string{filepath.Join(root, "nowhere")}) == nil {
		t.Error("no error without a root")
	}
}

// A file that has lost its marks is not written over.
func TestSpliceNeedsItsMarks(t *testing.T) {
	for name, file := range map[string]string{
		"none":        "something else\n",
		"one":         "// " + regionBegin + "\n",
		"the other":   "// " + regionEnd + "\n",
		"wrong order": "// " + regionEnd + "\n// " + regionBegin + "\n",
	} {
		if got, err := splice([]byte(file), []byte("new\n")); err == nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// The SDKs lay a structure over the buffer, so every language must put each field
// where the contract has it: no gaps, and each at a multiple of its own size (a
// text is two numbers of 4 bytes).
func TestStructuresHaveNoGaps(t *testing.T) {
	for _, s := range structures() {
		at := 0
		for _, f := range s.fields {
			align := f.Type.Size()
			if f.Type == abi.Text {
				align = 4
			}
			if f.Offset != at || at%align != 0 {
				t.Errorf("%s: %s is at %d, a compiler puts it behind %d bytes, a multiple of %d", s.name, f.Name, f.Offset, at, align)
			}
			at = f.Offset + f.Type.Size()
		}
		if at != s.size || at%8 != 0 {
			t.Errorf("%s: the fields end at %d of %d bytes", s.name, at, s.size)
		}
	}
}
