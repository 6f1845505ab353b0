package offerings

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// mark is one entry of the JSON form of Unavailable.
type mark struct {
	Key

	Until time.Time `json:"until"`
}

// MarshalJSON writes the marks as a list in the order of [Unavailable.Keys], each
// with its end: {"instanceType":"m7i.large","zone":"us-east-1a",
// "capacityType":"spot","until":"2026-11-21T06:30:00Z"}.
func (u Unavailable) MarshalJSON() ([]byte, error) {
	marks := make([]mark, 0, u.Len())
	for k, until := range u.All() {
		marks = append(marks, mark{Key: k, Until: until})
	}
	return json.Marshal(marks)
}

// UnmarshalJSON replaces the record by what [Unavailable.MarshalJSON] wrote. Where a
// key is listed twice the later end holds. On an error, which names every entry at
// fault, the record stays as it was. null leaves it as it is.
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
	*u = read
	return nil
}
