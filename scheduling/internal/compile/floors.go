package compile

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// ChoiceIn reports whether offers that are on sale leave a template the choice that
// its pool's minValues ask for.
func (c *Compiler) ChoiceIn(v *offers.Template, row model.Bits) bool {
	if c.Solver.MinValues == scheduling.MinValuesBestEffort {
		return true
	}
	for _, r := range offers.FloorKeys(v.Set) {
		seen := map[string]bool{}
		row.Each(func(o int) {
			if c.Offers.Offers[o].Launchable {
				if value, ok := c.Offers.LabelOf(v, o, r.Key()); ok {
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
func (c *Compiler) addFloor(v *offers.Template, x *offers.TemplateOffers, spot bool) int32 {
	keys := offers.FloorKeys(v.Set)
	var choice []offers.ChoiceKey
	if spot {
		choice = offers.Keys(c.Solver.Flexibility)
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
	limited := LimitedResources(v.Pool)
	limits := offers.PoolLimits(v.Pool, limited)
	for _, o := range x.List {
		if c.Cautious && c.Offers.Offers[o.Offer].Offering.CapacityType == offerings.Reserved {
			continue // by the time it is needed the reservation may be used up
		}
		use := LimitUse(limited, c.Offers.Shapes[c.Offers.Offers[o.Offer].Shape].Capacity)
		if !model.Fits(limits, use) {
			continue // it takes more than the pool may ever have
		}
		m := model.FloorMember{Room: c.Rooms.Rooms[o.Room], Admits: c.Columns.Rows[o.Column], Values: make([]int32, len(numbers))}
		if c.Cautious {
			m.Use = use
		}
		b := binary.AppendVarint(nil, int64(o.Room))
		b = binary.AppendVarint(b, int64(o.Column))
		idle := true
		for i := range numbers {
			m.Values[i] = -1
			var value string
			var ok bool
			if i < len(keys) {
				value, ok = c.Offers.LabelOf(v, o.Offer, keys[i].Key())
			} else if ok = c.Offers.Offers[o.Offer].Spot(); ok {
				value = choice[i-len(keys)].Of(&c.Offers.Offers[o.Offer])
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
		floor.Keys = append(floor.Keys, model.FloorKey{Min: k.Least, Values: len(numbers[len(keys)+i]), Strict: true})
	}
	if len(choice) > 0 {
		// Whoever counts may stop early where members that hold much come first.
		slices.SortStableFunc(floor.Members, func(a, b model.FloorMember) int { return slices.Compare(b.Room, a.Room) })
	}
	c.Model.Floors = append(c.Model.Floors, floor)
	return int32(len(c.Model.Floors) - 1)
}

// worst lists, for a cautious solve, how much of its pool's limits a machine's
// exchange may take: enough for every key of the floor to reach its minimum among
// the values that take the least, then for one value more, and so on. Without a
// floor or limits, or when the solve is not cautious, the only level is nil.
func (c *Compiler) worst(floor int32, use []int64) [][]int64 {
	if !c.Cautious || floor < 0 || len(use) == 0 {
		return [][]int64{nil}
	}
	f := &c.Model.Floors[floor]
	var levels [][]int64
	for extra := range offers.MaxWorst {
		worst := slices.Clone(use)
		for k, key := range f.Keys {
			least := offers.LeastUse(f, k)
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

// addFloors adds the flexibility floors of a template's machines: that of those which
// are not spot, and that of spot ones.
func (c *Compiler) addFloors(v *offers.Template, x *offers.TemplateOffers) [2]int32 {
	floor := c.addFloor(v, x, false)
	if !offers.On(c.Solver.Flexibility) {
		return [2]int32{floor, floor}
	}
	return [2]int32{floor, c.addFloor(v, x, true)}
}
