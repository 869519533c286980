//go:build !race

package provider

// raceDetector says that the race detector runs.
const raceDetector = false
