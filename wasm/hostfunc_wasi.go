package wasm

import (
	"encoding/binary"
	"fmt"
)

// What Go's runtime asks of WASI is answered the same in every instance: the
// clock begins at one second and moves only while a guest sleeps, the randomness
// is always the same, there are no files, arguments or environment, and what is
// written to the standard streams is counted and dropped. So a guest in Go can
// be replayed like every other.

const wasiModule = "wasi_snapshot_preview1"

// Results of WASI's functions.
const (
	wasiOK      = 0
	wasiBadFile = 8
	wasiInvalid = 28
)

// wasiStart is what the clock of a new instance shows, in nanoseconds. Go's
// runtime gives up on a clock that shows 0.
const wasiStart = 1_000_000_000

// wasi is what a guest can see of the world.
type wasi struct {
	now    int64  // ns
	random uint64 // how much of the randomness is used
}

// Costs of WASI's functions, in units, besides that of calling the host.
const (
	wasiBytesPerUnit = 4
	wasiEntry        = 16  // of one buffer or subscription
	wasiMaxEntries   = 128 // in one call
)

// wasiFunctions are those that check.Go allows.
var wasiFunctions = map[string]hostCall{
	"args_get":            wasiNothing,
	"environ_get":         wasiNothing,
	"sched_yield":         wasiNothing,
	"args_sizes_get":      wasiNoSizes,
	"environ_sizes_get":   wasiNoSizes,
	"clock_time_get":      wasiClock,
	"random_get":          wasiRandom,
	"poll_oneoff":         wasiPoll,
	"fd_write":            wasiWrite,
	"fd_fdstat_get":       wasiStat,
	"fd_close":            wasiNoFile,
	"fd_fdstat_set_flags": wasiNoFile,
	"fd_prestat_get":      wasiNoFile,
	"fd_prestat_dir_name": wasiNoFile,
	"proc_exit":           wasiExit,
}

func wasiNothing(_ *instance, stack []uint64) { stack[0] = wasiOK }

func wasiNoFile(_ *instance, stack []uint64) { stack[0] = wasiBadFile }

func (i *instance) put32(what string, at, v uint32) {
	binary.LittleEndian.PutUint32(i.view(what, at, 4), v)
}

func (i *instance) put64(what string, at uint32, v uint64) {
	binary.LittleEndian.PutUint64(i.view(what, at, 8), v)
}

// wasiNoSizes says that there is nothing, in no bytes.
func wasiNoSizes(i *instance, stack []uint64) {
	i.put32("sizes_get", arg(stack, 0), 0)
	i.put32("sizes_get", arg(stack, 1), 0)
	stack[0] = wasiOK
}

func wasiClock(i *instance, stack []uint64) {
	i.put64("clock_time_get", arg(stack, 2), uint64(i.wasi.now)) //nolint:gosec // positive
	stack[0] = wasiOK
}

// wasiRandom gives the next bytes of a sequence that is always the same.
func wasiRandom(i *instance, stack []uint64) {
	n := arg(stack, 1)
	i.charge(int64(n) / wasiBytesPerUnit)
	b := i.view("random_get", arg(stack, 0), n)
	for k := range b {
		z := (i.wasi.random + 1) * 0x9e3779b97f4a7c15
		z = (z ^ z>>32) * 0xd6e8feb86659fd93
		b[k] = byte(z >> 56)
		i.wasi.random++
	}
	stack[0] = wasiOK
}

// Sizes and places in WASI's subscriptions and events.
const (
	subscriptionSize = 48
	eventSize        = 32
	subscribedClock  = 0
	clockAbsolute    = 1
)

// wasiPoll lets every subscription happen at once: a sleep of the guest moves
// its clock, and costs no time.
func wasiPoll(i *instance, stack []uint64) {
	in, out, n, count := arg(stack, 0), arg(stack, 1), arg(stack, 2), arg(stack, 3)
	if n == 0 || n > wasiMaxEntries {
		stack[0] = wasiInvalid
		return
	}
	i.charge(int64(n) * wasiEntry)
	subscriptions := i.view("poll_oneoff", in, n*subscriptionSize)
	events := i.view("poll_oneoff", out, n*eventSize)
	wake := int64(0)
	for k := range int(n) {
		s, e := subscriptions[k*subscriptionSize:], events[k*eventSize:(k+1)*eventSize]
		user, kind := binary.LittleEndian.Uint64(s), s[8]
		if kind == subscribedClock {
			until := int64(min(binary.LittleEndian.Uint64(s[24:]), 1<<62))
			if binary.LittleEndian.Uint16(s[40:])&clockAbsolute == 0 {
				until += min(i.wasi.now, 1<<61)
			}
			if wake == 0 || until < wake {
				wake = until
			}
		}
		clear(e)
		binary.LittleEndian.PutUint64(e, user)
		e[10] = kind
	}
	i.wasi.now = max(i.wasi.now, wake)
	i.put32("poll_oneoff", count, n)
	stack[0] = wasiOK
}

// wasiWrite counts what is written to the standard streams and drops it.
func wasiWrite(i *instance, stack []uint64) {
	file, at, n, written := arg(stack, 0), arg(stack, 1), arg(stack, 2), arg(stack, 3)
	if file != 1 && file != 2 {
		stack[0] = wasiBadFile
		return
	}
	if n > wasiMaxEntries {
		stack[0] = wasiInvalid
		return
	}
	i.charge(int64(n) * wasiEntry)
	list := i.view("fd_write", at, n*8)
	sum := uint64(0)
	for k := range n {
		p := list[k*8:]
		size := binary.LittleEndian.Uint32(p[4:])
		i.view("fd_write", binary.LittleEndian.Uint32(p), size)
		sum += uint64(size)
	}
	sum = min(sum, 1<<31)
	i.charge(int64(sum) / wasiBytesPerUnit)
	i.count.output.Add(sum)
	i.put32("fd_write", written, uint32(sum))
	stack[0] = wasiOK
}

// wasiStat describes the standard streams as terminals without rights.
func wasiStat(i *instance, stack []uint64) {
	file, at := arg(stack, 0), arg(stack, 1)
	if file > 2 {
		stack[0] = wasiBadFile
		return
	}
	b := i.view("fd_fdstat_get", at, 24)
	clear(b)
	b[0] = 2 // a character device
	stack[0] = wasiOK
}

func wasiExit(_ *instance, stack []uint64) {
	panic(&hostError{FaultTrap, fmt.Sprintf("exited with code %d", arg(stack, 0))})
}
