package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gatewright/wasm/abi"
)

// An SDK is one file that people write and read as a whole. The part of it that
// follows from the tables stands between two lines that contain these.
const (
	regionBegin = "---- made by go generate ./wasm/abi: do not edit below ----"
	regionEnd   = "---- made by go generate ./wasm/abi: do not edit above ----"
)

// language is one SDK.
type language struct {
	path  string // from the root
	write func(*bytes.Buffer)
}

var languages = [...]language{
	{"wasm/sdk/c/gatewright.h", writeC},
	{"wasm/sdk/rust/gatewright.rs", writeRust},
	{"wasm/sdk/assemblyscript/gatewright.ts", writeAssemblyScript},
	{"wasm/sdk/go/gatewright/gatewright.go", writeGo},
}

// sdks are the files of the SDKs, with the region of each made anew.
func sdks(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, l := range languages {
		old, err := os.ReadFile(filepath.Join(root, l.path)) //nolint:gosec // the repository's own files
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		l.write(&b)
		if files[l.path], err = splice(old, b.Bytes()); err != nil {
			return nil, fmt.Errorf("%s: %w", l.path, err)
		}
	}
	return files, nil
}

// splice puts region between the two lines that mark it in file.
func splice(file, region []byte) ([]byte, error) {
	begin, end := bytes.Index(file, []byte(regionBegin)), bytes.Index(file, []byte(regionEnd))
	if begin < 0 || end < begin {
		return nil, fmt.Errorf("there must be a line with %q and then one with %q", regionBegin, regionEnd)
	}
	begin += bytes.IndexByte(file[begin:], '\n') + 1
	end = bytes.LastIndexByte(file[:end], '\n') + 1
	return slices.Concat(file[:begin], region, []byte("\n"), file[end:]), nil
}

// number is a constant of the contract.
type number struct {
	name  string // in lower case, words parted by _
	value int64
	doc   string
}

// group are constants of one subject.
type group struct {
	doc    string
	signed bool // i64 or return codes; else u32
	long   bool // 64 bits
	list   []number
}

// groups are all constants that the SDKs have, each in its own spelling.
func groups() []group {
	skipped := group{doc: "Why a candidate is not in the pool; 0 = it is. Numbers are only added."}
	for i, n := range abi.SkipNames[1:] {
		skipped.list = append(skipped.list, number{"skipped_" + n, int64(i + 1), ""})
	}
	circuits := group{doc: "States of a candidate's circuit breaker."}
	for i, n := range abi.CircuitNames {
		circuits.list = append(circuits.list, number{"circuit_" + n, int64(i), ""})
	}
	return []group{
		{doc: "The version of the contract: major in the upper 16 bits, minor in the lower.", list: []number{
			{"abi_version", abi.Version, ""}, {"magic", abi.Magic, `"GWP1"`}, {"max_records", abi.MaxRecords, "candidates of one request"},
		}},
		{doc: "Numbers of 64 bits with a meaning of their own.", signed: true, long: true, list: []number{
			{"unknown", abi.Unknown, "nobody knows"}, {"no_limit", abi.NoLimit, "the caller has no budget"},
		}},
		{doc: "The same in 32 bits.", list: []number{
			{"unknown_count", int64(abi.UnknownCount), ""}, {"no_limit_count", int64(abi.NoLimitCount), "the caller has no such rate"},
		}},
		{doc: "What a policy returns.", signed: true, list: []number{
			{"ok", 0, ""},
			{"bad_version", abi.CodeVersion, "the version of the buffer is not known"},
			{"bad_input", abi.CodeInput, "the input or the parameters make no sense"},
			{"failed", abi.CodeInternal, "the policy failed"},
			{"own", abi.CodeOwn, "this and below are the policy's own"},
		}},
		{doc: "Flags: what a request needs, what a candidate supports. From affinity on, what a candidate is.", list: []number{
			{"stream", int64(abi.Stream), ""},
			{"tools", int64(abi.Tools), ""},
			{"vision", int64(abi.Vision), ""},
			{"json_schema", int64(abi.JSONSchema), ""},
			{"reasoning", int64(abi.Reasoning), ""},
			{"audio", int64(abi.Audio), ""},
			{"affinity", int64(abi.Affinity), "the session was served here"},
			{"preferred", int64(abi.Preferred), "the caller prefers its provider"},
			{"locked", int64(abi.Locked), "the caller named its provider"},
		}},
		circuits,
		skipped,
	}
}

// literal is a value as C, Rust and Go write it.
func (g *group) literal(v int64, lowest string) string {
	switch {
	case g.long && v == math.MinInt64:
		return lowest
	case !g.signed && v > math.MaxInt32:
		return fmt.Sprintf("0x%x", v)
	}
	return strconv.FormatInt(v, 10)
}

// inside reports whether a field is the SDK's own business: where things are,
// and what the guest writes through functions.
func inside(f abi.Field) bool {
	switch f.Name {
	case "magic", "abi", "record_size", "error_cap", "reserved":
		return true
	}
	return f.Guest || strings.HasSuffix(f.Name, "_off")
}

// say is the doc of a field. Go's quotes become plain ones.
func say(f abi.Field) string {
	s := strings.ReplaceAll(f.Doc, "`", "")
	if f.Absent {
		s += "; may be unknown"
	}
	return s
}

// words are the parts of a name, each with a capital.
func words(name string, first int) string {
	var b strings.Builder
	for i, part := range strings.Split(name, "_") {
		if i >= first {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// comment puts " // doc" behind code, or nothing.
func comment(doc string) string {
	if doc == "" {
		return ""
	}
	return " // " + doc
}
