package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
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

// choiceIn reports whether offers that are on sale leave a template the choice that
// its pool's minValues ask for.
func (c *compiler) choiceIn(v *template, row model.Bits) bool {
	if c.solver.MinValues == MinValuesBestEffort {
		return true
	}
	for _, r := range floorKeys(v.set) {
		seen := map[string]bool{}
		row.Each(func(o int) {
			if c.offers.offers[o].launchable {
				value, ok := c.offers.offers[o].label(r.Key())
				if !ok {
					value, ok = v.labels[r.Key()]
				}
				if ok {
					seen[value] = true
				}
			}
		})
		if len(seen) < r.MinValues() {
			return false
		}
	}
	return true
}

// addFloor hands the engine the flexibility floor of a template's machines, spot ones
// or others, and returns its number, or -1 where there is none: the pool states no
// minValues, and of the choice among spot offers nothing is asked. Only what can really
// be bought counts: values of offers that are on sale and hold the pods.
func (c *compiler) addFloor(v *template, x *templateOffers, spot bool) int32 {
	keys := floorKeys(v.set)
	var choice []choiceKey
	if spot {
		choice = c.solver.Flexibility.keys()
	}
	if len(keys)+len(choice) == 0 {
		return -1
	}
	var floor model.Floor
	numbers := make([]map[string]int32, len(keys)+len(choice))
	for i := range numbers {
		numbers[i] = map[string]int32{}
	}
	seen := map[string]bool{}
	limited := limitedResources(v.pool)
	limits := poolLimits(v.pool, limited)
	for _, o := range x.list {
		if c.cautious && c.offers.offers[o.offer].offering.CapacityType == offerings.Reserved {
			continue // by the time it is needed the reservation may be used up
		}
		use := limitUse(limited, c.offers.shapes[c.offers.offers[o.offer].shape].capacity)
		if !model.Fits(limits, use) {
			continue // it takes more than the pool may ever have
		}
		m := model.FloorMember{Room: c.rooms.rooms[o.room], Admits: c.columns.rows[o.column], Values: make([]int32, len(numbers))}
		if c.cautious {
			m.Use = use
		}
		b := binary.AppendVarint(nil, int64(o.room))
		b = binary.AppendVarint(b, int64(o.column))
		idle := true
		for i := range numbers {
			m.Values[i] = -1
			var value string
			var ok bool
			if i < len(keys) {
				value, ok = c.offers.offers[o.offer].label(keys[i].Key())
				if !ok {
					value, ok = v.labels[keys[i].Key()]
				}
			} else if ok = c.offers.offers[o.offer].spot(); ok {
				value = choice[i-len(keys)].of(&c.offers.offers[o.offer])
			}
			if ok {
				n, known := numbers[i][value]
				if !known {
					n = int32(len(numbers[i]))
					numbers[i][value] = n
				}
				m.Values[i], idle = n, false
			}
			b = binary.AppendVarint(b, int64(m.Values[i]))
		}
		for _, u := range m.Use {
			b = binary.AppendVarint(b, u)
		}
		if !seen[string(b)] && !idle {
			seen[string(b)] = true
			floor.Members = append(floor.Members, m)
		}
	}
	for i, r := range keys {
		floor.Keys = append(floor.Keys, model.FloorKey{Min: r.MinValues(), Values: len(numbers[i])})
	}
	for i, k := range choice {
		floor.Keys = append(floor.Keys, model.FloorKey{Min: k.least, Values: len(numbers[len(keys)+i]), Strict: true})
	}
	if len(choice) > 0 {
		// Whoever counts may stop early where members that hold much come first.
		slices.SortStableFunc(floor.Members, func(a, b model.FloorMember) int { return slices.Compare(b.Room, a.Room) })
	}
	c.model.Floors = append(c.model.Floors, floor)
	return int32(len(c.model.Floors) - 1)
}

// maxWorst bounds how many levels of flexibility a cautious solve tells apart for
// one kind of offer.
const maxWorst = 6

// worst lists, for a cautious solve, how much of its pool's limits a machine's
// exchange may take: enough for every key of the floor to reach its minimum among
// the values that take the least, then for one value more, and so on. Without a
// floor or limits, or when the solve is not cautious, the only level is nil.
func (c *compiler) worst(floor int32, use []int64) [][]int64 {
	if !c.cautious || floor < 0 || len(use) == 0 {
		return [][]int64{nil}
	}
	f := &c.model.Floors[floor]
	var levels [][]int64
	for extra := range maxWorst {
		worst := slices.Clone(use)
		for k, key := range f.Keys {
			least := leastUse(f, k)
			for _, u := range least[:min(key.Min+extra, len(least))] {
				for d, n := range u {
					worst[d] = max(worst[d], n)
				}
			}
		}
		if len(levels) == 0 || !slices.Equal(levels[len(levels)-1], worst) {
			levels = append(levels, worst)
		}
	}
	return levels
}

// leastUse is, for each value of a key, the least that a member with it takes;
// values that take little come first.
func leastUse(f *model.Floor, k int) [][]int64 {
	least := make([][]int64, f.Keys[k].Values)
	for i := range f.Members {
		m := &f.Members[i]
		if v := m.Values[k]; v >= 0 && (least[v] == nil || slices.Compare(m.Use, least[v]) < 0) {
			least[v] = m.Use
		}
	}
	least = slices.DeleteFunc(least, func(u []int64) bool { return u == nil })
	slices.SortFunc(least, slices.Compare[[]int64])
	return least
}
