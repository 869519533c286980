package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"gatewright/policies"
	"gatewright/wasm/check"
)

// inspectModule checks the bytes of a module against a profile. No code of it is
// run.
func inspectModule(r *sourceReport, module []byte, profile string) {
	r.Format = "Wasm module"
	p := profileOf(module, profile)
	r.fact("profile", p.Name)
	info, err := check.Check(module, p)
	if refused, ok := errors.AsType[*check.Error](err); ok {
		for _, x := range refused.Problems {
			r.Problems = append(r.Problems, policies.Problem{
				File: r.File, Rule: x.Section, Message: fmt.Sprintf("%s, offset %#x: %s", x.Section, x.Offset, x.What), Fix: x.Fix,
			})
		}
		if refused.Omitted > 0 {
			r.Problems = append(r.Problems, policies.Problem{File: r.File, Message: fmt.Sprintf("and %d more", refused.Omitted)})
		}
		return
	}
	r.describe(info, &p.Limits)
}

// profileOf returns the profile of that name, or the one that the module looks
// made for.
func profileOf(module []byte, name string) check.Profile {
	if name == "" && check.Recognize(module) == check.KindOPA {
		name = "opa"
	}
	switch name {
	case "opa":
		return check.OPA()
	case "go":
		return check.Go()
	}
	return check.Small()
}

func (r *sourceReport) describe(info *check.Info, limits *check.Limits) {
	r.Kind = string(info.Kind)
	if info.ABI != "" {
		r.fact("ABI", info.ABI)
	}
	r.fact("imports", externs(info.Imports)...)
	r.fact("exports", externs(info.Exports)...)
	memory := fmt.Sprintf("%d pages of 64 KiB at the start, without a maximum (the limit is %d)", info.Memory.Min, limits.MemoryPages)
	if info.Memory.Bounded {
		memory = fmt.Sprintf("%d pages of 64 KiB at the start, %d of %d at most", info.Memory.Min, info.Memory.Max, limits.MemoryPages)
	}
	if info.Memory.Imported {
		memory += ", imported"
	}
	r.fact("memory", memory)
	r.fact("bytes", of(info.Bytes, limits.Bytes)+" (code "+strconv.Itoa(info.CodeBytes)+", data "+strconv.Itoa(info.DataBytes)+")")
	r.fact("functions", of(info.Functions, limits.Functions))
	r.fact("largest body", of(info.LargestBody, limits.Body)+" bytes")
	r.fact("most locals", of(info.MostLocals, limits.Locals))
	r.fact("deepest nesting", of(info.DeepestNest, limits.Nest))
	r.manifest(info.Manifest)
}

func externs(list []check.Extern) []string {
	out := make([]string, len(list))
	for i, e := range list {
		name := e.Name
		if e.Module != "" {
			name = e.Module + "." + name
		}
		out[i] = e.Kind.String() + " " + name + " " + e.Type
	}
	return out
}

// manifest shows what the module says of itself. The gateway reads it more
// strictly.
func (r *sourceReport) manifest(text []byte) {
	if text == nil {
		if r.Kind == string(check.KindOPA) {
			return // it has entry points instead
		}
		r.fact("manifest", "none: name and kind come from the upload, and its only reason is policy")
		return
	}
	var m struct {
		Name, Version, Kind, ABI string
		Inputs, Reasons          []string
		Parameters               json.RawMessage
	}
	if err := json.Unmarshal(text, &m); err != nil {
		r.Problems = append(r.Problems, policies.Problem{File: r.File, Rule: "manifest", Message: "the manifest is not JSON: " + err.Error()})
		return
	}
	r.fact("manifest", m.Name+" "+m.Version+", "+m.Kind+", for version "+m.ABI)
	r.fact("reads", m.Inputs...)
	r.fact("reasons", m.Reasons...)
	r.fact("parameters", string(m.Parameters))
}
