package verify

import (
	"fmt"
	"maps"
	"slices"
)

// reservationCounts checks that the launches count on no more machines of a
// reservation than are left, also when any one launch falls back to another option.
func (j *judge) reservationCounts() {
	for _, id := range slices.Sorted(maps.Keys(j.used)) {
		if n, left := j.used[id], j.reservations[id]; n > left {
			j.add(Reservation, "reservation/"+id, "%d launches count on it, %d machines are left", n, left)
		}
	}
	for _, r := range j.launches {
		first := r.first()
		if first == nil {
			continue
		}
		also := make(map[string]bool)
		for i, m := range r.machines {
			if m == nil || m.offering.ReservationID == "" || m.offering.ReservationID == first.offering.ReservationID {
				continue
			}
			id := m.offering.ReservationID
			if !also[id] {
				also[id] = true
				j.listed[id]++
			}
			if n, left := j.used[id]+1, j.reservations[id]; n > left {
				j.add(Reservation, fmt.Sprintf("%s/options[%d]", r.object, i), "%d launches would count on %s, %d machines are left", n, id, left)
			}
		}
	}
}
