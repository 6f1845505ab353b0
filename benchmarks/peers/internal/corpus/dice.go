package corpus

import "math/rand/v2"

// dice draws from a seeded stream, the same on every machine.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice {
	// The second word is arbitrary; it keeps small seeds from starting alike.
	return dice{rand.New(rand.NewPCG(seed, 0xd1b54a32d192ed03))}
}

// kind is a size of pod with its share of all pods, in any unit.
type kind struct {
	share, milliCPU, mib, gpus int64
}

// draw picks a kind by its share.
func draw(d dice, kinds []kind) kind {
	var total int64
	for _, k := range kinds {
		total += k.share
	}
	at := d.Int64N(total)
	for _, k := range kinds {
		if at -= k.share; at < 0 {
			return k
		}
	}
	return kinds[len(kinds)-1]
}

// jitter is n, give or take the percentage, rounded to the step and at least one step.
func jitter(d dice, n, percent, step int64) int64 {
	spread := n * percent / 100
	n += d.Int64N(2*spread+1) - spread
	return max((n+step/2)/step*step, step)
}
