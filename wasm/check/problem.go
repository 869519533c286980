package check

import (
	"fmt"
	"strings"
)

// maxProblems bounds how many problems an Error lists.
const maxProblems = 20

// fixBroken is what to do about bytes that no compiler wrote.
const fixBroken = "build the module again; the file is damaged or was not written by a compiler"

// Problem is one reason why a module is refused.
type Problem struct {
	Section string // "code", "import", "custom", …; "module" for the file as a whole
	Offset  int    // in bytes from the module's start
	What    string // what is there and what may be
	Fix     string // what to do about it
}

func (p Problem) String() string {
	return fmt.Sprintf("%s, offset %#x: %s; %s", p.Section, p.Offset, p.What, p.Fix)
}

// Error is what Check returns for a module that it refuses.
type Error struct {
	Profile  string
	Problems []Problem // at least one, in the order of their offsets as far as they were found so
	Omitted  int       // how many more there are
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "module refused by profile %q: ", e.Profile)
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(p.String())
	}
	if e.Omitted > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.Omitted)
	}
	return b.String()
}

// report collects problems.
type report struct {
	problems []Problem
	omitted  int
	told     map[string]bool // what is told once for the whole module
}

// add notes a problem. The arguments are formatted only if there is room.
func (t *report) add(section string, offset int, fix, what string, args ...any) {
	if len(t.problems) == maxProblems {
		t.omitted++
		return
	}
	if len(args) > 0 {
		what = fmt.Sprintf(what, args...)
	}
	t.problems = append(t.problems, Problem{section, offset, what, fix})
}

// once notes a problem unless one of that key was noted before.
func (t *report) once(key, section string, offset int, fix, what string) {
	if t.told[key] {
		return
	}
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[key] = true
	t.add(section, offset, fix, what)
}

func (t *report) err(profile string) error {
	if len(t.problems) == 0 {
		return nil
	}
	return &Error{profile, t.problems, t.omitted}
}
