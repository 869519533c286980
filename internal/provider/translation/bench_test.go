package translation_test

import (
	"fmt"
	"strings"
	"testing"

	wireanthropic "gatewright/internal/wire/anthropic"
	wireopenai "gatewright/internal/wire/openai"
	"gatewright/internal/wire/translate"
)

// largeBody is a conversation of about 100 KB, as a coding agent sends it: long
// instructions, tools, and rounds of calls and results.
func largeBody(client translate.Protocol) string {
	const rounds, lines = 20, 40
	code := strings.Repeat(`\tif err := run(ctx, \"step\"); err != nil {\n\t\treturn fmt.Errorf(\"run: %w\", err)\n\t}\n`, lines/4)
	var turns []string
	for i := range rounds {
		if client == translate.Messages {
			turns = append(turns,
				fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"toolu_%020d","name":"read_file","input":{"path":"a/b/%d.go","lines":[1,2,3]}}]}`, code, i, i),
				fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%020d","content":"%s"}]}`, i, strings.Repeat(code, 3)))
			continue
		}
		turns = append(turns,
			fmt.Sprintf(`{"role":"assistant","content":"%s","tool_calls":[{"id":"toolu_%020d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a/b/%d.go\",\"lines\":[1,2,3]}"}}]}`, code, i, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"toolu_%020d","content":"%s"}`, i, strings.Repeat(code, 3)))
	}
	conversation := strings.Join(turns, ",")
	if client == translate.Messages {
		return fmt.Sprintf(`{"model":%q,"max_tokens":4000,"system":"%s",%s,"messages":[{"role":"user","content":"go"},%s]}`, publicModel, code, strings.Replace(offers[client], `"weather"`, `"read_file"`, 1), conversation)
	}
	return fmt.Sprintf(`{"model":%q,%s,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"go"},%s]}`, publicModel, strings.Replace(offers[client], `"weather"`, `"read_file"`, 1), code, conversation)
}

// BenchmarkRequest compares what a large request costs on the way in: spliced for
// an upstream of its own protocol, and translated for another.
func BenchmarkRequest(b *testing.B) {
	chat, messages := []byte(largeBody(translate.Chat)), []byte(largeBody(translate.Messages))
	scan := map[translate.Protocol]func(tb testing.TB, dst []byte, rewrite bool) []byte{
		translate.Chat: func(tb testing.TB, dst []byte, rewrite bool) []byte {
			tb.Helper()
			r, err := wireopenai.ScanRequest(wireopenai.Chat, chat, 64)
			if err != nil {
				tb.Fatal(err)
			}
			if !rewrite {
				return dst
			}
			return r.Rewrite(dst, chat, wireopenai.Rewrite{Model: upstreamModel})
		},
		translate.Messages: func(tb testing.TB, dst []byte, rewrite bool) []byte {
			tb.Helper()
			r, err := wireanthropic.ScanRequest(wireanthropic.Messages, messages, 64)
			if err != nil {
				tb.Fatal(err)
			}
			if !rewrite {
				return dst
			}
			return r.Rewrite(dst, messages, wireanthropic.Rewrite{Model: upstreamModel})
		},
	}
	bodies := map[translate.Protocol][]byte{translate.Chat: chat, translate.Messages: messages}
	for _, in := range []translate.Protocol{translate.Chat, translate.Messages} {
		b.Run(fmt.Sprintf("%v/spliced", in), func(b *testing.B) {
			b.SetBytes(int64(len(bodies[in])))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = scan[in](b, dst[:0], true)
			}
		})
		for _, up := range protocols {
			if up == in {
				continue
			}
			b.Run(fmt.Sprintf("%v/to %v", in, up), func(b *testing.B) {
				b.SetBytes(int64(len(bodies[in])))
				b.ReportAllocs()
				client, _ := translate.For(in)
				to, _ := translate.For(up)
				about := &translate.Upstream{Model: upstreamModel}
				for b.Loop() {
					scan[in](b, nil, false)
					r, _, err := client.DecodeRequest(bodies[in])
					if err != nil {
						b.Fatal(err)
					}
					if _, _, err := to.EncodeRequest(r, about); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
