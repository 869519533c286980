package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"gatewright/wasm/abi"
)

//go:embed wasm-abi.md.tmpl
var prose string

// document is docs/wasm-abi.md: the prose with the tables in it.
func document() []byte {
	t := template.Must(template.New("wasm-abi").Funcs(template.FuncMap{
		"binary":   func(name string) string { return binary(fields(name)) },
		"json":     jsonTable,
		"skipped":  skipped,
		"version":  func() string { return fmt.Sprintf("%#08x", abi.Version) },
		"clauses":  clauses,
		"statuses": func() string { return strings.Trim(fmt.Sprint(abi.Statuses), "[]") },
	}).Parse(prose))
	var b bytes.Buffer
	if err := t.Execute(&b, limits); err != nil {
		panic(err) // the template is part of the program
	}
	return b.Bytes()
}

var limits = map[string]int{
	"Header": abi.HeaderSize, "Record": abi.RecordSize, "Error": abi.ErrorSize,
	"Records": abi.MaxRecords, "Text": abi.MaxText, "Pairs": abi.MaxPairs,
	"Granted": abi.MaxGranted, "RetryAfter": abi.MaxRetryAfter,
}

func fields(name string) []abi.Field {
	if name == "header" {
		return abi.Header[:]
	}
	return abi.Record[:]
}

// binary is the table of the fields that the binary form has.
func binary(list []abi.Field) string {
	var b strings.Builder
	b.WriteString("| offset | type | field | written by | |\n|---|---|---|---|---|\n")
	for _, f := range byOffset(list) {
		who := "host"
		if f.Guest {
			who = "**guest**"
		}
		fmt.Fprintf(&b, "| %d | %s | `%s` | %s | %s |\n", f.Offset, f.Type, f.Name, who, f.Doc)
	}
	return b.String()
}

// jsonTable is the table of the fields of an object of the JSON form.
func jsonTable(name string) string {
	var b strings.Builder
	b.WriteString("| field | type | absent while not known | a ranking gets the median | |\n|---|---|---|---|---|\n")
	for _, o := range []abi.Object{abi.RequestObject, abi.CallerObject, abi.CandidateObject} {
		if o.String() != name {
			continue
		}
		for _, f := range of(o) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Name, jsonType(f.JSON), yes(f.Absent), yes(f.Median), f.Doc)
		}
	}
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func jsonType(t abi.JSON) string {
	switch t {
	case abi.Integer:
		return "integer"
	case abi.Bool:
		return "boolean"
	case abi.Map:
		return "object of texts"
	case abi.Enum:
		return "`" + strings.Join(abi.CircuitNames[:], "`, `") + "`"
	case abi.SkipState:
		return "null or `{reason, until_unix_ms}`"
	case abi.String, abi.Hidden:
	}
	return "text"
}

// clauses is the table of clauses.
func clauses() string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, c := range abi.Clauses {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Clause, c.Text)
	}
	return b.String()
}

func skipped() string {
	var list []string
	for i, name := range abi.SkipNames[1:] {
		list = append(list, fmt.Sprintf("%d `%s`", i+1, name))
	}
	return strings.Join(list, ", ")
}
