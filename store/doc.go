// Package store keeps what the gateway must still know after a restart: which
// target a session last used, cooldowns, open circuits, running statistics, used
// quotas and who issued what. It keeps bytes: the owner of a record gives the
// bytes a meaning and a version of their own.
//
// # What lives here
//
// One bbolt file, gatewright.db, with a bucket for each kind of record, and the
// file secret beside it. Read store.go first, then writer.go. Affinity
// (affinity.go, shard.go) answers from memory and is written behind as an
// append-only log of packed segments (segment.go, affinity_log.go). A Table
// (table.go, record.go) is a queue in front of a bucket: nothing is read back
// but at start. cooldowns.go, circuits.go, statistics.go, quotas.go and owners.go
// name the kinds; a new kind is one such file and one row in kinds. Objects
// (objects.go) are what people made: few, large at times, written at once and
// read when asked for. open.go,
// pages.go and the lock files decide whether a file may be used at all; check.go
// and compact.go are the offline verbs.
//
// # What never does
//
// No meaning of a record, no routing rule, no provider credential, no network.
// No caller waits for the disk except in Sync, Load, Open, Close and the methods
// of Objects.
//
// # Durability
//
// A record of Cooldowns or Circuits is committed as soon as the one writer
// goroutine is free; Statistics, Quotas, Owners and affinity follow at the next flush
// (Options.FlushEvery). A kill loses at most what was queued and not yet
// committed. Objects.Write returns when its changes are durable. A commit is either whole or not there. When the disk refuses, the
// gateway keeps answering from memory, the queue keeps the newest value of each
// record, and the writer tries again at growing distances; Err and Stats tell.
//
// # How bbolt is used, and why
//
// Sessions as single keys would cost one 4 KiB page each, because their keys are
// random: 14 to 19 ms a thousand. One value a flush, under a growing key, costs
// about half a millisecond a thousand. Segments above 8 KiB get a nested bucket
// of their own: bbolt rewrites the whole leaf on every append, and a leaf holds
// up to four neighbours whatever their size, so that a 27 KiB segment cost
// 136 KiB of writes, and costs 44 KiB so.
//
//   - The freelist is written with each commit (NoFreelistSync is false). Leaving
//     it out saved a tenth of a commit, but moves a scan of the whole file to
//     start and to each failed commit, and a damaged page then ends the process
//     in a goroutine that nobody can recover.
//   - FreelistType is hashmap: compaction frees long runs of pages, which the
//     array searches one by one.
//   - InitialMmapSize is 256 MiB of address space (no memory; not on Windows,
//     where it would be the size of the file): growing the map waits for readers.
//   - AllocSize is 1 MiB instead of 16 MiB: an idle gateway has a small file.
//   - Batch is not used: it delays a lone caller. The one writer is the batch.
//   - NoSync and NoGrowSync stay false.
//
// A bbolt file never shrinks by itself: freed pages are used again, and Compact
// gives them back.
package store
