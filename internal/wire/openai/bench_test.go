package openai_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"gatewright/internal/wire/openai"
)

// chatRequest returns a request of about size bytes: a system text, a few
// turns of prose with the escapes that prose has, and two tools.
func chatRequest(size int) []byte {
	const line = `Take the second door on the left, walk past the old clock and then ask for \"Anna\": she knows the way down to the harbour, and where the boats are.\n`
	text := bytes.Repeat([]byte(line), max(size/5/len(line), 1))
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"system","content":"You are brief."}`)
	for i := range 5 {
		fmt.Fprintf(&b, `,{"role":%q,"content":"%s"}`, [2]string{"user", "assistant"}[i%2], text)
	}
	b.WriteString(`],"temperature":0.5,"max_tokens":512,"tools":[`)
	for i := range 2 {
		fmt.Fprintf(&b, `%s{"type":"function","function":{"name":"f%d","description":"Looks it up.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}`, [2]string{"", ","}[i], i)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkScanRequest(b *testing.B) {
	for _, size := range []int{2 << 10, 100 << 10} {
		body := chatRequest(size)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := openai.ScanRequest(openai.Chat, body, jsonDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRewrite(b *testing.B) {
	body := chatRequest(2 << 10)
	r, err := openai.ScanRequest(openai.Chat, body, jsonDepth)
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = r.Rewrite(dst[:0], body, openai.Rewrite{Model: "upstream-model", AddStreamUsage: true})
	}
}

func BenchmarkHashOpening(b *testing.B) {
	r, err := openai.ScanRequest(openai.Chat, chatRequest(2<<10), jsonDepth)
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

func BenchmarkChunk(b *testing.B) {
	for name, data := range map[string]string{
		"text":  `{"id":"chatcmpl-B1","object":"chat.completion.chunk","created":1762317021,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" world"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"abcdefg"}`,
		"call":  `{"id":"chatcmpl-B1","object":"chat.completion.chunk","created":1762317021,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]},"logprobs":null,"finish_reason":null}]}`,
		"usage": `{"id":"chatcmpl-B1","object":"chat.completion.chunk","created":1762317021,"model":"gpt-4o-mini-2024-07-18","choices":[],"usage":{"prompt_tokens":13,"completion_tokens":11,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			s := openai.NewStream(openai.Chat, "public-model", false)
			payload := []byte(data)
			var dst []byte
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, _, err = s.Chunk(dst[:0], payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheckAnswer(b *testing.B) {
	text := bytes.Repeat([]byte(`She knows the way down to the harbour, and where the boats are.\n`), 100<<10/66)
	body := fmt.Appendf(nil, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`, text)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openai.CheckAnswer(openai.Chat, body); err != nil {
			b.Fatal(err)
		}
	}
}
