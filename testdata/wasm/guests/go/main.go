//go:build wasip1

// A ranking guest in Go, for tests: the cheapest first. Tests build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared
package main

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"unsafe"
)

func main() {}

// arena is where the host writes.
var arena = make([]uint64, 16<<10)

//go:wasmexport gw_abi_version
func version() uint32 { return 1 << 16 }

//go:wasmexport gw_alloc
func alloc(size uint32) uint32 {
	if size > uint32(len(arena)*8) {
		return 0
	}
	return uint32(uintptr(unsafe.Pointer(&arena[0]))+8) &^ 15
}

// gone keeps something of the standard library busy, as a guest would.
var gone = map[string]int{}

//go:wasmexport gw_rank
func rank(at, size uint32) int32 {
	b := unsafe.Slice((*byte)(unsafe.Pointer(uintptr(at))), size)
	get := binary.LittleEndian.Uint32
	count, record, records, order := get(b[8:]), get(b[12:]), get(b[16:]), get(b[104:])
	price := func(i uint32) uint64 { return binary.LittleEndian.Uint64(b[records+i*record+40:]) }
	list := make([]uint32, count)
	for i := range list {
		list[i] = uint32(i)
	}
	slices.SortStableFunc(list, func(x, y uint32) int {
		switch a, b := price(x), price(y); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	for k, i := range list {
		binary.LittleEndian.PutUint32(b[order+4*uint32(k):], i)
	}
	binary.LittleEndian.PutUint32(b[108:], count)
	if json.Unmarshal([]byte(`{"ranked": 1}`), &gone) != nil {
		return -3
	}
	return int32(count) - 1 + int32(gone["ranked"])
}
