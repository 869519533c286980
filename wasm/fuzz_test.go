package wasm

import (
	"bytes"
	"errors"
	"testing"

	"gatewright/wasm/check"
)

// A manifest that is accepted has a name, a kind that fits and codes for reasons.
func FuzzManifest(f *testing.F) {
	for _, s := range []string{
		`{"name":"eu","version":"1","kind":"admission","abi":"1.0","reasons":["a_b","c"],"inputs":["facets.region"],"parameters":{"type":"object"}}`,
		`{"name":"x","kind":"ranking"}`, `{"name":"x","kind":"admission"} x`, `{"name":1}`, `[]`, `{`, `{"kind":"admission","name":"\u0000"}`,
		`{"name":"x","kind":"admission","reasons":["A"],"abi":"1.65536"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseManifest(b, check.KindAdmission)
		if err != nil {
			return
		}
		if m.Name == "" || m.Kind != check.KindAdmission || len(m.Reasons) > maxReasons {
			t.Errorf("accepted %+v", m)
		}
		for _, r := range m.Reasons {
			if !isCode(r) {
				t.Errorf("accepted the reason %q", r)
			}
		}
	})
}

// What is taken out of a set of results stood in it, and nothing else is changed.
func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{`[{"result":{"a":1}}]`, `[]`, `[{"result":}]`, `[{"result":1},{"result":2}]`, ` [] `, `{}`, ``, `[{"result":`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, err := unwrap(doc, []byte("x"))
		switch fault, isFault := err.(*Fault); { //nolint:errorlint // returned bare
		case err == nil:
			if !bytes.HasPrefix(got, []byte("x")) || !bytes.Contains(doc, got[1:]) || len(got) == 1 {
				t.Errorf("%q became %q", doc, got)
			}
		case isFault:
			if fault.Kind != FaultContract {
				t.Errorf("%q: %v", doc, fault)
			}
		case !errors.Is(err, ErrUndefined):
			t.Errorf("%q: %v", doc, err)
		}
	})
}
