package dice

import "math/rand/v2"

// Dice draws from a seeded stream. The same seed draws the same on every machine.
type Dice struct{ *rand.Rand }

// New returns a stream for a seed.
func New(seed uint64) Dice {
	// The second word is arbitrary; it keeps small seeds from starting alike.
	return Dice{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
}

// OneIn is true once in n times.
func (d Dice) OneIn(n int) bool { return d.IntN(n) == 0 }

// Between draws from lo to hi, both included; lo where hi is less.
func (d Dice) Between(lo, hi int) int {
	if hi <= lo {
		return lo
	}
	return lo + d.IntN(hi-lo+1)
}

// Few draws from 0 to n, small numbers more often.
func (d Dice) Few(n int) int { return min(d.Between(0, n), d.Between(0, n)) }

// Pick draws one of the values.
func Pick[T any](d Dice, values ...T) T { return values[d.IntN(len(values))] }

// Some draws a non-empty part of the values, in their order.
func Some[T any](d Dice, values ...T) []T {
	keep := d.IntN(len(values))
	var part []T
	for i, v := range values {
		if i == keep || d.OneIn(2) {
			part = append(part, v)
		}
	}
	return part
}
