package offerings

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// DefaultUnavailableTTL is how long a failed offering is left alone unless the
// caller says otherwise.
const DefaultUnavailableTTL = 3 * time.Minute

// Unavailable records offerings that a provider turned down lately, so that the next plan asks for
// another one. The zero value and nil are empty records. It reads no clock: the caller passes the
// time. Any number of goroutines may use one record; it must not be copied.
//
// Only failures for lack of capacity belong here. A throttled or malformed request must not be
// recorded, because it tells nothing about the offering.
type Unavailable struct {
	mu    sync.RWMutex
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
	u.mu.Lock()
	defer u.mu.Unlock()
	if old, ok := u.until[k]; ok && !until.After(old) {
		return
	}
	if u.until == nil {
		u.until = make(map[Key]time.Time)
	}
	u.until[k] = until.Round(0).UTC()
}

// Has reports whether a mark that covers the offering of this key holds at now. A mark
// holds up to, and not at, its end.
func (u *Unavailable) Has(offering Key, now time.Time) bool {
	if u.Len() == 0 {
		return false
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	for _, name := range either(offering.InstanceType) {
		for _, zone := range either(offering.Zone) {
			for _, capacityType := range either(offering.CapacityType) {
				for _, id := range either(offering.ReservationID) {
					until, ok := u.until[Key{InstanceType: name, Zone: zone, CapacityType: capacityType, ReservationID: id}]
					if ok && now.Before(until) {
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
	if value == "" {
		return []T{""}
	}
	return []T{value, ""}
}

// Prune forgets the marks that have ended at now. No result depends on it; it keeps a long-lived
// record small.
func (u *Unavailable) Prune(now time.Time) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.until, func(_ Key, until time.Time) bool { return !now.Before(until) })
}

// Len is the number of marks, ended ones included.
func (u *Unavailable) Len() int {
	if u == nil {
		return 0
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	return len(u.until)
}

// Keys returns the marked keys, ended ones included, sorted by instance type, zone, capacity type
// and reservation.
func (u *Unavailable) Keys() []Key { return slices.SortedFunc(maps.Keys(u.marks()), Key.Compare) }

// All yields the marks of this moment and when each ends, in the order of [Unavailable.Keys].
func (u *Unavailable) All() iter.Seq2[Key, time.Time] {
	return func(yield func(Key, time.Time) bool) {
		marks := u.marks()
		for _, k := range slices.SortedFunc(maps.Keys(marks), Key.Compare) {
			if !yield(k, marks[k]) {
				return
			}
		}
	}
}

// marks returns a copy.
func (u *Unavailable) marks() map[Key]time.Time {
	if u == nil {
		return nil
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	return maps.Clone(u.until)
}

// mark is one entry of the JSON form of Unavailable.
type mark struct {
	Key

	Until time.Time `json:"until"`
}

// MarshalJSON writes the marks as a list in the order of [Unavailable.Keys], each
// with its end: {"instanceType":"m7i.large","zone":"us-east-1a",
// "capacityType":"spot","until":"2026-11-21T06:30:00Z"}.
func (u *Unavailable) MarshalJSON() ([]byte, error) {
	marks := make([]mark, 0, u.Len())
	for k, until := range u.All() {
		marks = append(marks, mark{Key: k, Until: until})
	}
	return json.Marshal(marks)
}

// UnmarshalJSON replaces the record by one that [Unavailable.MarshalJSON] wrote. Where a key is
// listed twice the later end holds. On an error, which names every faulty entry, the record stays
// as it was. null leaves it as it is.
func (u *Unavailable) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var marks []mark
	if err := json.Unmarshal(data, &marks); err != nil {
		return fmt.Errorf("unavailable offerings: %w", err)
	}
	var faults faultList
	read := Unavailable{}
	for i, m := range marks {
		if m.CapacityType != "" {
			if _, err := ParseCapacityType(string(m.CapacityType)); err != nil {
				faults.add("unavailable offerings: entry %d: capacityType: %w", i, err)
			}
		}
		switch year := m.Until.UTC().Year(); {
		case m.Until.IsZero():
			faults.add("unavailable offerings: entry %d: until: must not be empty", i)
		case year < 0 || year > 9999: // could not be written again
			faults.add("unavailable offerings: entry %d: until: %v: want a year from 0 to 9999 in UTC", i, m.Until)
		}
		read.extend(m.Key, m.Until)
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until = read.until
	return nil
}
