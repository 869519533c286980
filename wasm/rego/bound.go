package rego

import (
	"fmt"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// More bounds of single built-ins.
const (
	maxShortText   = 256       // bytes of a version, a unit, an address, a time
	maxRegexText   = 32 << 10  // bytes that a regular expression looks at: the longest text that a policy is given
	maxRegexSteps  = 2_000_000 // steps of its program times bytes; they are charged to the budget
	maxGlob        = 256       // bytes of a glob
	maxGlobText    = 1 << 10   // bytes that it looks at
	maxStars       = 8         // wildcards of a glob
	maxGrown       = 256 << 10 // bytes that a replacement may make
	maxFactors     = 1000      // numbers of a product
	maxCalendar    = 10_000    // years, months and days that are added
	maxShortDigits = 3         // digits of an exponent in a text
)

// bounds are what built-ins are held to besides the size of their arguments.
var bounds = map[string]func(args []*ast.Term) string{
	"sprintf":                          func(a []*ast.Term) string { return checkFormat(textAt(a, 0)) },
	"regex.match":                      regexBound(0, 1),
	"regex.is_valid":                   func(a []*ast.Term) string { return atMost("the pattern", textAt(a, 0), maxPattern) },
	"regex.find_n":                     regexBound(0, 1),
	"regex.find_all_string_submatch_n": regexBound(0, 1),
	"regex.split":                      regexBound(0, 1),
	"regex.replace":                    regexReplaceBound,
	"glob.match":                       globBound,
	"glob.quote_meta":                  func(a []*ast.Term) string { return atMost("the text", textAt(a, 0), maxGlobText) },
	"replace":                          func(a []*ast.Term) string { return grown(textAt(a, 0), textAt(a, 2)) },
	"strings.replace_n":                replaceAllBound,
	"concat":                           concatBound,
	"product":                          productBound,
	"to_number":                        numberBound,
	"units.parse":                      numberBound,
	"units.parse_bytes":                numberBound,
	"semver.compare":                   shortTexts,
	"semver.is_valid":                  shortTexts,
	"net.cidr_contains":                shortTexts,
	"net.cidr_intersects":              shortTexts,
	"net.cidr_is_valid":                shortTexts,
	"uuid.parse":                       shortTexts,
	"time.parse_duration_ns":           numberBound,
	"time.parse_rfc3339_ns":            shortTexts,
	"time.parse_ns":                    shortTexts,
	"time.format":                      timeBound,
	"time.date":                        timeBound,
	"time.clock":                       timeBound,
	"time.weekday":                     timeBound,
	"time.diff":                        timeBound,
	"time.add_date":                    calendarBound,
	"json.unmarshal":                   func(a []*ast.Term) string { return checkJSONText(textAt(a, 0)) },
}

// textAt is a text among the arguments, or "".
func textAt(args []*ast.Term, i int) string {
	if i < len(args) {
		if s, ok := args[i].Value.(ast.String); ok {
			return string(s)
		}
	}
	return ""
}

// atMost bounds a text.
func atMost(what, text string, limit int) string {
	if len(text) > limit {
		return fmt.Sprintf("%s has %d bytes, the limit is %d", what, len(text), limit)
	}
	return ""
}

// shortTexts bounds all texts, also within lists.
func shortTexts(args []*ast.Term) string {
	for _, a := range args {
		switch v := a.Value.(type) {
		case ast.String:
			if w := atMost("a text", string(v), maxShortText); w != "" {
				return w
			}
		case *ast.Array:
			for i := range v.Len() {
				if w := shortTexts([]*ast.Term{v.Elem(i)}); w != "" {
					return w
				}
			}
		}
	}
	return ""
}

// numberBound bounds texts that are read as numbers: a short text can stand for
// a number that fills the memory.
func numberBound(args []*ast.Term) string {
	text := textAt(args, 0)
	if w := atMost("a number", text, maxDigits); w != "" {
		return w
	}
	if i := strings.IndexAny(text, "eEpP"); i >= 0 {
		digits := 0
		for _, c := range text[i+1:] {
			if c >= '0' && c <= '9' {
				digits++
			}
		}
		if digits > maxShortDigits {
			return "the exponent is too large"
		}
	}
	return ""
}

// grown bounds what replacing parts of a text by another may make of it.
func grown(text, by string) string {
	if (len(text)+1)*len(by) > maxGrown {
		return fmt.Sprintf("the result could have more than %d bytes", maxGrown)
	}
	return ""
}

func replaceAllBound(args []*ast.Term) string {
	o, ok := args[0].Value.(ast.Object)
	if !ok {
		return ""
	}
	longest := ""
	o.Foreach(func(_, v *ast.Term) {
		if s, ok := v.Value.(ast.String); ok && len(s) > len(longest) {
			longest = string(s)
		}
	})
	if o.Len() > maxCalls {
		return "too many replacements"
	}
	return grown(textAt(args, 1), longest)
}

const maxCalls = 1000

func concatBound(args []*ast.Term) string {
	n := 0
	switch v := args[1].Value.(type) {
	case *ast.Array:
		n = v.Len()
	case ast.Set:
		n = v.Len()
	}
	if n*len(textAt(args, 0)) > maxGrown {
		return fmt.Sprintf("the result would have more than %d bytes", maxGrown)
	}
	return ""
}

func productBound(args []*ast.Term) string {
	if v, ok := args[0].Value.(*ast.Array); ok && v.Len() > maxFactors {
		return fmt.Sprintf("a product of more than %d numbers", maxFactors)
	}
	return ""
}

// programs are the sizes of the patterns that were seen last.
var programs = struct {
	sync.Mutex

	known map[string]programSize
}{known: map[string]programSize{}}

type programSize struct {
	steps int
	what  string
}

const maxPrograms = 1024

// sizeOf is the size of a pattern's program, and what is wrong with it.
func sizeOf(pattern string) programSize {
	if len(pattern) > maxPattern {
		return programSize{maxProgram, fmt.Sprintf("the pattern has more than %d bytes", maxPattern)}
	}
	programs.Lock()
	p, ok := programs.known[pattern]
	programs.Unlock()
	if ok {
		return p
	}
	p.steps, p.what = program(pattern)
	programs.Lock()
	defer programs.Unlock()
	if len(programs.known) >= maxPrograms {
		clear(programs.known)
	}
	programs.known[strings.Clone(pattern)] = p
	return p
}

// steps is how many steps a pattern takes for a byte, at most.
func steps(pattern string) int { return min(max(sizeOf(pattern).steps, 1), maxProgram) }

func regexBound(pattern, text int) func(args []*ast.Term) string {
	return func(args []*ast.Term) string {
		p, t := sizeOf(textAt(args, pattern)), textAt(args, text)
		if p.what != "" {
			return p.what
		}
		if w := atMost("the text", t, maxRegexText); w != "" {
			return w
		}
		if p.steps*len(t) > maxRegexSteps {
			return fmt.Sprintf("a pattern of %d steps on a text of %d bytes is too much", p.steps, len(t))
		}
		return ""
	}
}

// regexReplaceBound: regex.replace takes the text before the pattern.
func regexReplaceBound(args []*ast.Term) string {
	if w := regexBound(1, 0)(args); w != "" {
		return w
	}
	// A replacement may stand for what was found several times over.
	by := textAt(args, 2)
	times := 1 + strings.Count(by, "$")
	if (len(textAt(args, 0))+1)*(len(by)+1)*times > maxGrown {
		return fmt.Sprintf("the result could have more than %d bytes", maxGrown)
	}
	return ""
}

func globBound(args []*ast.Term) string {
	pattern := textAt(args, 0)
	if w := globPattern(pattern); w != "" {
		return w
	}
	if d, ok := args[1].Value.(*ast.Array); ok && d.Len() > maxStars {
		return fmt.Sprintf("more than %d delimiters", maxStars)
	}
	return atMost("the text", textAt(args, 2), maxGlobText)
}

// globPattern says what is beyond the bounds of a glob, or "".
func globPattern(pattern string) string {
	if w := atMost("the pattern", pattern, maxGlob); w != "" {
		return w
	}
	if n := strings.Count(pattern, "*") + strings.Count(pattern, "{"); n > maxStars {
		return fmt.Sprintf("%d wildcards and alternatives, the limit is %d", n, maxStars)
	}
	return ""
}

// timeBound refuses the machine's own zone: it is not the same everywhere.
func timeBound(args []*ast.Term) string {
	for _, a := range args {
		if v, ok := a.Value.(*ast.Array); ok && v.Len() > 1 {
			if zone, _ := v.Elem(1).Value.(ast.String); strings.EqualFold(string(zone), "local") {
				return "the zone of the machine is not the same everywhere; name the zone, like Europe/Berlin"
			}
		}
	}
	return shortTexts(args)
}

func calendarBound(args []*ast.Term) string {
	for _, a := range args[1:] {
		n, ok := a.Value.(ast.Number)
		if i, whole := n.Int(); ok && (!whole || i > maxCalendar || i < -maxCalendar) {
			return fmt.Sprintf("years, months and days are whole numbers of at most %d", maxCalendar)
		}
	}
	return ""
}

// checkJSONText says what is wrong with a JSON text within a text.
func checkJSONText(text string) string {
	s := scanner{s: text}
	s.skip()
	s.end()
	return s.what
}
