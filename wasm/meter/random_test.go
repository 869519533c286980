package meter_test

import (
	"math/rand/v2"
	"testing"
)

// A random program is made of statements that are both written as code and
// run here, where every instruction is counted: the oracle for what the budget
// must cover. Its branches are decided by a number that each decision changes,
// in local 0.
type statement interface {
	code() []byte
	// run executes the statement; it returns how many scopes a branch leaves, or
	// fallThrough. The count of instructions goes to the machine.
	run(m *machine) int
}

const (
	fallThrough = -1
	returned    = 1 << 20
	mostSteps   = 20_000
)

type machine struct {
	state   uint32
	steps   int64 // units of what was executed
	chances int64 // places where a branch was possible: what a point may be wrong about
}

func (m *machine) over() bool { return m.steps > mostSteps }

// decide is how a condition comes about: 10 instructions that change local 0 and
// leave one of its bits.
var decide = cat(0x20, 0, 0x41, s32(1664525), 0x6c, 0x41, s32(1013904223), 0x6a, 0x22, 0, 0x41, 20, 0x76, 0x41, 1, 0x71)

func (m *machine) decide() bool {
	m.steps += 10
	m.chances++
	m.state = m.state*1664525 + 1013904223
	return m.state>>20&1 == 1
}

type nops int

func (n nops) code() []byte { return repeat(int(n), 1) }
func (n nops) run(m *machine) int {
	m.steps += int64(n)
	return fallThrough
}

// body runs statements one after the other.
type body []statement

func (b body) code() (out []byte) {
	for _, s := range b {
		out = append(out, s.code()...)
	}
	return out
}

func (b body) run(m *machine) int {
	for _, s := range b {
		if out := s.run(m); out != fallThrough || m.over() {
			return out
		}
	}
	return fallThrough
}

type block struct{ body }

func (b block) code() []byte { return cat(0x02, 0x40, b.body.code(), 0x0b) }
func (b block) run(m *machine) int {
	m.steps++
	return leave(m, b.body.run(m))
}

// leave ends a scope: a branch to it goes on behind it.
func leave(m *machine, out int) int {
	m.chances++
	switch out {
	case fallThrough:
		m.steps++ // end
		return fallThrough
	case 0:
		return fallThrough
	}
	return out - 1
}

type loop struct{ body }

func (l loop) code() []byte { return cat(0x03, 0x40, l.body.code(), 0x0b) }
func (l loop) run(m *machine) int {
	m.steps++
	for {
		m.chances++
		out := l.body.run(m)
		if out == 0 && !m.over() {
			continue
		}
		return leave(m, out)
	}
}

type choice struct{ then, otherwise body }

func (c choice) code() []byte {
	if c.otherwise == nil {
		return cat(decide, 0x04, 0x40, c.then.code(), 0x0b)
	}
	return cat(decide, 0x04, 0x40, c.then.code(), 0x05, c.otherwise.code(), 0x0b)
}

func (c choice) run(m *machine) int {
	yes := m.decide()
	m.steps++
	switch {
	case yes:
		return leave(m, c.then.run(m))
	case c.otherwise == nil:
		return fallThrough
	}
	return leave(m, c.otherwise.run(m))
}

// jump is br_if, br, return, or br_table with one label and the default.
type jump struct {
	depth int
	kind  byte
	other int // the default
}

func (j jump) code() []byte {
	switch j.kind {
	case 0x0d:
		return cat(decide, 0x0d, j.depth)
	case 0x0c:
		return cat(0x0c, j.depth)
	case 0x0e:
		return cat(decide, 0x0e, 1, j.depth, j.other)
	}
	return cat(0x0f)
}

func (j jump) run(m *machine) int {
	m.chances++
	m.steps++
	switch {
	case j.kind == 0x0f:
		return returned
	case j.kind == 0x0d && !m.decide():
		return fallThrough
	case j.kind == 0x0e && m.decide():
		return j.other
	}
	return j.depth
}

// random makes statements inside so many scopes.
func random(r *rand.Rand, scopes, size int) (b body) {
	for range 1 + r.IntN(4) {
		if size <= 0 {
			break
		}
		switch r.IntN(8) {
		case 0, 1:
			b = append(b, nops(r.IntN(40)))
		case 2:
			b = append(b, nops(r.IntN(600)))
		case 3:
			b = append(b, block{random(r, scopes+1, size/2)})
		case 4:
			b = append(b, loop{append(random(r, scopes+1, size/2), jump{kind: 0x0d})})
		case 5:
			c := choice{then: random(r, scopes+1, size/2)}
			if r.IntN(2) == 0 {
				c.otherwise = append(random(r, scopes+1, size/2), nops(1))
			}
			b = append(b, c)
		case 6:
			b = append(b, jump{depth: r.IntN(scopes + 1), kind: 0x0d})
		default:
			if r.IntN(4) == 0 {
				kinds := []byte{0x0c, 0x0e, 0x0f}
				b = append(b, jump{r.IntN(scopes + 1), kinds[r.IntN(3)], r.IntN(scopes + 1)})
			}
		}
		size--
	}
	return b
}

// Whatever path a program takes, the budget pays for at least what runs and for
// not much more than a point may be wrong about.
func TestBudgetCoversWhatRuns(t *testing.T) {
	engine := newEngine(t, engines[1].config())
	count := 1500
	if testing.Short() {
		count = 100
	}
	r := rand.New(rand.NewPCG(11, 12))
	ran, most := 0, 0.0
	for range count {
		p := random(r, 0, 24)
		module := instrument(t, program(p.code()))
		i := instantiate(t, engine, module)
		for range 4 {
			seed := r.Uint32()
			m := &machine{state: seed}
			out := p.run(m)
			if m.over() {
				continue
			}
			if out == fallThrough {
				m.steps++ // the function's end
			}
			ran++
			m.steps += 32 + 4
			_, used, err := i.call(enough, "run", uint64(seed))
			if err != nil {
				t.Fatal(err)
			}
			if used < m.steps || used > m.steps+256*(m.chances+1) {
				t.Fatalf("%d units for %d instructions with %d chances to branch: seed %d, code %x", used, m.steps, m.chances, seed, p.code())
			}
			most = max(most, float64(used)/float64(m.steps))
		}
		_ = i.Close(t.Context())
	}
	if ran < count {
		t.Errorf("only %d runs", ran)
	}
	t.Logf("%d runs, at most %.1f times what ran", ran, most)
}
