package fake

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"time"
)

// dice is a small generator of repeatable random numbers (SplitMix64). One
// lives for one call and is not for parallel use.
type dice struct {
	state uint64
}

// newDice makes the dice of call number n of an upstream: the same seed, salt
// and number make the same throws.
func newDice(seed, salt, n uint64) dice {
	d := dice{state: seed}
	d.state ^= d.next() ^ salt
	d.state ^= d.next() ^ n
	return d
}

// saltOf turns a name into a number for [newDice].
func saltOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) //nolint:gosec // a hash never fails to write
	return h.Sum64()
}

func (d *dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1; n must not be 0.
func (d *dice) below(n uint64) uint64 { return d.next() % n }

// jitter widens a wait by up to ppm parts per million of it, up or down.
func (d *dice) jitter(wait time.Duration, ppm int64) time.Duration {
	if wait <= 0 || ppm <= 0 {
		return wait
	}
	share := float64(ppm) / Million * (2*float64(d.next()>>11)/(1<<53) - 1)
	return wait + time.Duration(float64(wait)*share)
}

// appendHex appends 16·words random hexadecimal digits.
func (d *dice) appendHex(dst []byte, words int) []byte {
	var b [8]byte
	for range words {
		binary.BigEndian.PutUint64(b[:], d.next())
		dst = hex.AppendEncode(dst, b[:])
	}
	return dst
}
