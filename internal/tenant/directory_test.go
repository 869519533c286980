package tenant_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/engine"
	"gatewright/internal/tenant"
)

func key(id, secret string) tenant.Key {
	return tenant.Key{ID: id, Hash: sha256.Sum256([]byte(secret))}
}

func directory(t *testing.T, keys ...tenant.Key) *tenant.Directory {
	t.Helper()
	d, err := tenant.New(keys)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestLookup(t *testing.T) {
	ci := key("ci", "gw-secret-of-ci")
	ci.Caller = engine.Caller{Team: "web", Org: "acme", ExposeRouting: true}
	old := key("old", "gw-secret-of-old")
	old.Disabled = true
	longest := strings.Repeat("k", tenant.MaxSecret)
	d := directory(t, ci, old, key("longest", longest))
	want := &engine.Caller{Key: "ci", Team: "web", Org: "acme", ExposeRouting: true}
	for _, c := range []struct {
		name, secret string
		want         *engine.Caller
	}{
		{"the secret", "gw-secret-of-ci", want},
		{"the longest", longest, &engine.Caller{Key: "longest"}},
		{"one byte too long", longest + "k", nil},
		{"empty", "", nil},
		{"unknown", "gw-secret-of-nobody", nil},
		{"disabled", "gw-secret-of-old", nil},
		{"a part", "gw-secret", nil},
		{"a space behind", "gw-secret-of-ci ", nil},
		{"other case", "GW-SECRET-OF-CI", nil},
		{"quotes", `"gw-secret-of-ci"`, nil},
		{"injection", "' OR 1=1 --", nil},
		{"template", "{{7*7}}", nil},
		{"NUL", "gw-secret-of-ci\x00", nil},
		{"CRLF", "gw-secret-of-ci\r\nX: y", nil},
		{"1 MB", strings.Repeat("x", 1<<20), nil},
		{"emoji", "🔑🔑🔑🔑", nil},
		{"the digest itself", fmt.Sprintf("%x", sha256.Sum256([]byte("gw-secret-of-ci"))), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := d.Lookup(c.secret)
			if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != nil) {
				t.Errorf("Lookup = %+v, %v (-want +got):\n%s", got, ok, diff)
			}
		})
	}
}

func TestLookupOfRandomSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfNDistinct(rapid.StringN(1, 40, 200), 1, 20, rapid.ID).Draw(t, "secrets")
		keys := make([]tenant.Key, len(secrets))
		for i, s := range secrets {
			keys[i] = key(fmt.Sprintf("k%d", i), s)
		}
		d, err := tenant.New(keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range secrets {
			if got, ok := d.Lookup(s); !ok || got.Key != keys[i].ID {
				t.Fatalf("Lookup(%q) = %+v, %v, want %s", s, got, ok, keys[i].ID)
			}
		}
		stranger := rapid.String().Draw(t, "stranger")
		if slices.Contains(secrets, stranger) {
			return
		}
		if got, ok := d.Lookup(stranger); ok {
			t.Fatalf("Lookup(%q) = %+v of a stranger", stranger, got)
		}
	})
}

func TestAnonymous(t *testing.T) {
	disabled := key("old", "gw-secret-of-old")
	disabled.Disabled = true
	for _, c := range []struct {
		name string
		keys []tenant.Key
		want *engine.Caller
	}{
		{"no key", nil, &engine.Caller{ExposeRouting: true}},
		{"a key", []tenant.Key{key("ci", "gw-secret-of-ci")}, nil},
		{"a disabled key is a key", []tenant.Key{disabled}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := directory(t, c.keys...).Anonymous()
			if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != nil) {
				t.Errorf("Anonymous = %+v, %v (-want +got):\n%s", got, ok, diff)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	other := key("a", "s1")
	other.Caller.Key = "b"
	for _, c := range []struct {
		name string
		keys []tenant.Key
		want string
	}{
		{"no id", []tenant.Key{key("", "s")}, "keys[0]: the id is empty"},
		{"an id twice", []tenant.Key{key("a", "s1"), key("a", "s2")}, `keys[1]: the id "a" is taken by keys[0]: choose another`},
		{"a secret twice", []tenant.Key{key("a", "s"), key("b", "s")}, `keys[1]: key "b" has the same secret as key "a": give each its own`},
		{"no hash", []tenant.Key{{ID: "a"}}, `keys[0]: key "a" has no secret: set the SHA-256 of one`},
		{"the hash of nothing", []tenant.Key{key("a", "")}, `keys[0]: key "a" has no secret: set the SHA-256 of one`},
		{"two names", []tenant.Key{other}, `keys[0]: the caller is named "b" and the key "a": use one name`},
		{"all at once", []tenant.Key{{ID: "a"}, key("", "s")}, "keys[0]: key \"a\" has no secret: set the SHA-256 of one\nkeys[1]: the id is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := tenant.New(c.keys)
			if err == nil || d != nil {
				t.Fatalf("New = %v, want an error", d)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	d := directory(t, key("ci", "gw-secret-of-ci"))
	for _, secret := range []string{"gw-secret-of-ci", "gw-secret-of-nobody"} {
		if n := testing.AllocsPerRun(100, func() { d.Lookup(secret) }); n != 0 {
			t.Errorf("Lookup(%q) allocates %v times", secret, n)
		}
	}
}
