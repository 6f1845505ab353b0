package offerings

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// DefaultUnavailableTTL is how long a failed offering is left alone unless the
// caller says otherwise.
const DefaultUnavailableTTL = 3 * time.Minute

// Key names the offerings that a mark in [Unavailable] covers. An empty field stands
// for every value: Key{Zone: "us-east-1a"} is everything in that zone.
type Key struct {
	// InstanceType, Zone and CapacityType are as in a catalog.
	InstanceType string       `json:"instanceType,omitempty"`
	Zone         string       `json:"zone,omitempty"`
	CapacityType CapacityType `json:"capacityType,omitempty"`
	// ReservationID covers one reservation, for failures that say that it is used up
	// and nothing about others.
	ReservationID string `json:"reservationID,omitempty"`
}

// compare orders keys by name.
func (k Key) compare(o Key) int {
	return cmp.Or(
		cmp.Compare(k.InstanceType, o.InstanceType),
		cmp.Compare(k.Zone, o.Zone),
		cmp.Compare(k.CapacityType, o.CapacityType),
		cmp.Compare(k.ReservationID, o.ReservationID),
	)
}

// Unavailable records offerings that a provider turned down lately, so that the next
// solve asks for something else. The zero value and nil are empty records. It reads
// no clock. It is not safe for use by several goroutines while one of them marks or
// prunes.
//
// Only failures for lack of capacity belong here. A throttled or malformed request
// says nothing about the offering.
type Unavailable struct {
	until map[Key]time.Time
}

// Mark records that the offerings of k failed at now and should not be tried again
// for ttl; 0 or less is [DefaultUnavailableTTL]. Marking again extends the time and
// never shortens it.
func (u *Unavailable) Mark(k Key, now time.Time, ttl time.Duration) {
	if ttl <= 0 {
		ttl = DefaultUnavailableTTL
	}
	u.extend(k, now.Add(ttl))
}

// extend keeps the later of two ends. Times are stored in UTC and without the
// monotonic clock, so that a record read back from JSON is the same record.
func (u *Unavailable) extend(k Key, until time.Time) {
	if old, ok := u.until[k]; ok && !until.After(old) {
		return
	}
	if u.until == nil {
		u.until = make(map[Key]time.Time)
	}
	u.until[k] = until.Round(0).UTC()
}

// Has reports whether a mark that covers the offering of this instance type holds at
// now. A mark holds up to, and not at, its end.
func (u *Unavailable) Has(instanceType string, o Offering, now time.Time) bool {
	if u.Len() == 0 {
		return false
	}
	for _, name := range either(instanceType) {
		for _, zone := range either(o.Zone) {
			for _, capacityType := range either(o.CapacityType) {
				for _, id := range either(o.ReservationID) {
					k := Key{InstanceType: name, Zone: zone, CapacityType: capacityType, ReservationID: id}
					if until, ok := u.until[k]; ok && now.Before(until) {
						return true
					}
				}
			}
		}
	}
	return false
}

// either is a field's value and the empty value, which stands for every one.
func either[T ~string](value T) []T {
	all := [2]T{value, ""}
	if value == "" {
		return all[1:]
	}
	return all[:]
}

// Prune forgets the marks that no longer hold at now. Nothing else depends on it; it
// keeps a long-lived record small.
func (u *Unavailable) Prune(now time.Time) {
	for k, until := range u.All() {
		if !now.Before(until) {
			delete(u.until, k)
		}
	}
}

// Len is the number of marks, those that no longer hold included.
func (u *Unavailable) Len() int {
	if u == nil {
		return 0
	}
	return len(u.until)
}

// Keys returns the marked keys, those that no longer hold included, sorted by
// instance type, zone, capacity type and reservation.
func (u *Unavailable) Keys() []Key {
	keys := make([]Key, 0, u.Len())
	if u != nil {
		for k := range u.until {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, Key.compare)
	return keys
}

// All yields the marks and when each ends, in the order of [Unavailable.Keys].
func (u *Unavailable) All() iter.Seq2[Key, time.Time] {
	return func(yield func(Key, time.Time) bool) {
		for _, k := range u.Keys() {
			if !yield(k, u.until[k]) {
				return
			}
		}
	}
}
