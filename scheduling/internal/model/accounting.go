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

// MeetsFloor reports whether, among the members of an option's floor that hold load
// for pods of the given groups, every key still has enough distinct values. Where
// floors are best effort, enough is what the most flexible of the classes has when
// it is alone, if that is less: those of items and the classes more.
func (p *Problem) MeetsFloor(o *Option, groups Bits, load []int64, items []Item, more ...ClassID) bool {
	if o.Floor < 0 {
		return true
	}
	for k, key := range p.Floors[o.Floor].Keys {
		need := key.Min
		if p.BestEffort {
			need = p.bestEffort(o, k, items, more)
		}
		if p.distinct(o, k, need, groups, load) < need {
			return false
		}
	}
	return true
}

// bestEffort is the most that one of the classes reaches alone, up to the floor.
func (p *Problem) bestEffort(o *Option, k int, items []Item, more []ClassID) int {
	need := 0
	groups := NewBits(p.Groups)
	alone := func(c ClassID) {
		class := &p.Classes[c]
		clear(groups)
		groups.Set(int(class.Group))
		need = max(need, p.distinct(o, k, p.Floors[o.Floor].Keys[k].Min, groups, class.Request))
	}
	for _, it := range items {
		alone(it.Class)
	}
	for _, c := range more {
		alone(c)
	}
	return need
}

// distinct counts the values of key k among the members of an option's floor that
// hold the load, up to enough.
func (p *Problem) distinct(o *Option, k, enough int, groups Bits, load []int64) int {
	f := &p.Floors[o.Floor]
	seen := NewBits(f.Keys[k].Values)
	n := 0
	for i := range f.Members {
		m := &f.Members[i]
		v := m.Values[k]
		if v < 0 || seen.Has(int(v)) || !m.Admits.Contains(groups) || !Fits(m.Room, load) {
			continue
		}
		if o.Worst != nil && !Fits(o.Worst, m.Use) {
			continue
		}
		seen.Set(int(v))
		if n++; n >= enough {
			break
		}
	}
	return n
}
