package builtin

// nearest returns the known name that differs least from a mistyped one, ""
// when none is near: at most a third of its letters, and two, may differ.
func nearest(name string, known []string) string {
	best, limit := "", min(len(name)/3, 2)+1
	for _, k := range known {
		if d := distance(name, k, limit); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// distance counts the bytes to insert, delete or replace to make b of a; limit
// or more is all the same.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }
