package rego

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Limits of a bundle. The whole is held in memory once, unpacked.
const (
	maxBundle        = 1 << 20 // bytes, packed
	maxUnpacked      = 4 << 20 // bytes, unpacked, with what surrounds the files
	maxBundleEntries = 512
	maxManifest      = 64 << 10
)

// bundle is what an OPA bundle holds.
type bundle struct {
	files    map[string]string
	data     map[string]any
	compiled string // the name of a policy.wasm; "" = there is none
}

// bundleError is why a bundle was refused.
type bundleError struct{ file, what, fix string }

func (e *bundleError) problem() Problem {
	return Problem{File: e.file, Message: e.what, Fix: e.fix}
}

var errTooLarge = errors.New("too large")

// capped reads at most so many bytes and then fails, whatever the packed form
// claims.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// readBundle unpacks a bundle into memory. Nothing is written anywhere; entries
// that are not files or folders, or whose names lead out of the bundle, are
// refused.
func readBundle(packed []byte) (*bundle, *bundleError) {
	if len(packed) > maxBundle {
		return nil, &bundleError{what: fmt.Sprintf("a bundle of %d bytes, the limit is %d", len(packed), maxBundle)}
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, &bundleError{what: "this is no bundle: not a .tar.gz", fix: "make one with `opa build`, or upload the .rego file itself"}
	}
	z.Multistream(false)
	b := &bundle{files: map[string]string{}, data: map[string]any{}}
	t := tar.NewReader(&capped{z, maxUnpacked})
	for entries := 0; ; entries++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, broken("", err)
		}
		if entries == maxBundleEntries {
			return nil, &bundleError{what: fmt.Sprintf("more than %d entries", maxBundleEntries)}
		}
		if e := b.entry(h, t); e != nil {
			return nil, e
		}
	}
	return b, nil
}

func broken(file string, err error) *bundleError {
	if errors.Is(err, errTooLarge) {
		return &bundleError{file: file, what: fmt.Sprintf("more than %d bytes when it is unpacked", maxUnpacked)}
	}
	return &bundleError{file: file, what: "the bundle is damaged: " + err.Error(), fix: "build or upload it again"}
}

// entry takes one entry in.
func (b *bundle) entry(h *tar.Header, content io.Reader) *bundleError {
	name := strings.TrimPrefix(strings.TrimPrefix(h.Name, "./"), "/")
	if h.Typeflag == tar.TypeDir {
		name = strings.TrimSuffix(name, "/")
	}
	switch {
	case h.Typeflag == tar.TypeDir && (name == "" || cleanName(name)):
		return nil
	case h.Typeflag != tar.TypeReg:
		return &bundleError{file: printable(h.Name), what: "the entry is neither a file nor a folder", fix: "a bundle holds no links"}
	case !cleanName(name):
		return &bundleError{file: printable(h.Name), what: "the name leads out of the bundle, or is no name"}
	}
	read := func(limit int64) ([]byte, *bundleError) {
		if h.Size > limit {
			return nil, &bundleError{file: name, what: fmt.Sprintf("%d bytes, the limit is %d", h.Size, limit)}
		}
		text, err := io.ReadAll(content)
		if err != nil {
			return nil, broken(name, err)
		}
		return text, nil
	}
	switch base := path.Base(name); {
	case strings.HasSuffix(name, ".rego"):
		text, e := read(maxSource)
		if e != nil {
			return e
		}
		if _, twice := b.files[name]; twice {
			return &bundleError{file: name, what: "the file is there twice"}
		}
		b.files[name] = string(text)
	case base == "data.json":
		text, e := read(maxData)
		if e != nil {
			return e
		}
		return b.addData(name, text)
	case base == "data.yaml", base == "data.yml":
		return &bundleError{file: name, what: "data in YAML is not read", fix: "write data.json"}
	case name == ".manifest":
		text, e := read(maxManifest)
		if e != nil {
			return e
		}
		return manifest(text)
	case base == "policy.wasm":
		b.compiled = name // not read: compiled forms are made here
	case name == ".signatures.json", base == "plan.json":
		// Signatures are the gateway's own, and so are plans.
	}
	return nil
}

// addData puts a document to its place: x/y/data.json is data.x.y.
func (b *bundle) addData(name string, text []byte) *bundleError {
	v, p := document(text, name)
	if p != nil {
		return &bundleError{file: name, what: p.Message, fix: p.Fix}
	}
	if dir := path.Dir(name); dir != "." {
		parts := strings.Split(dir, "/")
		for _, part := range slices.Backward(parts) {
			v = map[string]any{part: v}
		}
	}
	if at := merge(b.data, v, ""); at != "" {
		return &bundleError{file: name, what: "data" + at + " is there twice"}
	}
	return nil
}

// merge puts what is in b into a and returns the path where both have a value,
// or "".
func merge(a, b map[string]any, at string) string {
	for k, v := range b {
		old, there := a[k]
		if !there {
			a[k] = v
			continue
		}
		before, ok1 := old.(map[string]any)
		now, ok2 := v.(map[string]any)
		if !ok1 || !ok2 {
			return at + "." + k
		}
		if path := merge(before, now, at+"."+k); path != "" {
			return path
		}
	}
	return ""
}

// manifest judges what a bundle says of itself. Roots matter to a server that
// merges bundles; a policy here stands alone.
func manifest(text []byte) *bundleError {
	const name = ".manifest"
	if p := checkJSON(text); p != "" {
		return &bundleError{file: name, what: p}
	}
	var m struct {
		RegoVersion  *int              `json:"rego_version"`
		FileVersions map[string]int    `json:"file_rego_versions"`
		Wasm         []json.RawMessage `json:"wasm"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return &bundleError{file: name, what: err.Error()}
	}
	version := func(v int) *bundleError {
		if v == 1 {
			return nil
		}
		return &bundleError{file: name, what: fmt.Sprintf("the bundle is in Rego version %d", v), fix: "write it in Rego version 1"}
	}
	if m.RegoVersion != nil {
		if e := version(*m.RegoVersion); e != nil {
			return e
		}
	}
	for _, v := range m.FileVersions {
		if e := version(v); e != nil {
			return e
		}
	}
	return nil
}
