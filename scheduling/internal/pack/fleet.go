package pack

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// terms are what a fleet is looked for on: below a cost, with so much more room than is
// asked for, and how many machines may be weighed.
type terms struct {
	limit int64
	slack float64
	nodes int
}

// refit buys a fleet that costs less than a limit and has room for the pods that remain
// of the classes that own it, at places of the market that admit them all, and puts onto
// it what fits of these and all others. It returns nil where it finds none.
func (s *search) refit(m *market, places []int, own, classes []model.ClassID, remaining []int64, values []float64, t terms, b *budget) []model.Node {
	asked := make([]int64, s.p.Dims)
	groups := model.NewBits(s.p.Groups)
	for _, c := range own {
		if remaining[c] == 0 {
			continue
		}
		groups.Set(int(s.p.Classes[c].Group))
		for d, q := range s.p.Classes[c].Request {
			asked[d] += q * remaining[c]
		}
	}
	fleet := s.fleet(m, places, groups, asked, s.fill.slots(own, remaining), t)
	if fleet == nil || !s.buyFleet(m, fleet, b) {
		return nil
	}
	return s.outfit(m, fleet, own, classes, remaining, values, b)
}

// fleetKey is a question for a fleet, about places that stand where the first does.
type fleetKey struct {
	terms
	first  *int
	places int
	slots  int64
	pods   string // their groups, and what they ask for
}

// fleetFound is the answer, and the work that it took. It is not changed any more.
type fleetFound struct {
	fleet []int
	work  int64
}

// mostFleets is how many answers are remembered.
const mostFleets = 256

// fleet looks for a fleet for pods of some groups that ask for so much. Where few machines
// are packed anew again and again, it is asked the same many times: it then says the same,
// and counts the work as if it had been done.
func (s *search) fleet(m *market, places []int, groups model.Bits, asked []int64, slots int64, t terms) []int {
	if len(places) == 0 {
		return nil
	}
	pods := groups.Append(make([]byte, 0, 8*(len(groups)+len(asked))))
	for _, n := range asked {
		pods = binary.LittleEndian.AppendUint64(pods, uint64(n))
	}
	key := fleetKey{terms: t, first: &places[0], places: len(places), slots: slots, pods: string(pods)}
	found, known := s.fleetsFound[key]
	if !known {
		if x := newCover(s.p, m, s.open(m, places, groups), asked, 1+t.slack, slots); x != nil {
			x.coverRoom = s.weighing
			found.fleet = x.find(float64(t.limit), t.nodes)
			found.work, s.weighing = x.work, x.coverRoom
		}
		if s.fleetsFound == nil || len(s.fleetsFound) >= mostFleets {
			s.fleetsFound = map[fleetKey]fleetFound{}
		}
		s.fleetsFound[key] = found
	}
	s.fill.work += found.work
	return found.fleet
}

// open are the places of the options that admit all groups and may be bought without
// limit in number.
func (s *search) open(m *market, places []int, groups model.Bits) []int {
	admits := make([]bool, len(m.rows))
	for r, row := range m.rows {
		admits[r] = row.Contains(groups)
	}
	var out []int
	for _, at := range places {
		if admits[m.row[at]] && s.p.Options[m.options[at]].Supply == model.NoSupply {
			out = append(out, at)
		}
	}
	return out
}

// buyFleet takes the machines of a fleet out of the budget, all or none.
func (s *search) buyFleet(m *market, fleet []int, b *budget) bool {
	for i, at := range fleet {
		option := &s.p.Options[m.options[at]]
		if b.affords(option, 1) == 0 {
			for _, before := range fleet[:i] {
				b.spend(&s.p.Options[m.options[before]], -1)
			}
			return false
		}
		b.spend(option, 1)
	}
	return true
}

// outfit puts pods onto the machines of a fleet, in the order in which they stand, so
// that each gets its part of every resource and none runs out before the others. It
// lowers remaining by what they hold, and gives machines back that stay empty.
func (s *search) outfit(m *market, fleet []int, own, classes []model.ClassID, remaining []int64, values []float64, b *budget) []model.Node {
	f, dims := s.fill, s.p.Dims
	f.arrange(own, values)
	f.arrange(classes, values)
	f.stock(&s.stage, m, fleet, classes)
	asked, room := make([]float64, dims), make([]float64, dims)
	for _, c := range classes {
		for d, q := range s.p.Classes[c].Request {
			asked[d] += float64(q) * float64(remaining[c])
		}
	}
	for _, at := range fleet {
		for d, n := range s.p.Options[m.options[at]].Room {
			room[d] += float64(n)
		}
	}
	var out []model.Node
	for i, at := range fleet {
		o := m.options[at]
		option := &s.p.Options[o]
		f.hold = f.hold[:0]
		if i < len(fleet)-1 {
			for d, n := range option.Room {
				spare := max(0, room[d]-asked[d])
				f.hold = append(f.hold, int64(float64(n)*spare/max(room[d], 1)))
			}
		}
		f.ahead = f.queues(own, remaining, float64(len(fleet)-i))
		items, _ := f.fill(o, nil, s.stage.shelves[m.row[at]], remaining, values)
		for d, n := range option.Room {
			room[d] -= float64(n)
		}
		if len(items) == 0 {
			b.spend(option, -1)
			continue
		}
		for _, it := range items {
			remaining[it.Class] -= it.N
			for d, q := range s.p.Classes[it.Class].Request {
				asked[d] -= float64(q) * float64(it.N)
			}
		}
		out = append(out, model.Node{Option: o, N: 1, Items: slices.Clone(items)})
	}
	f.hold, f.ahead = f.hold[:0], nil
	return out
}
