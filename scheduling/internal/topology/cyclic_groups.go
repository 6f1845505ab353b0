package topology

import (
	"encoding/binary"
	"slices"
)

// components numbers rules such that those have the same number which lead to each other.
func components(rules []int32, next [][]int32) []int32 {
	component := make([]int32, len(next))
	var order []int32
	seen := make([]bool, len(next))
	back := make([][]int32, len(next))
	var visit func(r int32, next [][]int32, leave func(r int32))
	visit = func(r int32, next [][]int32, leave func(r int32)) {
		seen[r] = true
		for _, to := range next[r] {
			if !seen[to] {
				visit(to, next, leave)
			}
		}
		leave(r)
	}
	for _, r := range rules {
		for _, to := range next[r] {
			back[to] = append(back[to], r)
		}
		if !seen[r] {
			visit(r, next, func(r int32) { order = append(order, r) })
		}
	}
	clear(seen)
	for i, r := range slices.Backward(order) {
		if !seen[r] {
			visit(r, back, func(r int32) { component[r] = int32(i) })
		}
	}
	return component
}

// spreadGroup is classes that are the same to the choice of anchors.
type spreadGroup struct {
	classes []int32
	pods    int64
	cells   []int32 // of the first of them, the cheapest for each choice of domains
	cost    []int64 // by cell in that list, of all pods
}

// newSpreadGroups groups classes by their spreads and by the domains that they can choose from.
func newSpreadGroups(t *tables, classes []int32) []*spreadGroup {
	var found []*spreadGroup
	index := make(map[string]*spreadGroup)
	var name, vector []byte
	for _, c := range classes {
		name = name[:0]
		var cells []int32
		var costs []int64
		vectors := make(map[string]int)
		for i := t.first[c]; i < t.first[c+1]; i++ {
			site := t.cells[i].source(t)
			if !site.usable() {
				continue
			}
			vector = appendSpreads(vector[:0], t.cells[i].terms)
			cost := max(0, site.Cost)
			if at, ok := vectors[string(vector)]; ok {
				costs[at] = min(costs[at], cost)
				continue
			}
			vectors[string(vector)] = len(cells)
			cells, costs = append(cells, i), append(costs, cost)
			name = append(name, vector...)
		}
		of := index[string(name)]
		if of == nil {
			of = &spreadGroup{cells: cells, cost: make([]int64, len(cells))}
			index[string(name)] = of
			found = append(found, of)
		}
		of.classes = append(of.classes, c)
		n := max(t.p.Classes[c].Count, 0)
		of.pods += n
		for k := range costs {
			of.cost[k] += n * costs[k]
		}
	}
	return found
}

// appendSpreads adds a name that is equal for cells which the spreads count alike.
func appendSpreads(b []byte, terms []term) []byte {
	for i := range terms {
		e := &terms[i]
		if !e.spreads() {
			continue
		}
		b = binary.AppendVarint(b, int64(e.rule))
		b = binary.AppendVarint(b, int64(e.dom))
		b = binary.AppendVarint(b, e.adds)
		if e.holds {
			b = append(b, 'h')
		}
	}
	return append(b, ';')
}
