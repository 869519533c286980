package rego

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// call judges the call of a function or built-in, and its arguments.
func (j *judge) call(terms []*ast.Term, l *ast.Location, rule string, depth, nested int) {
	for _, t := range terms[1:] {
		j.term(t, rule, depth, nested)
	}
	ref, ok := terms[0].Value.(ast.Ref)
	if !ok || l == nil {
		return
	}
	name := ref.String()
	if head, _, _ := strings.Cut(name, "."); j.aliases[head] {
		return
	}
	if builtins[name] == 0 {
		if why, ok := refusal(name); ok {
			j.r.at(l, rule, why.instead, "the built-in %s is refused: %s", name, why.because)
		}
		return
	}
	j.constants(name, terms[1:], l, rule)
}

// constants judges the arguments that must be written out, because what they
// are decides whether the call can fail or what it costs.
func (j *judge) constants(name string, args []*ast.Term, l *ast.Location, rule string) {
	arg := func(i int) ast.Value {
		if i < len(args) {
			return args[i].Value
		}
		return ast.Null{}
	}
	switch name {
	case "div", "rem":
		sign := map[string]string{"div": "/", "rem": "%"}[name]
		n, ok := arg(1).(ast.Number)
		if f, known := n.Float64(); len(args) >= 2 && (!ok || !known || f == 0) {
			j.r.at(l, rule, "multiply the other side of the comparison instead, or use a constant other than 0",
				"%s by something that could be 0: a policy could not tell the failure from false", sign)
		}
	case "regex.match", "regex.is_valid", "regex.find_n", "regex.split", "regex.replace", "regex.find_all_string_submatch_n":
		at := 0
		if name == "regex.replace" {
			at = 1 // behind the text
		}
		j.pattern(arg(at), l, rule, name)
	case "glob.match":
		pattern, ok := arg(0).(ast.String)
		if !ok {
			j.r.at(l, rule, "compare with startswith, endswith or ==, or list the patterns in the policy", "the pattern of %s must be a constant", name)
		} else if what := globPattern(string(pattern)); what != "" {
			j.r.at(l, rule, "use several simpler ones", "the pattern of %s: %s", name, what)
		}
	case "sprintf":
		format, ok := arg(0).(ast.String)
		if !ok {
			j.r.at(l, rule, "write the format as a text, and the rest as values", "the format of sprintf must be a constant")
			return
		}
		if what := checkFormat(string(format)); what != "" {
			j.r.at(l, rule, "use %s, %d, %v, %q, %x or %.2f", "sprintf: %s", what)
		}
	}
}

// maxPattern is the largest regular expression, in bytes, and maxProgram the
// same in steps of its program: a text costs time for each of them.
const (
	maxPattern = 512
	maxProgram = 1000
)

// pattern judges a regular expression.
func (j *judge) pattern(v ast.Value, l *ast.Location, rule, name string) {
	text, ok := v.(ast.String)
	if !ok {
		j.r.at(l, rule, "write the pattern as a text; compare with values by startswith, endswith, contains or ==", "the pattern of %s must be a constant", name)
		return
	}
	if name == "regex.is_valid" {
		return
	}
	if _, what := program(string(text)); what != "" {
		j.r.at(l, rule, "", "the pattern of %s: %s", name, what)
	}
}

// program is the size of a regular expression's program, and what is wrong with
// it.
func program(pattern string) (size int, what string) {
	if len(pattern) > maxPattern {
		return 0, fmt.Sprintf("%d bytes, the limit is %d", len(pattern), maxPattern)
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err.Error()
	}
	p, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0, err.Error()
	}
	if len(p.Inst) > maxProgram {
		return 0, fmt.Sprintf("it is too heavy: %d steps, the limit is %d", len(p.Inst), maxProgram)
	}
	return len(p.Inst), ""
}

// maxWidth is the largest width or precision of a format.
const maxWidth = 64

// checkFormat says what is wrong with a format of sprintf, or "".
func checkFormat(format string) string {
	if len(format) > maxHostText {
		return "the format is too long"
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		start, number := i, 0
		for i++; i < len(format); i++ {
			c := format[i]
			if c == '*' {
				return "a width that is an argument"
			}
			if c < '0' || c > '9' {
				number = 0
				if strings.IndexByte("+-# .[]", c) < 0 {
					break
				}
				continue
			}
			if number = number*10 + int(c-'0'); number > maxWidth {
				return fmt.Sprintf("a width of more than %d", maxWidth)
			}
		}
		if i == len(format) || strings.IndexByte("%bcdeEfFgGoOqstTUvxX", format[i]) < 0 {
			return fmt.Sprintf("%q is no verb", format[start:min(i+1, len(format))])
		}
	}
	return ""
}
