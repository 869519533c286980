package proc

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Unpinned is no core: the scheduler chooses.
const Unpinned = -1

// Cores says which core is for whom.
type Cores struct {
	Gateway int    // what is measured
	Load    int    // load and upstream
	Note    string // what the reader of the figures should know; "" = nothing
}

// Plan chooses two cores out of those that this process may use. When there is
// only one, or processes cannot be bound, the plan says so in its note.
func Plan() (Cores, error) {
	allowed, err := Allowed()
	if err != nil {
		return Cores{}, err
	}
	return plan(allowed, Siblings, func(core int) error { return onCore(core, func() error { return nil }) }), nil
}

// plan chooses the first core for the gateway and for the load the first that
// is no hardware thread of the same one.
func plan(allowed []int, siblings func(core int) []int, bind func(core int) error) Cores {
	if len(allowed) < 2 {
		return Cores{Unpinned, Unpinned, "one core: gateway, load and upstream share it, so figures hold what they cost each other"}
	}
	c := Cores{Gateway: allowed[0], Load: allowed[1]}
	same := siblings(c.Gateway)
	if i := slices.IndexFunc(allowed[1:], func(core int) bool { return !slices.Contains(same, core) }); i >= 0 {
		c.Load = allowed[1+i]
	} else {
		c.Note = "both cores are hardware threads of one: gateway and load slow each other"
	}
	for _, core := range []int{c.Gateway, c.Load} {
		if err := bind(core); err != nil {
			return Cores{Unpinned, Unpinned, fmt.Sprintf("processes run on any core (%v), so figures move more", err)}
		}
	}
	return c
}

// Siblings lists the hardware threads of the core that core is one of; nil =
// not known.
func Siblings(core int) []int {
	text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", core))
	if err != nil {
		return nil
	}
	return parseList(strings.TrimSpace(string(text)))
}

// parseList reads a list of cores as the kernel writes it, such as 0-1,4; nil =
// it is none.
func parseList(text string) []int {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			return nil
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(high); err != nil {
				return nil
			}
		}
		for core := first; core <= last; core++ {
			list = append(list, core)
		}
	}
	return list
}
