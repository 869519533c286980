package policies

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gatewright/wasm/rego"
)

// maxCached is how many answers of one program are kept.
const maxCached = 4096

// maxCachedKey is the longest question whose answer is kept, in bytes: clients
// choose tags and headers.
const maxCachedKey = 8 << 10

// cache keeps the answers of a program whose answer follows from what it reads.
// The oldest is dropped for a new one. Its methods may run in parallel.
type cache struct {
	hits atomic.Uint64

	mu    sync.RWMutex
	known map[string]*rego.Answer
	keys  []string // a ring of the keys, oldest at next
	next  int
}

func newCache() *cache { return &cache{known: make(map[string]*rego.Answer)} }

// get returns the answer to a question; nil = not known. Nobody may write into
// it.
func (c *cache) get(asked []byte) *rego.Answer {
	c.mu.RLock()
	a := c.known[string(asked)]
	c.mu.RUnlock()
	if a != nil {
		c.hits.Add(1)
	}
	return a
}

// put keeps a copy of the answer to a question.
func (c *cache) put(asked []byte, a *rego.Answer) {
	if len(asked) > maxCachedKey {
		return
	}
	kept := copyAnswer(a)
	key := string(asked)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[key]; ok {
		return
	}
	if len(c.keys) < maxCached {
		c.keys = append(c.keys, key)
	} else {
		delete(c.known, c.keys[c.next])
		c.keys[c.next] = key
		c.next = (c.next + 1) % maxCached
	}
	c.known[key] = kept
}

// copyAnswer copies what an answer to a question without candidates holds.
func copyAnswer(a *rego.Answer) *rego.Answer {
	out := &rego.Answer{}
	for _, f := range a.Refusals {
		out.Refusals = append(out.Refusals, copyRefusal(f))
	}
	d := &a.Decision
	if d.Refuse != nil {
		f := copyRefusal(*d.Refuse)
		out.Decision.Refuse = &f
	}
	for _, o := range d.Only {
		values := make([]string, len(o.Values))
		for i, v := range o.Values {
			values[i] = strings.Clone(v)
		}
		out.Decision.Only = append(out.Decision.Only, rego.Only{Facet: strings.Clone(o.Facet), Values: values, Reason: strings.Clone(o.Reason)})
	}
	for _, x := range d.Deny {
		out.Decision.Deny = append(out.Decision.Deny, rego.Deny{Facet: strings.Clone(x.Facet), Value: strings.Clone(x.Value), Reason: strings.Clone(x.Reason)})
	}
	out.Decision.Limits = slices.Clone(d.Limits)
	return out
}

func copyRefusal(f rego.Refusal) rego.Refusal {
	f.Code, f.Message = strings.Clone(f.Code), strings.Clone(f.Message)
	return f
}
