package config

import (
	"strconv"
	"strings"
)

const (
	maxNearestNames  = 4096 // known names that one look-up compares
	maxNearestLength = 80   // longer names are not compared
	maxListedNames   = 12   // known names that a message lists
)

// nearest returns the known name that a mistyped one most likely means, and
// whether there is one close enough. Case, - and _ make no difference.
func nearest(name string, known []string) (string, bool) {
	if name == "" || len(name) > maxNearestLength {
		return "", false
	}
	folded := fold(name)
	// No more than a third may differ, and never all of it.
	limit := min(max(1, min(len(folded)/3, 3)), len(folded)-1)
	best, found := "", false
	for _, k := range known[:min(len(known), maxNearestNames)] {
		if len(k) > maxNearestLength || len(k)-len(name) > limit || len(name)-len(k) > limit {
			continue
		}
		if d := distance(folded, fold(k)); d <= limit {
			best, found, limit = k, true, d-1
			if limit < 0 {
				break
			}
		}
	}
	return best, found
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that make b of a, by bytes.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// suggest returns the advice for a name that is not among the known ones:
// the nearest, or the list of all when that is short. none is the advice when
// nothing is known at all.
func suggest(name string, known []string, none string) string {
	if near, ok := nearest(name, known); ok {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	switch {
	case len(known) == 0:
		return none
	case len(known) > maxListedNames:
		return "known: " + strings.Join(known[:maxListedNames], ", ") + ", … (" + strconv.Itoa(len(known)) + " in all)"
	}
	return "known: " + strings.Join(known, ", ")
}
