package topology

import "encoding/binary"

// flock is classes that are the same to the choice of homes.
type flock struct {
	classes []int32
	pods    int64
	cells   []int32 // of the first of them, the cheapest for each choice of domains
	cost    []int64 // by cell in that list, of all pods
}

// flocks groups classes by their spreads and by the domains that they can choose from.
func (s *planner) flocks(classes []int32) []*flock {
	var found []*flock
	index := make(map[string]*flock)
	var name, vector []byte
	for _, c := range classes {
		name = name[:0]
		var cells []int32
		var costs []int64
		vectors := make(map[string]int)
		for i := s.first[c]; i < s.first[c+1]; i++ {
			site := s.cells[i].source(s.tables)
			if !site.usable() {
				continue
			}
			vector = appendSpreads(vector[:0], s.cells[i].terms)
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
			of = &flock{cells: cells, cost: make([]int64, len(cells))}
			index[string(name)] = of
			found = append(found, of)
		}
		of.classes = append(of.classes, c)
		n := max(s.p.Classes[c].Count, 0)
		of.pods += n
		for k := range costs {
			of.cost[k] += n * costs[k]
		}
	}
	return found
}

// appendSpreads adds a name for what spreads make of a cell.
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
