//go:build !race

package engine_test

// raceDetector says that the race detector runs.
const raceDetector = false
