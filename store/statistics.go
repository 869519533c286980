package store

// Statistics keeps what is measured of a deployment, such as latency and error
// windows. It changes often and may be a little old after a kill: it is written
// with the next flush.
func (s *Store) Statistics() *Table { return s.tables[statistics.name] }

var statistics = kind{name: "statistics"}
