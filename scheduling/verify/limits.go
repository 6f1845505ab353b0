package verify

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// limits checks every pool's limits: its nodes and the first options of its launches
// together, and again with any one launch falling back to another of its options.
func (j *judge) limits() {
	for _, pl := range j.SortedPools() {
		limits := pl.Limits()
		launches := j.ofPool(pl)
		if len(limits) == 0 || len(launches) == 0 {
			continue
		}
		total := j.poolTotal(pl)
		if over := snapshot.Above(total, limits); over != "" {
			j.add(Limits, "nodepool/"+pl.Name, "%s", over)
			continue
		}
		for _, l := range launches {
			for i, n := range l.nodes {
				if i == 0 || n == nil {
					continue
				}
				if over := snapshot.Above(total.Minus(l.first().Capacity).Plus(n.Capacity), limits); over != "" {
					j.add(Limits, fmt.Sprintf("%s/options[%d]", l.object, i), "%s", over)
				}
			}
		}
	}
}

// ofPool returns the launches of a pool whose first option is known.
func (j *judge) ofPool(pl *snapshot.Pool) []*launch {
	return slices.DeleteFunc(slices.Clone(j.launches), func(l *launch) bool { return l.pool != pl || l.first() == nil })
}

// poolTotal is the capacity of the pool's nodes and of the first options of its
// launches, with their number.
func (j *judge) poolTotal(pl *snapshot.Pool) snapshot.Amounts {
	total := pl.Usage.Clone()
	for _, l := range j.ofPool(pl) {
		total.Add(l.first().Capacity)
		total.Add(snapshot.Amounts{scheduling.NodesResource: big.NewInt(1)})
	}
	return total
}

// headroom is what the pool may still launch for certain, whichever one of its launches
// falls back to another option. Only resources that are limited are in it.
func (j *judge) headroom(pl *snapshot.Pool) snapshot.Amounts {
	worst := snapshot.Amounts{}
	for _, l := range j.ofPool(pl) {
		for _, n := range l.nodes {
			if n != nil {
				worst.Raise(n.Capacity.Minus(l.first().Capacity))
			}
		}
	}
	total, left := j.poolTotal(pl).Plus(worst), snapshot.Amounts{}
	for name, n := range pl.Limits() {
		left[name] = new(big.Int).Sub(n, total.Of(name))
	}
	return left
}

// reservationCounts checks that the launches count on no more machines of a
// reservation than are left, also when any one launch falls back to another option.
func (j *judge) reservationCounts() {
	for _, id := range slices.Sorted(maps.Keys(j.used)) {
		if n, left := j.used[id], j.Reservations[id]; n > left {
			j.add(Reservation, "reservation/"+id, "%d launches count on it, %d machines are left", n, left)
		}
	}
	for _, l := range j.launches {
		first := l.first()
		if first == nil {
			continue
		}
		also := make(map[string]bool)
		for i, n := range l.nodes {
			if n == nil || n.Offering.ReservationID == "" || n.Offering.ReservationID == first.Offering.ReservationID {
				continue
			}
			id := n.Offering.ReservationID
			if !also[id] {
				also[id] = true
				j.listed[id]++
			}
			if n, left := j.used[id]+1, j.Reservations[id]; n > left {
				j.add(Reservation, fmt.Sprintf("%s/options[%d]", l.object, i), "%d launches would count on %s, %d machines are left", n, id, left)
			}
		}
	}
}
