package model

import "slices"

// Cost is the total of Option.Cost over the machines bought, in nano-USD per hour.
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

// Pods counts the pods on the machines bought.
func Pods(nodes []Node) (n int64) {
	for i := range nodes {
		for _, it := range nodes[i].Items {
			n += it.N * nodes[i].N
		}
	}
	return n
}

// Unbundle returns machines bought N times as single ones with items of their own.
func Unbundle(nodes []Node) []Node {
	out := make([]Node, 0, Count(nodes))
	for _, node := range nodes {
		for range node.N {
			out = append(out, Node{Option: node.Option, N: 1, Items: slices.Clone(node.Items)})
		}
	}
	return out
}

// Add returns items with n more pods of class c.
func Add(items []Item, c ClassID, n int64) []Item {
	for i := range items {
		if items[i].Class == c {
			items[i].N += n
			return items
		}
	}
	return append(items, Item{Class: c, N: n})
}

// Every lists the first n numbers, from 0.
func Every[T ~int | ~int32](n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = T(i)
	}
	return all
}

// AnyLeft reports whether any of the counts is above 0.
func AnyLeft(counts []int64) bool {
	return slices.ContainsFunc(counts, func(n int64) bool { return n > 0 })
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

// MeetsFloor reports whether, among the members of an option's floor that hold load for pods of the given
// groups, every key has enough distinct values. With a floor that is best effort, it needs at most the number
// that the most flexible of the classes reaches alone; the classes are those of items and of more. looked is
// the number of members that were examined.
func (p *Problem) MeetsFloor(o *Option, groups Bits, load []int64, items []Item, more ...ClassID) (ok bool, looked int64) {
	if o.Floor < 0 {
		return true, 0
	}
	for k, key := range p.Floors[o.Floor].Keys {
		need := key.Min
		if p.BestEffort && !key.Strict {
			need = p.bestEffort(o, k, items, more)
			looked += int64(len(p.Floors[o.Floor].Members) * (len(items) + len(more)))
		}
		n, seen := p.distinct(o, k, need, groups, load)
		looked += seen
		if n < need {
			return false, looked
		}
	}
	return true, looked
}

// bestEffort returns the largest number of values that one of the classes reaches alone, at most Min.
func (p *Problem) bestEffort(o *Option, k int, items []Item, more []ClassID) int {
	need := 0
	groups := NewBits(p.Groups)
	alone := func(c ClassID) {
		class := &p.Classes[c]
		clear(groups)
		groups.Set(int(class.Group))
		n, _ := p.distinct(o, k, p.Floors[o.Floor].Keys[k].Min, groups, class.Request)
		need = max(need, n)
	}
	for _, it := range items {
		alone(it.Class)
	}
	for _, c := range more {
		alone(c)
	}
	return need
}

// distinct counts the values of key k among the members of an option's floor that hold the load. It stops at
// enough.
func (p *Problem) distinct(o *Option, k, enough int, groups Bits, load []int64) (n int, looked int64) {
	f := &p.Floors[o.Floor]
	seen := NewBits(f.Keys[k].Values)
	for i := range f.Members {
		looked++
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
	return n, looked
}

// Limited reports whether the problem has limits or reservations.
func (p *Problem) Limited() bool {
	return len(p.Supply) > 0 || slices.ContainsFunc(p.Pools, func(pool Pool) bool { return len(pool.Limits) > 0 })
}
