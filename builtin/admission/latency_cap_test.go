package admission_test

import (
	"testing"
	"time"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestLatencyCap(t *testing.T) {
	caps := func(caller, request, ttft time.Duration) func(*engine.Request, *engine.Candidate) {
		return func(r *engine.Request, c *engine.Candidate) {
			r.Caller.MaxTTFT, r.MaxTTFT, c.TTFT = caller, request, ttft
		}
	}
	// The two other candidates take 300 ms.
	runCases(t, admission.LatencyCap{}, []refusalCase{
		{name: "no cap", set: caps(0, 0, time.Hour)},
		{name: "at the cap", set: caps(0, time.Second, time.Second)},
		{
			name: "above the request's", set: caps(0, time.Second, time.Second+time.Millisecond),
			detail: "its median time to first token, 1.001s, is above the cap of 1s",
		},
		{
			name: "above the caller's", set: caps(400*time.Millisecond, 0, 512345*time.Microsecond),
			detail: "its median time to first token, 512.3ms, is above the cap of 400ms",
		},
		{
			name: "the request lowers the caller's", set: caps(2*time.Second, time.Second, 1500*time.Millisecond),
			detail: "its median time to first token, 1.5s, is above the cap of 1s",
		},
		{
			name: "the request cannot raise the caller's", set: caps(time.Second, 2*time.Second, 1500*time.Millisecond),
			detail: "its median time to first token, 1.5s, is above the cap of 1s",
		},
		{name: "time not known", set: caps(time.Second, time.Second, engine.UnknownDuration)},
		{name: "a negative cap is none", set: caps(-1, -1, time.Hour)},
	})
}
