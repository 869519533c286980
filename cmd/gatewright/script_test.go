package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for the gateway in scripts.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"gatewright": func() { os.Exit(run(context.Background(), os.Args[1:])) },
	})
}

// leakChecked runs the tests of this process and then looks for goroutines
// that they left.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		println(err.Error())
		return 1
	}
	return code
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: serveAdmin})
}
