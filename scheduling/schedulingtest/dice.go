package schedulingtest

import "math/rand/v2"

// dice draws from a seeded stream. The same seed draws the same on every machine.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice {
	// The second word is arbitrary; it keeps small seeds from starting alike.
	return dice{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
}

// oneIn is true once in n times.
func (d dice) oneIn(n int) bool { return d.IntN(n) == 0 }

// between draws from lo to hi, both included; lo where hi is less.
func (d dice) between(lo, hi int) int {
	if hi <= lo {
		return lo
	}
	return lo + d.IntN(hi-lo+1)
}

// few draws from 0 to n, small numbers more often.
func (d dice) few(n int) int { return min(d.between(0, n), d.between(0, n)) }

// pick draws one of the values.
func pick[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// some draws a non-empty part of the values, in their order.
func some[T any](d dice, values ...T) []T {
	keep := d.IntN(len(values))
	var part []T
	for i, v := range values {
		if i == keep || d.oneIn(2) {
			part = append(part, v)
		}
	}
	return part
}
