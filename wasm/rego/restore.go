package rego

import "fmt"

// Restore makes a Module whole that another process has compiled from the source: of
// it only the exported fields were told. Nothing is judged anew. The error is an
// *Error if the source cannot be read, which the compilation would have said too.
func (m *Module) Restore(s Source) error {
	r := &report{}
	modules, data := load(s, r)
	if err := r.err(); err != nil {
		return fmt.Errorf("restore rego: %w", err)
	}
	m.modules, m.data, m.compiled = modules, data, r.compiled
	return nil
}
