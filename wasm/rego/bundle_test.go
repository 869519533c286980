package rego

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const small = "package gatewright.admission\n\ndeny contains {\"code\": \"late\"} if input.request.hour > data.hours.last\n"

// entry is one entry of a bundle.
type entry struct {
	name, text string
	kind       byte // 0 = a file
	link       string
	size       int64 // claimed; 0 = true
}

// pack makes a bundle.
func pack(tb testing.TB, entries ...entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.text)), Typeflag: e.kind, Linkname: e.link}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if e.size != 0 {
			h.Size = e.size
		}
		if err := t.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if _, err := t.Write([]byte(e.text)); err != nil {
			tb.Fatal(err)
		}
	}
	_ = t.Close() // a claimed size is an error here
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestBundle(t *testing.T) {
	for name, prefix := range map[string]string{"as opa build writes it": "/", "as tar writes it": "./", "plain": ""} {
		t.Run(name, func(t *testing.T) {
			packed := pack(t,
				entry{name: prefix, kind: tar.TypeDir}, entry{name: prefix + "lib/", kind: tar.TypeDir},
				entry{name: prefix + "data.json", text: `{"a":{"b":1}}`}, entry{name: prefix + "hours/data.json", text: `{"last":20}`},
				entry{name: prefix + "lib/p.rego", text: small}, entry{name: prefix + "p_test.rego", text: "package x\n"},
				entry{name: prefix + ".manifest", text: `{"revision":"1","roots":["gatewright"],"rego_version":1,"metadata":{}}`},
				entry{name: prefix + ".signatures.json", text: "{}"}, entry{name: prefix + "README.md", text: "hello"},
			)
			b, err := readBundle(packed)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := slices.Sorted(maps.Keys(b.files)), []string{"lib/p.rego", "p_test.rego"}; !slices.Equal(got, want) {
				t.Errorf("files %v, want %v", got, want)
			}
			m, compileErr := Compile(t.Context(), Source{Bundle: packed})
			if compileErr != nil {
				t.Fatal(compileErr)
			}
			document, bindErr := m.Bind([]byte(`{"x":1}`), nil)
			if bindErr != nil {
				t.Fatal(bindErr)
			}
			if diff := cmp.Diff(`{"a":{"b":1},"hours":{"last":20},"params":{"x":1}}`, string(document)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBundlesThatAreRefused(t *testing.T) {
	p := entry{name: "p.rego", text: small}
	bomb := strings.Repeat("\x00", 60<<20)
	var many []entry
	for range maxBundleEntries + 1 {
		many = append(many, entry{name: "x", kind: tar.TypeDir})
	}
	good := pack(t, p)
	for _, test := range []struct {
		name   string
		packed []byte
		want   string
	}{
		{"nothing", nil, "no policy"},
		{
			"as opa build -t wasm writes it",
			pack(t, entry{name: "/data.json", text: "{}"}, entry{name: "/p.rego", text: "package gatewright.admission\n\nimport data.gatewright.admission.deny\n"}, entry{name: "/policy.wasm", text: "\x00asm"}),
			"compiled into policy.wasm",
		},
		{"no gzip", []byte("package gatewright.admission"), "not a .tar.gz"},
		{"empty", pack(t), "no policy"},
		{"cut off", good[:len(good)/2], "damaged"},
		{"garbage behind the head", append(slices.Clone(good[:20]), bytes.Repeat([]byte{0xff}, 200)...), "damaged"},
		{"a bomb", pack(t, entry{name: "p.rego", text: bomb}), "the limit is"},
		{"a bomb in a file that nobody reads", pack(t, entry{name: "big.bin", text: bomb}, p), "unpacked"},
		{"a size that is not true", pack(t, entry{name: "p.rego", text: "x", size: 1 << 40}), "the limit is"},
		{"many entries", pack(t, many...), "entries"},
		{"too large", bytes.Repeat([]byte{0x1f}, maxBundle+1), "the limit is"},
		{"up", pack(t, entry{name: "../p.rego", text: small}), "leads out"},
		{"up within", pack(t, entry{name: "a/../../p.rego", text: small}), "leads out"},
		{"twice absolute", pack(t, entry{name: "//p.rego", text: small}), "leads out"},
		{"backslash", pack(t, entry{name: `..\p.rego`, text: small}), "leads out"},
		{"a drive", pack(t, entry{name: "c:p.rego", text: small}), "leads out"},
		{"control", pack(t, entry{name: "a\x01.rego", text: small}), "leads out"},
		{"symbolic link", pack(t, entry{name: "p.rego", kind: tar.TypeSymlink, link: "/etc/passwd"}), "neither a file"},
		{"hard link", pack(t, entry{name: "p.rego", kind: tar.TypeLink, link: "q.rego"}), "neither a file"},
		{"device", pack(t, entry{name: "p.rego", kind: tar.TypeChar}), "neither a file"},
		{"a file twice", pack(t, p, p), "twice"},
		{"a file twice by another name", pack(t, p, entry{name: "/p.rego", text: small}), "twice"},
		{"data twice", pack(t, p, entry{name: "data.json", text: `{"hours":{"last":1}}`}, entry{name: "hours/data.json", text: `{"last":2}`}), "data.hours.last is there twice"},
		{"data that is no object", pack(t, p, entry{name: "data.json", text: `[1]`}), "not an object"},
		{"data that is no JSON", pack(t, p, entry{name: "data.json", text: `{`}), "data.json"},
		{"data with a huge number", pack(t, p, entry{name: "data.json", text: `{"a":1e999}`}), "too large"},
		{"data with a key twice", pack(t, p, entry{name: "data.json", text: `{"a":1,"a":2}`}), "twice"},
		{"data in YAML", pack(t, p, entry{name: "data.yaml", text: "a: 1"}), "YAML"},
		{"data in the place of a policy", pack(t, p, entry{name: "gatewright/data.json", text: `{"x":1}`}), "belongs to policies"},
		{"data in the place of a package", pack(t, p, entry{name: "lib.rego", text: "package lib\n\nx := 1\n"}, entry{name: "lib/data.json", text: `{"x":1}`}), "is a package"},
		{"Rego version 0", pack(t, p, entry{name: ".manifest", text: `{"rego_version":0}`}), "Rego version 0"},
		{"one file in version 0", pack(t, p, entry{name: ".manifest", text: `{"file_rego_versions":{"/p.rego":0}}`}), "Rego version 0"},
		{"a broken manifest", pack(t, p, entry{name: ".manifest", text: `{"rego_version":"one"}`}), ".manifest"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Source{Bundle: test.packed}
			if test.packed == nil {
				s.Bundle = []byte{}
			}
			_, err := Compile(t.Context(), s)
			if test.name == "nothing" {
				test.want = "not a .tar.gz"
			}
			if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func FuzzBundle(f *testing.F) {
	f.Add(pack(f, entry{name: "p.rego", text: small}, entry{name: "data.json", text: `{"a":1}`}, entry{name: ".manifest", text: "{}"}))
	f.Add(pack(f, entry{name: "../x", kind: tar.TypeSymlink, link: "/"}))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, packed []byte) {
		// Changes to the packed form are mostly damage; a tar of any bytes is not.
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(packed)
		_ = z.Close()
		for _, form := range [][]byte{packed, b.Bytes()} {
			got, err := readBundle(form)
			if (got == nil) != (err != nil) {
				t.Fatalf("%v, %v", got, err)
			}
			if got == nil {
				continue
			}
			for name := range got.files {
				if !cleanName(name) {
					t.Fatalf("the name %q", name)
				}
			}
		}
	})
}
