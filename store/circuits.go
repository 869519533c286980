package store

// Circuits keeps which deployments' circuits are open, and until when.
// Committed as soon as the writer is free.
func (s *Store) Circuits() *Table { return s.tables[circuits.name] }

var circuits = kind{name: "circuits", prompt: true}
