//go:build race

package policies

// raceDetector says that the race detector runs.
const raceDetector = true
