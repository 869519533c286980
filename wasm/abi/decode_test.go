package abi_test

import (
	"encoding/binary"
	"math"
	"testing"

	"gatewright/wasm/abi"
)

// decoded is what a buffer says, read by the tables alone: a field by its name.
type decoded struct {
	header  map[string]any
	attrs   map[string]string
	records []map[string]any
	tags    []map[string]string
}

// decode reads a buffer as a guest would.
func decode(tb testing.TB, b []byte) decoded {
	tb.Helper()
	d := decoded{header: fieldsOf(tb, b, 0, abi.Header[:])}
	d.attrs = pairs(tb, b, d.header["attrs_off"].(uint32))
	at, size := d.header["records_off"].(uint32), d.header["record_size"].(uint32)
	for range d.header["count"].(uint32) {
		r := fieldsOf(tb, b, at, abi.Record[:])
		d.records = append(d.records, r)
		d.tags = append(d.tags, pairs(tb, b, r["tags_off"].(uint32)))
		at += size
	}
	return d
}

func fieldsOf(tb testing.TB, b []byte, at uint32, fields []abi.Field) map[string]any {
	tb.Helper()
	m := map[string]any{}
	for _, f := range fields {
		p := b[int(at)+f.Offset:]
		switch f.Type {
		case abi.U8:
			m[f.Name] = p[0]
		case abi.U32:
			m[f.Name] = binary.LittleEndian.Uint32(p)
		case abi.U64:
			m[f.Name] = binary.LittleEndian.Uint64(p)
		case abi.I64:
			m[f.Name] = int64(binary.LittleEndian.Uint64(p))
		case abi.F64:
			m[f.Name] = math.Float64frombits(binary.LittleEndian.Uint64(p))
		case abi.Text:
			m[f.Name] = textAt(b, p)
		case abi.None:
		}
	}
	return m
}

func textAt(b, p []byte) string {
	off, n := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	return string(b[off : off+n])
}

func pairs(tb testing.TB, b []byte, off uint32) map[string]string {
	tb.Helper()
	m := map[string]string{}
	if off == 0 {
		return m
	}
	if off%4 != 0 {
		tb.Errorf("a list at %d", off)
	}
	last := ""
	n := binary.LittleEndian.Uint32(b[off:])
	for i := range n {
		p := b[off+4+i*abi.PairSize:]
		key := textAt(b, p)
		if i > 0 && key <= last {
			tb.Errorf("the key %q behind %q", key, last)
		}
		m[key], last = textAt(b, p[abi.TextSize:]), key
	}
	return m
}

func encode(tb testing.TB, in *abi.Input, s abi.Stage) []byte {
	tb.Helper()
	b := make([]byte, abi.Size(in))
	n, err := abi.Encode(b, in, s)
	if err != nil {
		tb.Fatal(err)
	}
	return b[:n]
}
