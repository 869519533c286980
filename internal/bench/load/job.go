package load

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Job says what to send and what to account.
type Job struct {
	Address     string `json:"address"` // host:port, loopback
	Model       string `json:"model"`
	Key         string `json:"key"` // the caller's API key
	Stream      bool   `json:"stream"`
	BodyBytes   int    `json:"body_bytes"` // about the size of a request's body
	Connections int    `json:"connections"`

	Duration time.Duration `json:"duration"` // how long requests are sent; with Count the most it may take
	Count    int           `json:"count"`    // send exactly so many; 0 = as many as fit into Duration
	Rate     float64       `json:"rate"`     // requests a second, open loop; 0 = closed loop

	PID  int `json:"pid"`  // root of the process tree to account; 0 = none
	Core int `json:"core"` // the core that it is bound to; negative = none
}

// Bounds of a job.
const (
	maxConnections = 4096
	maxDuration    = 10 * time.Minute
	maxBody        = 16 << 20
	maxSamples     = 2_000_000 // latencies that are kept
	maxErrors      = 1000      // then the job ends
	requestTimeout = 20 * time.Second
)

// check says what is wrong with a job.
func (j *Job) check() error {
	host, _, err := net.SplitHostPort(j.Address)
	if err != nil {
		return fmt.Errorf("address: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("address %q is not on loopback; load goes nowhere else", j.Address)
	}
	switch {
	case j.Connections < 1 || j.Connections > maxConnections:
		return fmt.Errorf("connections: %d, want 1 to %d", j.Connections, maxConnections)
	case j.Duration <= 0 || j.Duration > maxDuration:
		return fmt.Errorf("duration: %s, want more than 0 and at most %s", j.Duration, maxDuration)
	case j.BodyBytes < 0 || j.BodyBytes > maxBody:
		return fmt.Errorf("body_bytes: %d, want at most %d", j.BodyBytes, maxBody)
	case j.Rate < 0 || j.Count < 0:
		return errors.New("rate and count cannot be negative")
	case j.Rate > 0 && j.Count > 0:
		return errors.New("a job has a rate or a count, not both")
	}
	return nil
}

// Result is what a job found.
type Result struct {
	Requests   int     `json:"requests"`    // that were answered well
	Errors     int     `json:"errors"`      // that were not
	FirstError string  `json:"first_error"` // of them
	Seconds    float64 `json:"seconds"`     // how long the job took

	CPUSeconds float64 `json:"cpu_seconds"` // user and system time of the process tree
	OtherShare float64 `json:"other_share"` // of the core's time, the least that others than the process tree used
	PeakBytes  int64   `json:"peak_bytes"`  // the most that the process tree had in memory
	FrameMean  float64 `json:"frame_mean"`  // chunks of the chunked coding an answer had
	LatencyP50 float64 `json:"latency_p50_us"`
	LatencyP99 float64 `json:"latency_p99_us"`
	FirstP50   float64 `json:"first_byte_p50_us"` // until the first byte of the body
}
