package scan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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
