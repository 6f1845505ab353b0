package model

// Cost is the sum of what the search minimises over the nodes bought.
func (p *Problem) Cost(nodes []Node) int64 {
	var sum int64
	for i := range nodes {
		sum += p.Options[nodes[i].Option].Cost * nodes[i].N
	}
	return sum
}

// Count is the number of machines bought.
func Count(nodes []Node) int64 {
	var n int64
	for i := range nodes {
		n += nodes[i].N
	}
	return n
}

// Load adds the requests of items to load, which has Dims entries.
func (p *Problem) Load(load []int64, items []Item) {
	for _, it := range items {
		for d, q := range p.Classes[it.Class].Request {
			load[d] += q * it.N
		}
	}
}

// Fits reports whether load is within room in every dimension.
func Fits(room, load []int64) bool {
	for d, q := range load {
		if q > room[d] {
			return false
		}
	}
	return true
}

// MeetsFloor reports whether, among the members of floor f that hold load for
// pods of the given groups, every key still has enough distinct values. Where the
// floors are best effort, enough is what the least flexible of the classes has when
// it is alone: those of items and the classes more.
func (p *Problem) MeetsFloor(f int32, groups Bits, load []int64, items []Item, more ...ClassID) bool {
	if f < 0 {
		return true
	}
	floor := &p.Floors[f]
	for k, key := range floor.Keys {
		need := key.Min
		if p.BestEffort {
			need = p.bestEffort(floor, k, items, more)
		}
		if floor.distinct(k, key.Values, need, groups, load) < need {
			return false
		}
	}
	return true
}

// bestEffort is the most that one of the classes reaches alone, up to the floor.
func (p *Problem) bestEffort(floor *Floor, k int, items []Item, more []ClassID) int {
	need := 0
	groups := NewBits(p.Groups)
	alone := func(c ClassID) {
		class := &p.Classes[c]
		clear(groups)
		groups.Set(int(class.Group))
		need = max(need, floor.distinct(k, floor.Keys[k].Values, floor.Keys[k].Min, groups, class.Request))
	}
	for _, it := range items {
		alone(it.Class)
	}
	for _, c := range more {
		alone(c)
	}
	return need
}

// distinct counts the values of key k among the members that hold the load, up to enough.
func (f *Floor) distinct(k, values, enough int, groups Bits, load []int64) int {
	seen := NewBits(values)
	n := 0
	for i := range f.Members {
		m := &f.Members[i]
		v := m.Values[k]
		if v < 0 || seen.Has(int(v)) || !m.Admits.Contains(groups) || !Fits(m.Room, load) {
			continue
		}
		seen.Set(int(v))
		if n++; n >= enough {
			break
		}
	}
	return n
}
