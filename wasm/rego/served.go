package rego

import (
	"maps"
	"slices"
)

// Builtins lists the names that Builtin knows, for a module that was compiled
// elsewhere and so may ask for any of them. Those that only modules of Compile
// ask for are not among them.
func Builtins() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(builtins)), func(name string) bool {
		_, ok := Builtin(name)
		return !ok
	})
}

// HostBuiltins lists every name that Builtin knows: those of Builtins, and those
// that modules of Compile and Test ask for in place of what runs in a module.
func HostBuiltins() []string {
	names := Builtins()
	for name := range builtins {
		if _, ok := Builtin(strictPrefix + name); ok {
			names = append(names, strictPrefix+name)
		}
	}
	slices.Sort(names)
	return names
}
