package topology

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// hand is pods with the same spreads that can choose from the same domains.
type hand struct {
	cards []card
	seats []seat
	count []int64 // by seat
	// order is, by seats from and to, the cards, those first for which that costs least.
	order [][]int32
	// like are the hands that are counted as this one is.
	like []*hand
}

// card is pods of a class. All of it is by seat: the cheapest cell, its cost, and pods.
type card struct {
	class   int32
	cells   []int32
	cost, n []int64
}

// seat is a site as spreads see it.
type seat struct {
	crew int32 // -1 for pods that hold no spread
	adds []added
}

// added is what a pod adds to the count of a domain. In is where its crew keeps account of
// that, or -1 for pods that bind whatever others do: those that hold no spread, and those that
// hold this one and no other, which are let in wherever there are the fewest.
type added struct {
	at, in int32
	each   int64
}

// mostSeats bounds how many seats pods of a hand can choose from.
const mostSeats = 24

// pickUp sorts classes by what they have to do with spreads. Local numbers their domains.
func (x *dealer) pickUp(cl *cluster, local []int32) {
	index, crews := map[string]*hand{}, map[string]int32{}
	for _, c := range cl.classes {
		k, name, terms := x.cardOf(c)
		if len(k.cells) < 2 || len(k.cells) > mostSeats {
			continue
		}
		h := index[name]
		if h == nil {
			h = &hand{count: make([]int64, len(terms))}
			for _, t := range terms {
				h.seats = append(h.seats, x.seatOf(t, x.planner.spreads(c), local, crews))
			}
			index[name] = h
			x.hands = append(x.hands, h)
		}
		for p, n := range k.n {
			h.count[p] += n
		}
		h.cards = append(h.cards, k)
	}
	for _, h := range x.hands {
		h.sort()
		for _, other := range x.hands {
			if other != h && slices.EqualFunc(h.seats, other.seats, counted) {
				h.like = append(h.like, other)
			}
		}
	}
}

// counted reports whether pods in two seats count the same.
func counted(a, b seat) bool {
	return slices.EqualFunc(a.adds, b.adds, func(x, y added) bool { return x.at == y.at && x.each == y.each })
}

// cardOf is a class, a name for its seats, and what rules say there. It has no cells where
// it cannot be dealt out.
func (x *dealer) cardOf(c int32) (k card, name string, terms [][]term) {
	cells, first := x.planner.of(c)
	if x.todo[c] > 0 || x.p.Classes[c].Count <= 0 || len(cells) == 0 ||
		slices.ContainsFunc(cells[0].terms, func(e term) bool { return !e.spreads() }) {
		return card{}, "", nil
	}
	k.class = c
	var all []byte
	seats := map[string]int{}
	for i := range cells {
		at := first + int32(i)
		if !x.open(at) || x.barred(at) {
			if x.placed[at] > 0 {
				return card{}, "", nil
			}
			continue
		}
		from, cost := len(all), cells[i].source(x.tables).Cost
		all = appendSpreads(all, cells[i].terms)
		p, known := seats[string(all[from:])]
		if known {
			all = all[:from]
		} else {
			p = len(k.cells)
			seats[string(all[from:])] = p
			k.cells, k.cost, k.n, terms = append(k.cells, at), append(k.cost, cost), append(k.n, 0), append(terms, cells[i].terms)
		}
		if cost < k.cost[p] {
			k.cells[p], k.cost[p] = at, cost
		}
		k.n[p] += x.placed[at]
	}
	return k, string(all), terms
}

// seatOf is the seat of pods that hold so many spreads.
func (x *dealer) seatOf(terms []term, spreads int, local []int32, crews map[string]int32) seat {
	out := seat{crew: -1}
	if spreads > 0 {
		out.crew = x.crewOf(terms, local, crews)
	}
	for i := range terms {
		e := &terms[i]
		if e.dom < 0 || e.adds == 0 {
			continue
		}
		a := added{at: local[e.dom], in: -1, each: e.adds}
		if spreads > 0 && !x.alone(e, spreads) {
			a.in = x.crews[out.crew].accountOf(a.at)
		}
		out.adds = append(out.adds, a)
	}
	return out
}

// crewOf is the number of the crew of pods with some terms.
func (x *dealer) crewOf(terms []term, local []int32, crews map[string]int32) int32 {
	var name []byte
	var held []int32
	for i := range terms {
		if e := &terms[i]; e.holds {
			held = append(held, local[e.dom])
			name = binary.AppendVarint(name, int64(e.dom))
		}
	}
	n, known := crews[string(name)]
	if !known {
		n = int32(len(x.crews))
		crews[string(name)] = n
		x.crews = append(x.crews, &crew{held: held})
	}
	return n
}

// accountOf is where a crew keeps account of its pods in a domain.
func (c *crew) accountOf(at int32) int32 {
	k := slices.Index(c.at, at)
	if k < 0 {
		k = len(c.at)
		c.at, c.n = append(c.at, at), append(c.n, 0)
	}
	return int32(k)
}

// sort finds the order in which cards go from one seat to another.
func (h *hand) sort() {
	for from := range h.seats {
		for to := range h.seats {
			list := make([]int32, len(h.cards))
			for k := range list {
				list[k] = int32(k)
			}
			slices.SortStableFunc(list, func(a, b int32) int {
				x, y := &h.cards[a], &h.cards[b]
				return cmp.Compare(x.cost[to]-x.cost[from], y.cost[to]-y.cost[from])
			})
			h.order = append(h.order, list)
		}
	}
}

// over is what it costs if n pods go from one seat to another, those for which it costs least.
func (h *hand) over(from, to int, n int64) (cost int64) {
	for _, k := range h.order[from*len(h.seats)+to] {
		c := &h.cards[k]
		some := min(n, c.n[from])
		cost += some * (c.cost[to] - c.cost[from])
		if n -= some; n == 0 {
			break
		}
	}
	return cost
}

// pass lets those pods go.
func (h *hand) pass(from, to int, n int64) {
	for _, k := range h.order[from*len(h.seats)+to] {
		c := &h.cards[k]
		some := min(n, c.n[from])
		c.n[from] -= some
		c.n[to] += some
		if n -= some; n == 0 {
			break
		}
	}
}
