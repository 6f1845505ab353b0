package instance

import (
	"encoding/binary"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Market is what may be bought at the sites of a partition under some constraints.
type Market struct {
	Rooms  []SiteRoom
	Costs  map[string][]int64   // by request
	Alone  map[string]int64     // by site, count and request; see ties.alone
	offers map[int][]model.Bits // by site and template, what suits; see sold
}

// Sold are, by template, the offers that suit the groups of a seat and are at its site.
func (m *Market) Sold(l *LocationIndex, s *Seat) []model.Bits {
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

// Market returns the market of the sites of a partition under the constraints of some groups, which
// are sorted. Rooms lists what may be bought there where it is not known.
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

func newMarket(rooms []SiteRoom) *Market {
	return &Market{Rooms: rooms, Costs: map[string][]int64{}, Alone: map[string]int64{}, offers: map[int][]model.Bits{}}
}

// RankCost is what a pool of lower weight counts for in the choice of a site: more than
// any machine costs.
const RankCost = 1_000_000 * 1_000_000_000

// SiteRoom is the cheapest way to have a room at a site from pools of one weight.
type SiteRoom struct {
	Site, Room, Rank int
	Cost             int64
}
