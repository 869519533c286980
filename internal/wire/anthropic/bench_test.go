package anthropic_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"gatewright/internal/wire/anthropic"
)

// messagesRequest returns a request of about size bytes: a system text, a few
// turns of prose with the escapes that prose has, and two tools.
func messagesRequest(size int) []byte {
	const line = `Take the second door on the left, walk past the old clock and then ask for \"Anna\": she knows the way down to the harbour, and where the boats are.\n`
	text := bytes.Repeat([]byte(line), max(size/5/len(line), 1))
	var b bytes.Buffer
	b.WriteString(`{"model":"claude-sonnet","stream":true,"max_tokens":512,"system":"You are brief.","messages":[`)
	for i := range 5 {
		fmt.Fprintf(&b, `%s{"role":%q,"content":[{"type":"text","text":"%s"}]}`, [2]string{"", ","}[min(i, 1)], [2]string{"user", "assistant"}[i%2], text)
	}
	b.WriteString(`],"tools":[`)
	for i := range 2 {
		fmt.Fprintf(&b, `%s{"name":"f%d","description":"Looks it up.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}`, [2]string{"", ","}[i], i)
	}
	b.WriteString(`],"metadata":{"user_id":"user_1_account_2_session_3"}}`)
	return b.Bytes()
}

func BenchmarkScanRequest(b *testing.B) {
	for _, size := range []int{2 << 10, 100 << 10} {
		body := messagesRequest(size)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := anthropic.ScanRequest(anthropic.Messages, body, jsonDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHashOpening(b *testing.B) {
	r, err := anthropic.ScanRequest(anthropic.Messages, messagesRequest(2<<10), jsonDepth)
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
