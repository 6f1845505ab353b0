package scheduling

import (
	"encoding/binary"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// floorKeys are the requirements of a pool that state minValues.
func floorKeys(set requirements.Set) []requirements.Requirement {
	var out []requirements.Requirement
	for r := range set.All() {
		if r.MinValues() > 0 {
			out = append(out, r)
		}
	}
	return out
}

// addFloor hands the engine the flexibility floor of a template and returns its
// number, or -1 where the pool states no minValues. Only what can really be bought
// counts: values of offers that are on sale and hold the pods.
func (c *compiler) addFloor(v *template, x *templateOffers) int32 {
	keys := floorKeys(v.set)
	if len(keys) == 0 {
		return -1
	}
	var floor model.Floor
	numbers := make([]map[string]int32, len(keys))
	for i := range keys {
		numbers[i] = map[string]int32{}
	}
	seen := map[string]bool{}
	for _, o := range x.list {
		m := model.FloorMember{Room: c.rooms.rooms[o.room], Admits: c.columns.rows[o.column], Values: make([]int32, len(keys))}
		b := binary.AppendVarint(nil, int64(o.room))
		b = binary.AppendVarint(b, int64(o.column))
		for i, r := range keys {
			m.Values[i] = -1
			value, ok := c.offers.offers[o.offer].label(r.Key())
			if !ok {
				value, ok = v.labels[r.Key()]
			}
			if ok {
				n, known := numbers[i][value]
				if !known {
					n = int32(len(numbers[i]))
					numbers[i][value] = n
				}
				m.Values[i] = n
			}
			b = binary.AppendVarint(b, int64(m.Values[i]))
		}
		if !seen[string(b)] {
			seen[string(b)] = true
			floor.Members = append(floor.Members, m)
		}
	}
	for i, r := range keys {
		floor.Keys = append(floor.Keys, model.FloorKey{Min: r.MinValues(), Values: len(numbers[i])})
	}
	c.model.Floors = append(c.model.Floors, floor)
	return int32(len(c.model.Floors) - 1)
}
