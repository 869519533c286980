package wasm_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// What a guest logs reaches the log as one line each, bounded and printable.
func TestLog(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelInfo}))
	m := load(t, newRuntime(t, wasm.Config{Log: log}), wasm.Source{Name: "talker", Bytes: read(t, "answers", "rank.wasm")})
	var out abi.Result
	if err := m.Rank(t.Context(), request(3, 129), &out); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, line := range []string{
		`level=INFO msg="policy says" policy=talker text="no data"`,
		`level=WARN msg="policy says" policy=talker text="?( not UTF-8"`,
		`level=ERROR msg="policy says" policy=talker text="no data for this region"`,
		`level=ERROR msg="policy says" policy=talker text=""`,
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%s is not in\n%s", line, got)
		}
	}
	if s := m.Stats(); s.LogLines != 4 || s.LogDropped != 1 { // nobody wants the first
		t.Errorf("got %+v", s)
	}
	b.Reset()
	for range 20 { // a thousand lines of 64 KiB each
		if err := m.Rank(t.Context(), request(3, 124), &out); err != nil {
			t.Fatal(err)
		}
	}
	s := m.Stats()
	if s.LogLines > 300 || s.LogLines+s.LogDropped != 5+20*1000 || b.Len() > 400_000 {
		t.Errorf("%d lines, %d dropped, %d bytes", s.LogLines, s.LogDropped, b.Len())
	}
}
