package vetting

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for the gateway, which starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		if act, ok := acts[os.Args[1]]; ok {
			act()
			return
		}
	}
	goleak.VerifyTestMain(m)
}

// acts are what the other process may do, by its argument.
var acts = map[string]func(){
	"serve": func() {
		if Serve(context.Background(), os.Stdin, os.Stdout, slog.New(slog.NewTextHandler(os.Stderr, nil))) != nil {
			os.Exit(1)
		}
	},
	"die": func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		panic("of the upload")
	},
	"babble": func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		_, _ = io.WriteString(os.Stdout, "panic: no JSON\n")
	},
	"hang": func() { _, _ = io.Copy(io.Discard, os.Stdin) },
}
