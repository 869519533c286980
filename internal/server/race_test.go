//go:build race

package server

// raceDetector says that the race detector runs.
const raceDetector = true
