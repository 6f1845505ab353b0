package instance

import (
	"encoding/binary"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Market is the supply for some groups at the sites of a partition. It is part of the location cache.
type Market struct {
	Rooms  []SiteRoom
	Costs  map[string][]int64   // by encoded request, the cost by site
	Alone  map[string]int64     // by encoded site, count and request, the cost of these pods on nodes of their own
	offers map[int][]model.Bits // by site and template, see [Market.Sold]
}

// Sold is, by template, the offers at a feasible set's site that admit all of its groups; nil for none.
func (m *Market) Sold(l *LocationIndex, s *FeasibleSet) []model.Bits {
	out, known := m.offers[s.Site]
	if known {
		return out
	}
	out = make([]model.Bits, len(l.In.Templates))
	for ti := range out {
		row := s.Part.row(l, ti, s.Site)
		for i, g := range s.Groups {
			switch of := l.In.Offered[ti].Rows[g]; {
			case row == nil:
			case of == nil:
				row = nil
			default:
				if i == 0 {
					row = row.Clone()
				}
				row.And(of)
			}
		}
		out[ti] = row
	}
	m.offers[s.Site] = out
	return out
}

// Market returns the market of some groups, sorted, at the sites of a partition. rooms is called where the location
// cache does not have it.
func (l *LocationIndex) Market(p *Partition, groups []int, rooms func() []SiteRoom) *Market {
	name := binary.AppendVarint(nil, int64(p.id))
	for _, g := range groups {
		name = binary.AppendVarint(name, int64(g))
	}
	m, ok := l.LocationCache.markets[string(name)]
	if !ok {
		m = newMarket(rooms())
		l.LocationCache.markets[string(name)] = m
	}
	return m
}

// newMarket is a market whose costs are not known yet.
func newMarket(rooms []SiteRoom) *Market {
	return &Market{Rooms: rooms, Costs: map[string][]int64{}, Alone: map[string]int64{}, offers: map[int][]model.Bits{}}
}

// RankCost is added to the cost of a site for each rank of a NodePool's weight, in nano-USD per hour. It must exceed the
// price of every machine, because a lower weight is used only where a higher one has no room.
const RankCost = 1_000_000 * 1_000_000_000

// SiteRoom is the cheapest offer of a room at a site among the NodePools of one weight rank. Cost is in nano-USD per
// hour.
type SiteRoom struct {
	Site, Room, Rank int
	Cost             int64
}
