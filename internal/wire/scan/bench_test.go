package scan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gatewright/internal/wire/scan"
)

// chatBody returns a chat request of about size bytes: a few long messages with
// the escapes that prose and code have.
func chatBody(size int) []byte {
	line := `Take the second door on the left, then ask for \"Anna\".\nShe knows the way to the harbour.\n`
	text := bytes.Repeat([]byte(line), size/5/len(line)+1)
	var b bytes.Buffer
	b.WriteString(`{"model":"m","stream":true,"messages":[{"role":"system","content":"Be brief."}`)
	for i := range 5 {
		role := [2]string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, `,{"role":%q,"content":"%s"}`, role, text[:len(text)/len(line)*len(line)])
	}
	b.WriteString(`],"temperature":0.5,"max_tokens":512}`)
	return b.Bytes()
}

// BenchmarkString skips what fills real bodies: the files of a coding agent,
// such files quoted once more inside a tool call, prose, another script as
// encoders write it that keep to ASCII.
func BenchmarkString(b *testing.B) {
	code := encoded(source(b))
	script := bytes.Repeat([]byte(`\u4f60\u597d\uff0c\u8fd9\u91cc\u662f\u4e2d\u6587\u3002 `), 2000)
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"code", code},
		{"quoted", encoded(code)},
		{"prose", encoded(bytes.Repeat([]byte("It isn't far: take the second door on the left, then ask for \"Anna\", who knows the way.\n"), 500))},
		{"script", slices.Concat([]byte(`"`), script, []byte(`"`))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				cursor := scan.NewCursor(c.body, 0)
				if err := cursor.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// source returns the text of this package's files.
func source(b *testing.B) []byte {
	b.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		b.Fatal(err)
	}
	var all []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

// encoded returns text as a JSON string.
func encoded(text []byte) []byte { return scan.AppendString(nil, string(text)) }

func BenchmarkObjectPlain(b *testing.B) {
	body := bytes.ReplaceAll(bytes.ReplaceAll(chatBody(100<<10), []byte(`\n`), nil), []byte(`\"`), nil)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := scan.Object(body, 128, func(scan.Member) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkObject(b *testing.B) {
	for _, size := range []int{2 << 10, 100 << 10} {
		body := chatBody(size)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := scan.Object(body, 128, func(scan.Member) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%dKB/json.Valid", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !json.Valid(body) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
