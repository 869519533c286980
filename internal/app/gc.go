package app

import (
	"os"
	"runtime/debug"
)

// gcPercent lets the heap grow to five times what lives before it is collected.
// Little lives in a gateway and much passes through: at the default of 100 the
// collector took a tenth of the processor under load, for a few megabytes.
const gcPercent = 400

// tuneGC sets the collector's pace unless whoever runs the process did.
func tuneGC() {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := os.LookupEnv(name); set {
			return
		}
	}
	debug.SetGCPercent(gcPercent)
}
