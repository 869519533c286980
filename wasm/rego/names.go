package rego

import "fmt"

// near is the name in a list that a misspelt one most likely means, or "".
func near(name string, list []string) string {
	best, distance := "", len(name)/3+1
	for _, n := range list {
		if d := edits(name, n, distance+1); d <= distance && (best == "" || d < distance) {
			best, distance = n, d
		}
	}
	return best
}

// didYouMean asks for the name in a list that is nearest, or lists the names
// while they are few.
func didYouMean(name string, list []string) string {
	if n := near(name, list); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return "there are " + oneOf(list)
}

// oneOf joins names for a message; many are cut short.
func oneOf(list []string) string {
	const most = 12
	s := ""
	for i, n := range list {
		if i == most {
			return s + ", …"
		}
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s
}

// edits is how many letters must be changed, added, removed or swapped with
// their neighbour to make b of a; limit or more is limit.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		rows = [3][]int{old, row, older}
	}
	return min(rows[1][len(b)], limit)
}
