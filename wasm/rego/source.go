package rego

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Source is a policy as people write it.
type Source struct {
	// Files are the Rego files by name, with / between folders. Names that end in
	// _test.rego are tests and are left out. Either Files or Bundle is set.
	Files map[string]string

	// Bundle is an OPA bundle: a .tar.gz with Rego files, data.json files and
	// a .manifest.
	Bundle []byte

	// Data is the JSON document that the binding gives as data, besides that of a
	// bundle; nil = not known yet, and Module.Bind judges it later. Params is
	// the document data.params, nil likewise.
	Data, Params []byte

	// Kind is what the policy must be; 0 = its package says it.
	Kind Kind
}

// Limits of a source. They bound the time and the memory of a compilation, which
// OPA's compiler does not: some of what it does is exponential in these.
const (
	maxSource        = 256 << 10 // bytes of all Rego files
	maxFiles         = 64
	maxName          = 256 // bytes of a file's name
	maxData          = 1 << 20
	maxDataDepth     = 32
	maxTemplates     = 256 // of one file
	maxNesting       = 64  // brackets within brackets, in the text
	maxComprehension = 4   // comprehensions, every and template strings within each other
	maxDepth         = 100
	maxRules         = 1000
	maxElse          = 64
	maxBody          = 64   // expressions of one body
	maxExprs         = 2000 // expressions of all bodies
	maxTerms         = 10_000
	maxLiteral       = 1000 // entries of a list, set or object that is written out
)

const testSuffix = "_test.rego"

const fixSplit = "split the policy, or move lists into data"

// load reads the files of a source and parses them. Without problems there is
// at least one module.
func load(s Source, r *report) (modules map[string]*ast.Module, data map[string]any) {
	files := s.Files
	if s.Bundle != nil {
		if s.Files != nil {
			r.add(Problem{Message: "both files and a bundle are given", Fix: "give one of them"})
			return nil, nil
		}
		b, err := readBundle(s.Bundle)
		if err != nil {
			r.add(err.problem())
			return nil, nil
		}
		files, data, r.compiled = b.files, b.data, b.compiled
	}
	if !within(files, r) {
		return nil, nil
	}
	modules = map[string]*ast.Module{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, testSuffix) {
			continue
		}
		if m := parse(name, files[name], dialect(), r); m != nil {
			modules[name] = m
		}
	}
	if len(modules) == 0 && len(r.problems) == 0 {
		r.add(Problem{Message: "there is no policy: no file that ends in .rego and not in " + testSuffix})
	}
	return modules, data
}

// within checks names and sizes.
func within(files map[string]string, r *report) bool {
	if len(files) > maxFiles {
		r.add(Problem{Message: fmt.Sprintf("%d files, the limit is %d", len(files), maxFiles), Fix: fixSplit})
		return false
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		size += len(files[name])
		switch {
		case !cleanName(name):
			r.add(Problem{File: printable(name), Message: "this is no name of a file", Fix: "use letters, digits, . _ - and / between folders"})
		case !strings.HasSuffix(name, ".rego"):
			r.add(Problem{File: name, Message: "a file of a policy ends in .rego"})
		}
	}
	if size > maxSource {
		r.add(Problem{Message: fmt.Sprintf("%d bytes of Rego, the limit is %d", size, maxSource), Fix: fixSplit})
	}
	return len(r.problems) == 0
}

// cleanName reports whether a name is a plain relative path.
func cleanName(name string) bool {
	if name == "" || len(name) > maxName || path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../") {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c < ' ' || c == utf8.RuneError || c == '\\' || c == ':' || c == 0x7f
	})
}

// printable is a name as it may stand in a message.
func printable(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == utf8.RuneError || c == 0x7f {
			return '?'
		}
		return c
	}, name)
}

// parse parses one file within the limits.
func parse(name, text string, language *ast.Capabilities, r *report) *ast.Module {
	if i := firstInvalid(text); i >= 0 {
		r.add(Problem{File: name, Line: 1 + strings.Count(text[:i], "\n"), Message: "the file is not UTF-8", Fix: "save it as UTF-8"})
		return nil
	}
	if n := strings.Count(text, `$"`) + strings.Count(text, "$`"); n > maxTemplates {
		r.add(Problem{File: name, Message: fmt.Sprintf("%d template strings, the limit is %d", n, maxTemplates), Fix: fixSplit})
		return nil
	}
	if line := tooNested(text); line > 0 {
		r.add(Problem{File: name, Line: line, Message: fmt.Sprintf("brackets are nested deeper than %d", maxNesting), Fix: "give the inner parts names: rules or functions"})
		return nil
	}
	m, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{RegoVersion: ast.RegoV1, Capabilities: language})
	if err != nil {
		r.addErrors(err)
		return nil
	}
	if m == nil {
		r.add(Problem{File: name, Message: "the file is empty", Fix: "remove it, or begin it with a package"})
		return nil
	}
	return m
}

// firstInvalid is where a text stops being UTF-8, or -1.
func firstInvalid(text string) int {
	for i, c := range text {
		if c == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n < 2 {
				return i
			}
		}
	}
	return -1
}

// tooNested is the line where brackets are nested too deep for the parser, which
// recurses, or 0. Brackets in texts and comments do not count, those in template
// strings do.
func tooNested(text string) int {
	line, depth := 1, 0
	var quote byte // of the text that we are in
	template, before := false, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\n' {
			line++
		}
		switch {
		case quote != 0 && (c == quote || c == '\n' && quote == '"'):
			if template {
				depth = before
			}
			quote, template = 0, false
		case quote == '"' && c == '\\':
			i++
		case quote != 0 && !template:
		case c == '"', c == '`':
			quote, before, template = c, depth, i > 0 && text[i-1] == '$'
		case c == '#' && quote == 0:
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return 0
			}
			i += n - 1
		case c == '(', c == '[', c == '{':
			depth++
		case c == ')', c == ']', c == '}':
			depth = max(depth-1, 0)
		}
		if depth > maxNesting {
			return line
		}
	}
	return 0
}

// document reads a JSON document of the binding.
func document(text []byte, what string) (map[string]any, *Problem) {
	if len(text) > maxData {
		return nil, &Problem{File: what, Message: fmt.Sprintf("%d bytes, the limit is %d", len(text), maxData)}
	}
	if p := checkJSON(text); p != "" {
		return nil, &Problem{File: what, Message: p}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, &Problem{File: what, Message: err.Error()}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, &Problem{File: what, Message: "the document is not an object", Fix: `write { "name": value, … }`}
	}
	return m, nil
}
