package app

import (
	"os"
	"runtime/debug"
)

// gcPercent lets the heap grow to three times what lives before it is collected.
// Little lives in a gateway and much passes through: at the default of 100 the
// collector took a tenth of the processor under load. More than this saves little
// and costs megabytes: 400 held 96 of them at 256 connections.
const gcPercent = 200

// tuneGC sets the collector's pace unless whoever runs the process did.
func tuneGC() {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := os.LookupEnv(name); set {
			return
		}
	}
	debug.SetGCPercent(gcPercent)
}
