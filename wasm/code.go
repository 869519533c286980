package wasm

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/tetratelabs/wazero"

	"gatewright/wasm/check"
	"gatewright/wasm/meter"
)

// codeKey names compiled code.
type codeKey struct {
	digest  [sha256.Size]byte // of the module's bytes
	profile Profile
}

// code is a compiled module, shared by all Modules that were loaded from the
// same bytes. It is freed when the last of them has closed its last instance.
type code struct {
	key      codeKey
	engine   wazero.Runtime // that compiled it
	compiled wazero.CompiledModule
	env      wazero.CompiledModule // of OPA modules: what owns the memory
	pages    uint32                // the most that this may have
	info     check.Info
	manifest *Manifest
	users    int // guarded by the runtime's mu
}

// obtain returns the code of a module, compiled if it is not there yet. The
// caller is a user of it then.
func (r *Runtime) obtain(b []byte, profile Profile, rules check.Profile, step *Step) (*code, error) {
	key := codeKey{sha256.Sum256(b), profile}
	r.mu.Lock()
	c := r.codes[key]
	if c != nil {
		c.users++
	}
	r.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := r.build(b, rules, step)
	if err != nil {
		return nil, err
	}
	c.key, c.users = key, 1
	r.mu.Lock()
	defer r.mu.Unlock()
	r.codes[key] = c // only the worker builds, so nobody was faster
	return c, nil
}

// drop gives a use of the code back.
func (r *Runtime) drop(c *code) {
	r.mu.Lock()
	c.users--
	last := c.users == 0
	if last {
		delete(r.codes, c.key)
	}
	r.mu.Unlock()
	if last {
		c.close()
	}
}

func (c *code) close() {
	ctx := context.Background()
	if c.compiled != nil {
		_ = c.compiled.Close(ctx)
	}
	if c.env != nil {
		_ = c.env.Close(ctx)
	}
}

// build checks, validates, instruments and compiles a module, in this order.
func (r *Runtime) build(b []byte, rules check.Profile, step *Step) (c *code, err error) {
	ctx := context.Background()
	c = &code{}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	*step = StepCheck
	info, err := check.Check(b, rules)
	if err != nil {
		return c, err
	}
	c.info = *info
	c.info.Manifest = slices.Clone(info.Manifest)
	*step = StepManifest
	if c.info.Manifest != nil {
		if c.manifest, err = parseManifest(c.info.Manifest, c.info.Kind); err != nil {
			return c, err
		}
	}
	*step = StepValidate
	plain, err := r.validator.CompileModule(ctx, b)
	if err != nil {
		return c, err
	}
	_ = plain.Close(ctx)
	*step = StepInstrument
	metered, err := meter.Instrument(b, meter.Options{})
	if err != nil {
		return c, err
	}
	*step = StepCompile
	if c.engine, c.compiled, err = r.compile(metered); err != nil {
		return c, err
	}
	if c.info.Kind == check.KindOPA {
		c.pages = uint32(rules.Limits.MemoryPages) //nolint:gosec // a few hundred
		if c.info.Memory.Bounded {
			c.pages = min(c.pages, c.info.Memory.Max)
		}
		c.env, err = c.engine.CompileModule(ctx, envBytes(c.info.Memory.Min, c.pages))
	}
	return c, err
}
