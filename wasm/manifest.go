package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// Manifest is what a module says of itself, in the custom section
// gatewright.manifest.
type Manifest struct {
	Name       string          `json:"name"`
	Version    string          `json:"version"`
	Kind       check.Kind      `json:"kind"`
	ABI        string          `json:"abi"`
	Inputs     []string        `json:"inputs,omitempty"`     // paths of the input that it reads, for people
	Reasons    []string        `json:"reasons,omitempty"`    // codes that its verdicts are indexes into
	Parameters json.RawMessage `json:"parameters,omitempty"` // JSON Schema of what gw_configure is given
}

// Bounds of a manifest.
const (
	maxReasons  = 64
	maxInputs   = 256
	maxNameSize = 128
)

// defaultReasons are those of a module that names none.
var defaultReasons = []string{"policy"}

// parseManifest reads a manifest, whose length the structure check has bounded.
// Everything that is wrong with it is in the error.
func parseManifest(b []byte, kind check.Kind) (*Manifest, error) {
	m := &Manifest{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%s; it is a JSON object of name, version, kind, abi, inputs, reasons and parameters", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something stands behind the JSON object")
	}
	return m, errors.Join(m.problems(kind)...)
}

func (m *Manifest) problems(kind check.Kind) (list []error) {
	add := func(format string, args ...any) { list = append(list, fmt.Errorf(format, args...)) }
	if m.Name == "" || len(m.Name) > maxNameSize || !printable(m.Name) {
		add("name: %.40q; write 1 to %d printable characters", m.Name, maxNameSize)
	}
	if len(m.Version) > maxNameSize || !printable(m.Version) {
		add("version: %.40q; write at most %d printable characters", m.Version, maxNameSize)
	}
	if m.Kind != kind {
		add("kind: %.40q, and the exports are those of a policy of kind %q", string(m.Kind), string(kind))
	}
	if m.ABI != "" {
		if err := supports(m.ABI); err != nil {
			add("abi: %w", err)
		}
	}
	if len(m.Inputs) > maxInputs {
		add("inputs: %d paths, the limit is %d", len(m.Inputs), maxInputs)
	} else if _, err := abi.ReadsOf(m.Inputs); err != nil {
		add("inputs: %w", err)
	}
	if len(m.Reasons) > maxReasons {
		add("reasons: there are %d, the limit is %d", len(m.Reasons), maxReasons)
	}
	seen := map[string]bool{}
	for i, r := range m.Reasons {
		switch {
		case !isCode(r):
			add("reasons[%d]: %.40q; write lower-case letters, digits and _, a letter first, at most 64", i, r)
		case seen[r]:
			add("reasons[%d]: %q stands twice", i, r)
		}
		seen[r] = true
	}
	if p := bytes.TrimSpace(m.Parameters); len(p) > 0 && p[0] != '{' {
		add("parameters: not an object; write a JSON Schema")
	}
	return list
}

// supports says why the host cannot run a module of a version like "1.0".
func supports(version string) error {
	major, minor, ok := strings.Cut(version, ".")
	a, err1 := strconv.ParseUint(major, 10, 16)
	b, err2 := strconv.ParseUint(minor, 10, 16)
	if !ok || err1 != nil || err2 != nil {
		return fmt.Errorf("%.40q is no version; write it like %q", version, versionText(abi.Version))
	}
	return supportsNumber(uint32(a)<<16 | uint32(b))
}

func supportsNumber(v uint32) error {
	const own = uint32(abi.Version)
	if v>>16 != own>>16 || v > own {
		return &abi.AnswerError{Clause: abi.ClauseVersion, What: fmt.Sprintf(
			"the module is built for version %s of the contract, this gateway has %s; build it with an SDK of this gateway", versionText(v), versionText(own),
		)}
	}
	return nil
}

func versionText(v uint32) string { return fmt.Sprintf("%d.%d", v>>16, v&0xffff) }

// isCode reports whether s may be an error code.
func isCode(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range []byte(s) {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}
