package store

// Owners keeps which deployment issued what clients may name later. There are
// many of them, and each is written once: with the next flush.
func (s *Store) Owners() *Table { return s.tables[owners.name] }

var owners = kind{name: "owners"}
