package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const empty = "\x00asm\x01\x00\x00\x00"

// The comment becomes a section behind the others, on one line, and a second one
// is refused.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	module, source := filepath.Join(dir, "a.wasm"), filepath.Join(dir, "main.go")
	write(t, module, empty+"\x00\x03\x02ab")
	write(t, source, "package main\n\n/* gatewright.manifest\n{\n  \"name\": \"a b\"\n}\n*/\n")
	if err := run([]string{module, source}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	if want := empty + "\x00\x03\x02ab" + "\x00\x22\x13gatewright.manifest" + `{"name":"a b"}`; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := run([]string{module, source}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second time: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	const good = `/* gatewright.manifest {"name":"a"} */`
	for _, c := range []struct{ name, module, source, want string }{
		{"no comment", empty, "package main", "found 0"},
		{"two comments", empty, good + good, "found 2"},
		{"not JSON", empty, "/* gatewright.manifest {name} */", "not JSON"},
		{"not a module", "text", good, "not a WebAssembly module"},
		{"cut off", empty + "\x01\x10ab", good, "behind the end"},
		{"cut off within the size", empty + "\x01\x80", good, "behind the end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			module, source := filepath.Join(dir, "a.wasm"), filepath.Join(dir, "main.go")
			write(t, module, c.module)
			write(t, source, c.source)
			if err := run([]string{module, source}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if b, err := os.ReadFile(module); err != nil || string(b) != c.module {
				t.Errorf("the module was changed: %q, %v", b, err)
			}
		})
	}
	if run([]string{"a"}) == nil || run([]string{"a", "b"}) == nil {
		t.Error("no error without the files")
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
