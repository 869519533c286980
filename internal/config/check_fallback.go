package config

import "strings"

// maxShownCycle is how many models of a cycle a message names.
const maxShownCycle = 12

// chain is one class of fallbacks of a model.
type chain struct {
	name    string
	targets *[]string
}

func chainsOf(m *Model) []chain {
	return []chain{
		{"fallbacks", &m.Fallbacks},
		{"context_window_fallbacks", &m.ContextWindowFallbacks},
		{"content_policy_fallbacks", &m.ContentPolicyFallbacks},
	}
}

// hop is one fallback: from a model to another, and where it is written.
type hop struct {
	to *Model
	at path
}

// checkFallbacks checks the targets of all three classes, puts names for
// aliases, and refuses cycles over all classes together.
func (c *checker) checkFallbacks() {
	hops := make(map[*Model][]hop, len(c.f.Models))
	for i := range c.f.Models {
		m := &c.f.Models[i]
		for _, ch := range chainsOf(m) {
			hops[m] = append(hops[m], c.checkChain(m, ch)...)
		}
	}
	c.cycles(hops)
}

func (c *checker) checkChain(m *Model, ch chain) []hop {
	var hops []hop
	seen := make(map[*Model]bool)
	for i, name := range *ch.targets {
		at := path("models").key(m.Name).key(ch.name).index(i)
		target := c.models[name]
		switch {
		case target == nil:
			c.exists(name, "model", &c.modelNames, at)
		case target == m:
			c.fail(at, "remove it", "the model falls back to itself")
		case seen[target]:
			c.fail(at, "remove it", "the model %s stands twice", c.shown(target.Name))
		default:
			seen[target] = true
			hops = append(hops, hop{target, at})
			(*ch.targets)[i] = target.Name
		}
	}
	return hops
}

// cycles walks every way of fallbacks once and reports each hop that leads back
// to a model of the way.
func (c *checker) cycles(hops map[*Model][]hop) {
	const onWay, done = 1, 2
	state := make(map[*Model]int, len(hops))
	next := make(map[*Model]int, len(hops)) // hops of the model taken so far
	for i := range c.f.Models {
		if state[&c.f.Models[i]] != 0 {
			continue
		}
		way := []*Model{&c.f.Models[i]}
		state[way[0]] = onWay
		for len(way) > 0 {
			m := way[len(way)-1]
			if next[m] == len(hops[m]) {
				state[m] = done
				way = way[:len(way)-1]
				continue
			}
			h := hops[m][next[m]]
			next[m]++
			switch state[h.to] {
			case onWay:
				c.fail(h.at, "remove one of the fallbacks", "the fallbacks go in a circle: %s", cycleText(way, h.to))
			case 0:
				state[h.to] = onWay
				way = append(way, h.to)
			}
		}
	}
}

// cycleText is the way from a model back to it: m1 -> m2 -> m1.
func cycleText(way []*Model, to *Model) string {
	start := len(way) - 1
	for way[start] != to {
		start--
	}
	circle := way[start:]
	var names []string
	for i, m := range circle {
		if i == maxShownCycle {
			names = append(names, "…")
			break
		}
		names = append(names, m.Name)
	}
	return strings.Join(append(names, to.Name), " -> ")
}
