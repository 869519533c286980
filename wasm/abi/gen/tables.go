package main

import (
	"cmp"
	"slices"

	"gatewright/wasm/abi"
)

var stages = [...]abi.Stage{abi.Admission, abi.Ranking}

// byOffset are the fields that the binary form has, in its order.
func byOffset(fields []abi.Field) []abi.Field {
	list := slices.DeleteFunc(slices.Clone(fields), func(f abi.Field) bool { return f.Type == abi.None })
	slices.SortFunc(list, func(a, b abi.Field) int { return cmp.Compare(a.Offset, b.Offset) })
	return list
}

// of are the fields that one object of the JSON form has, in its order.
func of(object abi.Object) []abi.Field {
	list := slices.Concat(abi.Header[:], abi.Record[:])
	return slices.DeleteFunc(list, func(f abi.Field) bool { return f.In != object || f.JSON == abi.Hidden })
}
