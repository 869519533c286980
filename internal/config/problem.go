package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a file with the problem can be used.
type Severity uint8

// The severities. A file that has warnings alone is usable.
const (
	SeverityError Severity = iota
	SeverityWarning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == SeverityWarning {
		return "warning"
	}
	return "error"
}

// MarshalText makes the severity readable in JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Problem is one fault of a configuration. No field of it ever holds a secret.
type Problem struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file"`   // as given to Load or Parse
	Line     int      `json:"line"`   // from 1; 0 = the problem has no place in the text
	Column   int      `json:"column"` // from 1, in characters; 0 = not known
	Path     string   `json:"path"`   // "models.m.deployments[2].provider"; "" = the whole file
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"` // what to write instead; may be empty

	// Awaits is a file that cannot be read: it may end the problem by a change of its
	// own. "" = none.
	Awaits string `json:"-"`
}

// String returns the problem on one line:
// file:line:col: path: message; fix.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if p.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	if p.Path != "" {
		b.WriteString(p.Path)
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; ")
		b.WriteString(p.Fix)
	}
	return b.String()
}

// Problems are the faults of one file in the order of its lines. It is an error
// whose text has one problem per line. Use Err to hand it on as an error: the
// list may be empty or hold warnings alone.
type Problems []Problem //nolint:errname // the word that users, the API and the command line share

// Error returns one problem per line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the errors of the list as an error, or nil when the file is
// usable.
func (ps Problems) Err() error {
	if errs := ps.Errors(); len(errs) > 0 {
		return errs
	}
	return nil
}

// Errors returns the problems that make the file unusable.
func (ps Problems) Errors() Problems { return ps.of(SeverityError) }

// Warnings returns the problems that leave the file usable.
func (ps Problems) Warnings() Problems { return ps.of(SeverityWarning) }

func (ps Problems) of(s Severity) Problems {
	var list Problems
	for _, p := range ps {
		if p.Severity == s {
			list = append(list, p)
		}
	}
	return list
}

// sort puts the problems in the order of the text; what has no place goes last.
func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path))
	})
}
