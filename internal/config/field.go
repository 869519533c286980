package config

import (
	"reflect"
	"strings"
)

// field is what the tags of a struct field say.
//
//	config:"name"      the key in the file
//	config:",key"      filled with the key that the struct stands under
//	config:",whole"    filled with everything that stands under that key
//	kind:"size"        how a scalar is written, when its Go type does not say it
//	min:"1" max:"10"   bounds, written as a user would write the value
//	oneof:"a,b"        the only texts taken
//	example:"…"        what to write in place of a value of a wrong kind
//
// A field without a config tag is not read: the package fills it later.
type field struct {
	name   string
	index  int
	kind   string
	min    string
	max    string
	sample string
	oneof  []string
	secret bool
}

// fieldsOf returns the fields of a struct type that the file can set, by name.
func fieldsOf(t reflect.Type) map[string]field {
	fields := make(map[string]field, t.NumField())
	for i := range t.NumField() {
		if f, ok := fieldOf(t, i); ok {
			fields[f.name] = f
		}
	}
	return fields
}

// fieldNames lists the names in the order of the struct.
func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if f, ok := fieldOf(t, i); ok {
			names = append(names, f.name)
		}
	}
	return names
}

func fieldOf(t reflect.Type, i int) (field, bool) {
	sf := t.Field(i)
	name := sf.Tag.Get("config")
	if name == "" || name[0] == ',' {
		return field{}, false
	}
	f := field{
		name: name, index: i,
		kind: sf.Tag.Get("kind"), min: sf.Tag.Get("min"), max: sf.Tag.Get("max"), sample: sf.Tag.Get("example"),
		secret: holdsSecret(sf.Type),
	}
	if list := sf.Tag.Get("oneof"); list != "" {
		f.oneof = strings.Split(list, ",")
	}
	return f, true
}

func holdsSecret(t reflect.Type) bool {
	switch t.Kind() { //nolint:exhaustive // only containers can hold one
	case reflect.Slice, reflect.Map, reflect.Pointer:
		return holdsSecret(t.Elem())
	default:
		return t == reflect.TypeFor[Secret]()
	}
}

// keyField returns the index of the field that takes the key, -1 if there is
// none; wholeField that of the field that takes all under it.
func keyField(t reflect.Type) int   { return optionField(t, ",key") }
func wholeField(t reflect.Type) int { return optionField(t, ",whole") }

func optionField(t reflect.Type, option string) int {
	if t.Kind() != reflect.Struct {
		return -1
	}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("config") == option {
			return i
		}
	}
	return -1
}
