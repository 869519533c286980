package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

const schemaFile = "../../docs/config.schema.json"

// The schema for editors is made from the types: names and bounds from the
// tags, descriptions from the comments of the fields.
func TestSchemaIsFresh(t *testing.T) {
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schemaOf(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(schemaFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(schemaFile, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s is stale, run the test with -update (-want +got):\n%s", schemaFile, d)
	}
}

// What loads must also please an editor that knows the schema, and what the
// schema refuses must not load.
func TestSchemaAgreesWithReader(t *testing.T) {
	schema := schemaOf(t)
	files, err := filepath.Glob(filepath.Join(casesDir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if yaml.Unmarshal(data, &value) != nil {
				t.Skip("no YAML")
			}
			faults := validate(schema, schema, value, "")
			if good := strings.Contains(name, ".good."); good && len(faults) > 0 {
				t.Errorf("the schema refuses a good file:\n%s", strings.Join(faults, "\n"))
			}
		})
	}
	t.Run("unknown key", func(t *testing.T) {
		if len(validate(schema, schema, map[string]any{"lisen": "x", "providers": map[string]any{}, "models": map[string]any{}}, "")) == 0 {
			t.Error("the schema takes an unknown key")
		}
	})
}

// schemaOf returns the JSON Schema of a file.
func schemaOf(t *testing.T) map[string]any {
	t.Helper()
	b := &schemaBuilder{
		docs: fieldDocs(t), defs: make(map[string]any),
		defaults: map[reflect.Type]reflect.Value{
			reflect.TypeFor[RetryPolicy](): reflect.ValueOf(defaultRouter().RetryPolicy),
			reflect.TypeFor[RetryBudget](): reflect.ValueOf(defaultRouter().RetryBudget),
		},
	}
	root := b.object(reflect.TypeFor[File]())
	root["required"] = []any{"providers", "models"}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Gatewright configuration"
	root["$defs"] = b.defs
	return root
}

type schemaBuilder struct {
	docs     map[string]string // "Type" and "Type.Field"
	defs     map[string]any
	defaults map[reflect.Type]reflect.Value // of sections that stand once
}

// object describes a struct type.
func (b *schemaBuilder) object(t reflect.Type) map[string]any {
	properties := make(map[string]any)
	defaults := reflect.New(t).Elem()
	setDefaults(defaults)
	if t == reflect.TypeFor[File]() {
		defaults = reflect.ValueOf(newFile()).Elem()
	}
	if d, ok := b.defaults[t]; ok {
		defaults = d
	}
	for name, f := range fieldsOf(t) {
		sf := t.Field(f.index)
		if sf.Type.Kind() == reflect.Struct && t == reflect.TypeFor[File]() {
			b.defaults[sf.Type] = defaults.Field(f.index)
		}
		s := b.value(sf.Type, f)
		if d := defaultText(defaults.Field(f.index), f); d != nil {
			s["default"] = d
		}
		doc := b.docs[t.Name()+"."+sf.Name]
		if doc == "" {
			panic("no comment at " + t.Name() + "." + sf.Name)
		}
		if t == reflect.TypeFor[KeyUse]() && name == "key" {
			s["enum"] = anys(sortKeyNames())
		}
		s["description"] = doc
		properties[name] = s
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// value describes what one field may hold.
func (b *schemaBuilder) value(t reflect.Type, f field) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if fm, ok := formOf(t, f); ok {
		return b.scalar(fm, f)
	}
	if t == reflect.TypeFor[Parameters]() {
		return map[string]any{"type": "object", "additionalProperties": map[string]any{}}
	}
	switch t.Kind() { //nolint:exhaustive // formOf has taken the scalars
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": b.value(t.Elem(), f)}
	case reflect.Slice:
		switch whole := wholeField(t.Elem()); {
		case whole >= 0:
			return map[string]any{"type": "object", "additionalProperties": b.value(t.Elem().Field(whole).Type, field{})}
		case keyField(t.Elem()) >= 0:
			return map[string]any{"type": "object", "additionalProperties": b.reference(t.Elem())}
		}
		return map[string]any{"type": "array", "items": b.value(t.Elem(), f)}
	case reflect.Struct:
		if f.kind != "" { // a bound of a sort key
			return b.scalar(forms[f.kind], f)
		}
		return b.reference(t)
	default:
		panic(fmt.Sprintf("no schema for %s", t))
	}
}

func (b *schemaBuilder) reference(t reflect.Type) map[string]any {
	if _, ok := b.defs[t.Name()]; !ok {
		b.defs[t.Name()] = nil
		s := b.object(t)
		s["description"] = b.docs[t.Name()]
		if t == reflect.TypeFor[Deployment]() {
			s = map[string]any{"oneOf": []any{map[string]any{"type": "string"}, s}}
		}
		b.defs[t.Name()] = s
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name()}
}

func (b *schemaBuilder) scalar(fm form, f field) map[string]any {
	s := maps.Clone(fm.schema)
	if f.oneof != nil {
		s["enum"] = anys(f.oneof)
	}
	if f.sample != "" {
		s["examples"] = []any{f.sample}
	}
	switch f.name {
	case "preset":
		s["enum"] = anys(presetNames())
	case "protocol":
		s["enum"] = anys(protocols)
	case "capabilities":
		s["enum"] = anys(capabilities)
	}
	if s["type"] == "integer" || s["type"] == "number" {
		for name, text := range map[string]string{"minimum": f.min, "maximum": f.max} {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				s[name] = n
			}
		}
	}
	return s
}

// defaultText is a default as a user would write it; nil = none.
func defaultText(v reflect.Value, f field) any {
	if v.IsZero() || (v.Kind() != reflect.String && v.Kind() != reflect.Bool && !v.CanInt()) {
		return nil
	}
	switch {
	case f.kind == "size" && v.Int()%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", v.Int()>>20)
	case f.kind == "size":
		return fmt.Sprintf("%dKiB", v.Int()>>10)
	case f.kind == "share":
		return float64(v.Int()) / 1e6
	case f.kind == "seconds":
		return v.Interface().(time.Duration).Seconds()
	case v.Type() == reflect.TypeFor[time.Duration]():
		text := v.Interface().(time.Duration).String()
		for _, zero := range []string{"0s", "0m"} {
			if cut := strings.TrimSuffix(text, zero); cut != "" && (cut[len(cut)-1] == 'm' || cut[len(cut)-1] == 'h') {
				text = cut
			}
		}
		return text
	case v.CanInt():
		return v.Int()
	}
	return v.Interface()
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// fieldDocs reads the comments of the package's struct types.
func fieldDocs(t *testing.T) map[string]string {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	docs := make(map[string]string)
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				ts, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				docs[ts.Name.Name] = sentence(ts.Name.Name, gen.Doc.Text())
				if st, ok := ts.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						for _, n := range f.Names {
							docs[ts.Name.Name+"."+n.Name] = sentence(n.Name, f.Doc.Text())
						}
					}
				}
			}
		}
	}
	return docs
}

// sentence takes the Go name off a comment: "Listen is the address" is "The
// address" to a user of the file. What follows the first paragraph is for users
// of the package.
func sentence(name, doc string) string {
	doc, _, _ = strings.Cut(doc, "\n\n")
	doc = strings.Join(strings.Fields(doc), " ")
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(doc, name+verb); ok && rest != "" {
			return strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	if rest, ok := strings.CutPrefix(doc, name+" "); ok && rest != "" {
		return strings.ToUpper(rest[:1]) + rest[1:]
	}
	return doc
}

// validate checks a value against the part of JSON Schema that schemaOf uses.
func validate(root, s map[string]any, v any, at string) []string {
	if ref, ok := s["$ref"].(string); ok {
		def := root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		return validate(root, def, v, at)
	}
	if v == nil || len(s) == 0 {
		return nil // an empty value is the default; an empty schema takes all
	}
	if list, ok := s["oneOf"].([]any); ok {
		var all []string
		for _, one := range list {
			faults := validate(root, one.(map[string]any), v, at)
			if len(faults) == 0 {
				return nil
			}
			all = append(all, faults...)
		}
		return all
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		return []string{fmt.Sprintf("%s: %v is not in %v", at, v, enum)}
	}
	if !typeFits(s["type"], v) {
		return []string{fmt.Sprintf("%s: %T is not %v", at, v, s["type"])}
	}
	switch v := v.(type) {
	case map[string]any:
		return validateObject(root, s, v, at)
	case []any:
		var faults []string
		for i, item := range v {
			faults = append(faults, validate(root, s["items"].(map[string]any), item, fmt.Sprintf("%s[%d]", at, i))...)
		}
		return faults
	case string:
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			return []string{fmt.Sprintf("%s: %q does not match %s", at, v, p)}
		}
	case int, float64:
		n := reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float()
		low, hasLow := s["minimum"].(float64)
		high, hasHigh := s["maximum"].(float64)
		if hasLow && n < low || hasHigh && n > high {
			return []string{fmt.Sprintf("%s: %v is out of bounds", at, v)}
		}
	}
	return nil
}

func validateObject(root, s, v map[string]any, at string) []string {
	var faults []string
	properties, _ := s["properties"].(map[string]any)
	for name, item := range v {
		inner := at + "." + name
		switch p, ok := properties[name].(map[string]any); {
		case ok:
			faults = append(faults, validate(root, p, item, inner)...)
		case s["additionalProperties"] == false:
			faults = append(faults, inner+": unknown key")
		default:
			faults = append(faults, validate(root, s["additionalProperties"].(map[string]any), item, inner)...)
		}
	}
	return faults
}

func typeFits(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(w any) bool { return typeFits(w, v) })
	}
	switch v.(type) {
	case string:
		return want == "string" || want == nil
	case bool:
		return want == nil // an enum has taken it
	case int:
		return want == "integer" || want == "number"
	case float64:
		return want == "number"
	case map[string]any:
		return want == "object"
	case []any:
		return want == "array"
	}
	return fmt.Sprintf("%T", v) == "time.Time" && want == "string"
}
