package conform

import (
	"context"
	"errors"
	"fmt"

	"gatewright/policies"
	"gatewright/wasm"
	"gatewright/wasm/rego"
)

// Kit runs tests. It must be closed. One goroutine uses it.
type Kit struct {
	runtime *wasm.Runtime
	host    map[string]wasm.HostFunc

	module *wasm.Module // the one that was asked last
	key    string       // what it was made of
}

// New returns a kit.
func New() (*Kit, error) {
	runtime, err := wasm.NewRuntime(wasm.Config{})
	if err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	return &Kit{runtime: runtime, host: policies.Host(rego.HostBuiltins())}, nil
}

// Close frees what the kit holds.
func (k *Kit) Close(ctx context.Context) error { return k.runtime.Close(ctx) }

// Test compiles a policy and runs each of its tests twice, natively and compiled;
// both must pass. The error is a *rego.Error for what is wrong with the policy or
// its tests.
func (k *Kit) Test(ctx context.Context, s rego.Source) ([]rego.TestResult, error) {
	return rego.Test(ctx, s, k.evaluate)
}

// evaluate is a rego.Evaluator.
func (k *Kit) evaluate(ctx context.Context, module []byte, entrypoint string, data, input []byte) ([]byte, error) {
	m, err := k.load(ctx, module, entrypoint, data)
	if err != nil {
		return nil, err
	}
	value, err := m.Eval(ctx, input, nil)
	if errors.Is(err, wasm.ErrUndefined) {
		err = rego.ErrUndefined
	}
	return value, err
}

// load returns a module for an entry point. Tests of one policy share the code,
// which the runtime compiles once.
func (k *Kit) load(ctx context.Context, module []byte, entrypoint string, data []byte) (*wasm.Module, error) {
	key := entrypoint + "\x00" + string(data) + "\x00" + string(module)
	if k.module != nil && k.key == key {
		return k.module, nil
	}
	m, err := k.runtime.Load(ctx, wasm.Source{
		Name: entrypoint, Bytes: module, Profile: wasm.ProfileOPA, Entrypoint: entrypoint, Data: data, Host: k.host, Instances: 1, Own: true,
		Budget: wasm.MaxBudget, // a test may ask the policy many times
	})
	if err != nil {
		return nil, err
	}
	if k.module != nil {
		if err := k.module.Close(ctx); err != nil {
			return nil, errors.Join(err, m.Close(ctx))
		}
	}
	k.module, k.key = m, key
	return m, nil
}
