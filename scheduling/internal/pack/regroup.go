package pack

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// mostKinds bounds how many kinds of pods are told apart to pack the machines of each
	// anew, and regroupTries is how often that is tried in vain.
	mostKinds, regroupTries = 12, 40
	// regroupNodes bounds, with fewestRegrouped, how many machines are taken apart.
	fewestRegrouped, regroupNodes = 3, 16
)

// picky is the groups of pods that may be in the same rows of a market.
type picky struct {
	groups model.Bits
	rows   []int
}

// pickyKinds lists them, those first that may be in the fewest rows.
func (s *search) pickyKinds(m *market) []picky {
	var out []picky
	for g := range s.p.Groups {
		var rows []int
		for r, row := range m.rows {
			if row.Has(g) {
				rows = append(rows, r)
			}
		}
		if rows == nil {
			continue
		}
		at := slices.IndexFunc(out, func(k picky) bool { return slices.Equal(k.rows, rows) })
		if at < 0 {
			at = len(out)
			if out = append(out, picky{model.NewBits(s.p.Groups), rows}); at == mostKinds {
				return out
			}
		}
		out[at].groups.Set(g)
	}
	slices.SortStableFunc(out, func(a, b picky) int { return cmp.Compare(len(a.rows), len(b.rows)) })
	return out
}

// regroup packs machines with pods of one kind anew, wherever else these may be: what is
// drawn among all machines, or among those of one row, hardly ever are these alone. Every
// kind among their pods gets a fleet of its own, which others may share.
func (s *search) regroup(m *market, r *ranking, values []float64, b *budget, random *rand.Rand) {
	if !s.fill.pace.idle || len(m.rows) < 2 {
		return
	}
	kinds := s.pickyKinds(m)
	if len(kinds) < 2 || len(kinds) > mostKinds {
		return
	}
	remaining := make([]int64, len(s.p.Classes))
	until := s.fill.work + s.budget
	for again := true; again; {
		again = false
		for _, k := range kinds {
			if len(k.rows) == len(m.rows) {
				continue // as good as drawn among all
			}
			for vain := 0; vain < regroupTries && s.fill.work < until && !s.overdue(); vain++ {
				picked := s.holding(r.nodes, k, fewestRegrouped+random.IntN(regroupNodes-fewestRegrouped+1), random)
				if len(picked) == 0 {
					break
				}
				if fresh := s.fleetsAnew(m, r.nodes, picked, kinds, values, remaining, b, random); fresh != nil {
					r.exchange(picked, unbundle(fresh))
					again, vain = true, -1
				}
			}
		}
	}
}

// holding draws at most so many of the machines that hold pods of a kind, in their order.
func (s *search) holding(nodes []model.Node, k picky, most int, random *rand.Rand) []int {
	var out []int
	for at := range nodes {
		if slices.ContainsFunc(nodes[at].Items, func(it model.Item) bool { return k.groups.Has(int(s.p.Classes[it.Class].Group)) }) {
			out = append(out, at)
		}
	}
	for len(out) > most {
		at := random.IntN(len(out))
		out = slices.Delete(out, at, at+1)
	}
	return out
}

// fleetsAnew buys fleets for the pods of the picked machines, kind by kind, and machines
// for what they leave. It returns them, or nil where they would cost more than the picked
// ones, or as much and be no fewer.
func (s *search) fleetsAnew(m *market, nodes []model.Node, picked []int, kinds []picky, values []float64, remaining []int64, b *budget, random *rand.Rand) []model.Node {
	classes := slices.Clone(s.heldBy(nodes, picked))
	cost, count := s.takeApart(nodes, picked, remaining, b)
	places := m.upTo(s.p, cost)
	worths := slices.Clone(s.jitter(values, classes, random))
	var fresh []model.Node
	spent := int64(0)
	left := slices.Clone(classes)
	gone := func(c model.ClassID) bool { return remaining[c] == 0 }
	for _, k := range kinds {
		var own []model.ClassID
		boosted := slices.Clone(worths)
		for _, c := range left {
			if k.groups.Has(int(s.p.Classes[c].Group)) {
				own = append(own, c)
				boosted[c] *= ownFirst
			}
		}
		if len(own) == 0 {
			continue
		}
		more := s.refit(m, places, own, left, remaining, boosted, terms{cost - spent, fleetSlack(random), fleetNodes}, b)
		if more == nil {
			break
		}
		fresh, spent = append(fresh, more...), spent+s.p.Cost(more)
		left = slices.DeleteFunc(left, gone)
	}
	if len(left) > 0 && spent < cost {
		fresh = append(fresh, s.reconstruct(m, s.sample(places, len(left), random), left, remaining, worths, b, random)...)
		left = slices.DeleteFunc(left, gone)
	}
	freshCost, freshCount := s.p.Cost(fresh), model.Count(fresh)
	if len(left) == 0 && (freshCost < cost || freshCost == cost && freshCount < count) {
		return fresh
	}
	s.restore(nodes, picked, fresh, b)
	for _, c := range classes {
		remaining[c] = 0
	}
	return nil
}

// restore gives fresh machines back and takes the picked ones again.
func (s *search) restore(nodes []model.Node, picked []int, fresh []model.Node, b *budget) {
	s.giveBack(fresh, b)
	for _, at := range picked {
		b.spend(&s.p.Options[nodes[at].Option], 1)
	}
}
