package responses_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"gatewright/internal/wire/responses"
)

// inputRequest returns a request of about size bytes: instructions, a few
// messages of prose with the escapes that prose has, and two tools.
func inputRequest(size int) []byte {
	const line = `Take the second door on the left, walk past the old clock and then ask for \"Anna\": she knows the way down to the harbour, and where the boats are.\n`
	text := bytes.Repeat([]byte(line), max(size/5/len(line), 1))
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-5","stream":true,"max_output_tokens":512,"store":false,"instructions":"You are brief.","input":[`)
	for i := range 5 {
		fmt.Fprintf(&b, `%s{"type":"message","role":%q,"content":[{"type":%q,"text":"%s"}]}`,
			[2]string{"", ","}[min(i, 1)], [2]string{"user", "assistant"}[i%2], [2]string{"input_text", "output_text"}[i%2], text)
	}
	b.WriteString(`],"tools":[`)
	for i := range 2 {
		fmt.Fprintf(&b, `%s{"type":"function","name":"f%d","description":"Looks it up.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}`, [2]string{"", ","}[i], i)
	}
	b.WriteString(`],"prompt_cache_key":"k"}`)
	return b.Bytes()
}

func BenchmarkScanRequest(b *testing.B) {
	for _, size := range []int{2 << 10, 100 << 10} {
		body := inputRequest(size)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := responses.ScanRequest(responses.Create, body, jsonDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHashOpening(b *testing.B) {
	r, err := responses.ScanRequest(responses.Create, inputRequest(2<<10), jsonDepth)
	if err != nil {
		b.Fatal(err)
	}
	h := sha256.New()
	b.ReportAllocs()
	for b.Loop() {
		h.Reset()
		r.HashOpening(h)
	}
}
