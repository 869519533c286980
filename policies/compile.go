package policies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"gatewright/wasm"
	"gatewright/wasm/check"
)

// compile makes a program of an upload, with the parameters of a binding; nil =
// of none, to see whether it can be.
func (l *Library) compile(ctx context.Context, u *Upload, b *Binding) (*compiled, error) {
	format, err := u.format()
	if err != nil {
		return nil, err
	}
	var c *compiled
	if format == FormatWasm && check.Recognize(u.Body) != check.KindOPA {
		c, err = l.compileGuest(ctx, u, b)
	} else {
		c, err = l.compileRule(ctx, u, format, b)
	}
	if err != nil {
		return nil, err
	}
	if err := l.withstands(ctx, u, c, b); err != nil {
		l.discard(c) //nolint:contextcheck // what is made is closed though ctx has ended
		return nil, err
	}
	return c, nil
}

// compileGuest makes a program of a module of the contract's ABI.
func (l *Library) compileGuest(ctx context.Context, u *Upload, b *Binding) (*compiled, error) {
	if u.Profile == string(wasm.ProfileOPA) {
		return nil, &SourceError{Name: u.Name, Problems: []Problem{{
			File: u.file(), Rule: "profile", Message: "the profile opa is for modules of OPA's compiler, and this is none", Fix: "leave the profile out, or write small",
		}}}
	}
	m, err := l.runtime.Load(ctx, wasm.Source{
		Name: u.Name, Bytes: u.Body, Profile: wasm.Profile(u.Profile), Params: guestParameters(b), Stateful: b.stateful(),
	})
	if err != nil {
		return nil, sourceError(u, err)
	}
	info := m.Info()
	kind := Kind(info.Kind)
	c := &compiled{
		program: newGuest(m, kind), modules: []*wasm.Module{m}, kind: kind, reads: reads{headers: true, text: true},
		version: Version{
			Digest: Digest(u.Body), Format: FormatWasm, Profile: string(info.Profile), File: u.file(), Size: len(u.Body),
			Reasons: info.Reasons,
		},
	}
	if info.Manifest == nil {
		c.version.Warnings = []string{"it has no manifest: its reasons have no names, and nobody can say what it reads"}
		return c, nil
	}
	c.version.Inputs = info.Manifest.Inputs
	c.reads = readsOf(info.Manifest.Inputs)
	return c, nil
}

// guestParameters are the parameters of a binding that has some; nil = none. A
// module that takes none must be given none.
func guestParameters(b *Binding) []byte {
	if p := b.parameters(); string(p) != "{}" {
		return p
	}
	return nil
}

// readsOf are the reads of paths of the input; without any nothing is known.
func readsOf(paths []string) reads {
	var r reads
	if len(paths) == 0 {
		return reads{headers: true, text: true}
	}
	for _, p := range paths {
		whole := p == "" || p == "request"
		r.id = r.id || whole || p == "request.id"
		r.text = r.text || whole || p == "request.text"
		r.metadata = r.metadata || whole || strings.HasPrefix(p, "request.metadata")
		r.headers = r.headers || whole || strings.HasPrefix(p, "request.headers")
	}
	return r
}

// The first bytes of what is no text.
var wasmMagic, gzipMagic = []byte("\x00asm"), []byte{0x1f, 0x8b}

// format finds what was uploaded.
func (u *Upload) format() (Format, error) {
	found := FormatRego
	switch {
	case bytes.HasPrefix(u.Body, wasmMagic):
		found = FormatWasm
	case bytes.HasPrefix(u.Body, gzipMagic):
		found = FormatBundle
	}
	switch {
	case len(bytes.TrimSpace(u.Body)) == 0:
		return "", &SourceError{Name: u.Name, Problems: []Problem{{File: u.file(), Message: "it is empty", Fix: "upload Rego, a Wasm module, or an OPA bundle"}}}
	case u.Format == "", u.Format == found:
		return found, nil
	case u.Format == FormatWasm:
		return FormatWasm, nil // the check says what it is instead
	}
	return "", &SourceError{Name: u.Name, Problems: []Problem{{
		File: u.file(), Message: fmt.Sprintf("it is uploaded as %s, and its first bytes are those of %s", u.Format, found),
		Fix: "leave the content type out, or set the one that fits",
	}}}
}

// file is the name of the source in messages.
func (u *Upload) file() string {
	if u.File != "" {
		return u.File
	}
	switch u.Format {
	case FormatWasm:
		return u.Name + ".wasm"
	case FormatBundle:
		return u.Name + ".tar.gz"
	case FormatRego:
	}
	switch {
	case bytes.HasPrefix(u.Body, wasmMagic):
		return u.Name + ".wasm"
	case bytes.HasPrefix(u.Body, gzipMagic):
		return u.Name + ".tar.gz"
	}
	return u.Name + ".rego"
}

// baseName is the name of the source without its folders: a compiler of Rego takes
// relative names only.
func (u *Upload) baseName() string { return path.Base(filepath.ToSlash(u.file())) }

// problemsOf lists what the sandbox has against a module.
func problemsOf(u *Upload, refused *wasm.LoadError) []Problem {
	structure, ok := errors.AsType[*check.Error](refused.Err)
	if !ok {
		return []Problem{{File: u.file(), Rule: string(refused.Step), Message: refused.Err.Error()}}
	}
	list := make([]Problem, 0, len(structure.Problems))
	for _, p := range structure.Problems {
		list = append(list, Problem{
			File: u.file(), Rule: string(refused.Step), Message: fmt.Sprintf("%s, offset %#x: %s", p.Section, p.Offset, p.What), Fix: p.Fix,
		})
	}
	if structure.Omitted > 0 {
		list = append(list, Problem{File: u.file(), Rule: string(refused.Step), Message: fmt.Sprintf("and %d more", structure.Omitted)})
	}
	return list
}
