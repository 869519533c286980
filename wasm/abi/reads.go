package abi

import (
	"fmt"
	"slices"
	"strings"
)

// Reads says which fields of the JSON form are written. The zero value is none
// of them. It is not changed once it is in use, so goroutines may share it.
type Reads struct {
	request, caller, candidate, facets uint64
	tags                               []string // facets that are tags, sorted
	allTags                            bool
}

// places gives each field of an object its bit, in the order of the tables.
func places(object Object) map[string]uint64 {
	m := map[string]uint64{}
	for _, list := range [][]Field{Header[:], Record[:]} {
		for _, f := range list {
			if f.In == object && f.JSON != Hidden {
				m[f.Name] = 1 << len(m)
			}
		}
	}
	return m
}

var requestBits, callerBits, candidateBits = places(RequestObject), places(CallerObject), places(CandidateObject)

var facetBits = func() map[string]uint64 {
	m := map[string]uint64{}
	for i, n := range FacetNames {
		m[n] = 1 << i
	}
	return m
}()

const every = ^uint64(0)

// All reads everything.
func All() *Reads {
	return &Reads{request: every, caller: every, candidate: every, facets: every, allTags: true}
}

// ReadsOf makes a Reads from the paths of input that a policy looks at, like
// "request.tags.residency", "candidates[_].price", "candidates.3.tags",
// "facets.region", "facets.tag.team" or "caller"; a part stands for all of it
// and "" for the whole input. The error names paths that the input does not
// have.
func ReadsOf(paths []string) (*Reads, error) {
	r := &Reads{}
	for _, path := range paths {
		if err := r.add(path); err != nil {
			return nil, err
		}
	}
	slices.Sort(r.tags)
	r.tags = slices.Compact(r.tags)
	return r, nil
}

func (r *Reads) add(path string) error {
	top, rest, _ := strings.Cut(path, ".")
	if i := strings.IndexByte(top, '['); i >= 0 {
		top, rest = top[:i], strings.TrimPrefix(path[i:], ".")
	}
	switch top {
	case "":
		*r = *All()
	case "v":
	case "request":
		return mark(&r.request, requestBits, path, first(rest))
	case "caller":
		return mark(&r.caller, callerBits, path, first(rest))
	case "candidates":
		_, field, _ := strings.Cut(rest, ".") // behind the place in the list
		return mark(&r.candidate, candidateBits, path, first(field))
	case "facets":
		name := rest
		switch tag, is := strings.CutPrefix(name, TagFacet); {
		case name == "":
			r.facets, r.allTags = every, true
		case is && tag != "":
			r.tags = append(r.tags, tag)
		default:
			return mark(&r.facets, facetBits, path, first(name))
		}
	default:
		return fmt.Errorf("input.%s: the input has request, caller, candidates and facets", path)
	}
	return nil
}

// first is the first part of a path.
func first(path string) string {
	name, _, _ := strings.Cut(path, ".")
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	return name
}

func mark(set *uint64, bits map[string]uint64, path, name string) error {
	if name == "" {
		*set = every
		return nil
	}
	bit, ok := bits[name]
	if !ok {
		return fmt.Errorf("input.%s: there is no field %q", path, name)
	}
	*set |= bit
	return nil
}

// Candidates reports whether the candidates are read.
func (r *Reads) Candidates() bool { return r.candidate != 0 }

// Facets reports whether facets are read.
func (r *Reads) Facets() bool { return r.facets != 0 || len(r.tags) > 0 || r.allTags }
