package store

// Quotas keeps what has been used of providers' quota windows. It changes with
// every answer and may be a little old after a kill: it is written with the next
// flush.
func (s *Store) Quotas() *Table { return s.tables[quotas.name] }

var quotas = kind{name: "quotas"}
