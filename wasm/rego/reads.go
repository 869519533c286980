package rego

import (
	"maps"
	"slices"
	"strings"
)

// depends are the paths of the input and of data that an answer depends on,
// without those that stand below another.
func (a *analysis) depends() (input, data []string) {
	for _, path := range slices.Sorted(maps.Keys(a.reads)) {
		if p, ok := strings.CutPrefix(path, "input."); ok {
			input = append(input, p)
		} else {
			data = append(data, path)
		}
	}
	const entry = "candidates" + oneOfAll
	if i := slices.Index(input, entry); i >= 0 {
		// That there are candidates is known by any of their fields.
		others := slices.ContainsFunc(input, func(p string) bool { return p == "candidates" || strings.HasPrefix(p, entry+".") })
		if others {
			input = slices.Delete(input, i, i+1)
		} else {
			input[i] = entry + ".id"
		}
	}
	return shortest(input), longest(data)
}

// longest drops paths that others of the list, which is sorted, go on from: what
// is looked up in them is what is read.
func longest(list []string) []string {
	var out []string
	for i, p := range list {
		if i+1 == len(list) || !strings.HasPrefix(list[i+1], p+".") && !strings.HasPrefix(list[i+1], p+"[") {
			out = append(out, p)
		}
	}
	return out
}

// shortest drops paths that stand below others of the list, which is sorted.
func shortest(list []string) []string {
	all := map[string]bool{}
	for _, p := range list {
		all[p] = true
	}
	return slices.DeleteFunc(list, func(p string) bool {
		for i := range len(p) {
			if (p[i] == '.' || p[i] == '[') && all[p[:i]] {
				return true
			}
		}
		return false
	})
}

// cacheKey is whether an answer may be kept, and the reads that tell answers
// apart: none of them differs from request to request by its nature, and none is
// of the caller's budget or of a candidate.
func cacheKey(reads []string) (key []string, ok bool) {
	for _, p := range reads {
		top, rest, _ := strings.Cut(p, ".")
		switch top {
		case "v":
			continue
		case "facets":
		case "request":
			name, _, _ := strings.Cut(rest, ".")
			i := slices.IndexFunc(requestFields, func(f field) bool { return f.name == name })
			if i < 0 || requestFields[i].volatile {
				return nil, false
			}
		default:
			return nil, false
		}
		key = append(key, p)
	}
	return key, true
}
