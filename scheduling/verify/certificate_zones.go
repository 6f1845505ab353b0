package verify

import (
	"math/big"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// shelf is what a pool may buy in a zone that leaves no label open.
type shelf struct {
	pool     *pool
	zone     string
	machines []*machine
}

// openZones adds the zones in which one of some pods could have a machine of its own, with
// the choice of others there that its pool's minValues ask for.
func (r *spreadReader) openZones(sizes []*tenant, zones map[string]bool) {
	for _, s := range r.shelves {
		least := s.pool.minValues()
		if !r.settings.strictMinValues() {
			least = nil
		}
		if !zones[s.zone] && slices.ContainsFunc(sizes, func(t *tenant) bool {
			if len(least) == 0 {
				return slices.ContainsFunc(s.machines, func(m *machine) bool { return m.holdsAlone(t) })
			}
			return enough(lo.Filter(s.machines, func(m *machine, _ int) bool { return m.holdsAlone(t) }), least)
		}) {
			zones[s.zone] = true
		}
	}
}

// undecided reports whether a pool asks for a label of which the value is chosen for each
// launch.
func undecided(pl *pool) bool {
	return slices.ContainsFunc(pl.asks, func(e expression) bool { return pl.chooses(requirements.NormalizeKey(e.key)) })
}

// affordableAtFirst reports whether the limits of the pool allow one such machine beside its
// nodes.
func (j *judge) affordableAtFirst(m *machine) bool {
	total := m.pool.usage.plus(m.capacity)
	total.add(amounts{scheduling.NodesResource: big.NewInt(1)})
	return above(total, m.pool.limits()) == ""
}
