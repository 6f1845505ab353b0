package offerings

import (
	"cmp"
	"slices"
	"strings"
)

// Sort orders the candidates in place, best first. For all strategies but
// [Diversified] that is the order of [Ranking.Compare].
//
// Diversified starts from the order of prices and cuts it into bands: a band
// reaches from the cheapest candidate left to a quarter above its price. Inside a
// band the candidates are dealt out over spot pools, in rounds: the cheapest of
// every pool, then the second cheapest of every pool, and so on, each round in the
// order of prices. A spot pool is a type family (the part of the name before the
// first dot, or without its trailing size where there is none) in a zone under a
// capacity type, or a reservation. So the first options differ in pool, and none is
// more than a quarter more expensive than the cheapest until its band is used up.
func (r Ranking) Sort(cs []Candidate) { r.SortNth(cs, 0) }

// SortNth is Sort for the n-th launch, counted from 0, of one workload. Under
// [Diversified] each launch begins with another pool of the first band, so that
// nodes launched together do not come from one spot pool; the other strategies order
// every launch alike.
func (r Ranking) SortNth(cs []Candidate, n int) {
	slices.SortStableFunc(cs, r.Compare)
	if r.Strategy != Diversified {
		return
	}
	for rest := cs; len(rest) > 0; n = 0 {
		band := firstBand(rest)
		roundRobin(rest[:band], n)
		rest = rest[band:]
	}
}

// firstBand is how many of the candidates, which are sorted by price, cost at most a
// quarter more than the first.
func firstBand(sorted []Candidate) int {
	limit := scale(max(sorted[0].Offering.Price, 0), 5, 4)
	for i, c := range sorted {
		if c.Offering.Price > limit {
			return i
		}
	}
	return len(sorted)
}

// roundRobin reorders a band in rounds over the pools. The first round begins with its
// n-th pool; the pools before it go to the round's end.
func roundRobin(band []Candidate, n int) {
	type dealt struct {
		round int
		Candidate
	}
	next := make(map[pool]int, len(band))
	order := make([]dealt, len(band))
	for i, c := range band {
		p := poolOf(c)
		order[i] = dealt{round: next[p], Candidate: c}
		next[p]++
	}
	slices.SortStableFunc(order, func(a, b dealt) int { return cmp.Compare(a.round, b.round) })
	pools := len(next)
	start := ((n % pools) + pools) % pools
	for i := range order {
		from := i
		if i < pools { // the first round has one candidate of every pool
			from = (i + start) % pools
		}
		band[i] = order[from].Candidate
	}
}

// pool is a spot pool: nodes of one type in one zone, which run out and are reclaimed together.
type pool struct {
	capacityType      CapacityType
	family            string
	zone, reservation string
}

func poolOf(c Candidate) pool {
	o := c.Offering
	if o.Counted() {
		return pool{capacityType: o.CapacityType, reservation: o.ReservationID}
	}
	return pool{capacityType: o.CapacityType, family: Family(c.InstanceType), zone: o.Zone}
}

// Family is the part of a type's name that it shares with its other sizes: "m7i" of
// "m7i.large", "n2-standard" of "n2-standard-4", "Standard_D_v5" of "Standard_D8_v5".
func Family(instanceType string) string {
	if family, _, found := strings.Cut(instanceType, "."); found {
		return family
	}
	if i := strings.LastIndexByte(instanceType, '-'); i > 0 {
		return instanceType[:i]
	}
	parts := strings.Split(instanceType, "_")
	if len(parts) < 2 {
		return instanceType
	}
	// Azure puts the number of processors into the second part.
	parts[1] = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, parts[1])
	return strings.Join(parts, "_")
}
