package store

// Cooldowns keeps until when a deployment rests, for example after a 429 with
// Retry-After. Committed as soon as the writer is free.
func (s *Store) Cooldowns() *Table { return s.tables[cooldowns.name] }

var cooldowns = kind{name: "cooldowns", prompt: true}
