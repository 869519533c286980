package engine

import "math"

// drawHash returns the 64-bit hash of a deployment id that the draw mixes with
// the seed (FNV-1a, then finalised). It is computed once per snapshot.
func drawHash(id string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(id) {
		h ^= uint64(id[i])
		h *= prime
	}
	return mix64(h)
}

// mix64 is the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014).
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// drawValue is the key of one candidate in the weighted draw: −ln(u)/weight
// with u in (0, 1) from the seed and the deployment. The smallest goes first,
// so P(first) is the share of the weights, and a changed pool or weight moves
// only the sessions that must move (Efraimidis and Spirakis: Weighted random
// sampling with a reservoir, 2006). The seed is the keyed part: it is a keyed
// hash of the session, so outsiders can predict no order.
func drawValue(seed, deployment uint64, weight int) float64 {
	if weight < 1 {
		weight = 1 // a locked request bypasses weight 0
	}
	const steps = 1 << 52 // so that the half step is exact, and u never 0 or 1
	u := (float64(mix64(seed^deployment)>>12) + 0.5) / steps
	return -math.Log(u) / float64(weight)
}
