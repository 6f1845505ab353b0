package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// dissolve takes machines away whose pods find room on the others of a few, as these
// are. Packing some machines anew does not come to it where the pods have to be shared
// out among many that each keep what they hold, such as pods of which a machine takes
// one only.
func (s *search) dissolve(m *market, r *ranking, b *budget) {
	for i := 0; i < len(r.nodes) && len(r.nodes) <= mostPairs && !s.over(); {
		others := s.sharedOut(m, r.nodes, i)
		if others == nil {
			i++
			continue
		}
		b.spend(&s.p.Options[r.nodes[i].Option], -1)
		all := make([]int, len(r.nodes))
		for at := range all {
			all[at] = at
		}
		r.exchange(all, others)
		i = 0
	}
}

// sharedOut is the other machines with the pods of one, the largest shared out first;
// nil if they have no room for all of them.
func (s *search) sharedOut(m *market, nodes []model.Node, gone int) []model.Node {
	items := slices.Clone(nodes[gone].Items)
	size := func(c model.ClassID) float64 {
		most := 0.0
		for d, q := range s.p.Classes[c].Request {
			if q > 0 {
				most = max(most, float64(q)/float64(s.p.Options[nodes[gone].Option].Room[d]))
			}
		}
		return most
	}
	slices.SortStableFunc(items, func(x, y model.Item) int { return cmp.Compare(size(y.Class), size(x.Class)) })
	var out []model.Node
	for at := range nodes {
		if at == gone {
			continue
		}
		node := nodes[at]
		for k := range items {
			s.fill.work++
			if n := s.more(m, &node, items[k]); n > 0 {
				node.Items = joined(node.Items, model.Item{Class: items[k].Class, N: n})
				items[k].N -= n
			}
		}
		out = append(out, node)
	}
	if slices.ContainsFunc(items, func(it model.Item) bool { return it.N > 0 }) {
		return nil
	}
	return out
}

// more is how many pods of a class a machine takes beside those that it holds.
func (s *search) more(m *market, node *model.Node, it model.Item) int64 {
	option, class := &s.p.Options[node.Option], &s.p.Classes[it.Class]
	if it.N == 0 || !m.rows[m.rowOf[node.Option]].Has(int(class.Group)) {
		return 0
	}
	n := min(it.N, s.p.Joining(node.Items, nil, it.Class))
	load := make([]int64, s.p.Dims)
	s.p.Load(load, node.Items)
	for d, q := range class.Request {
		if q > 0 {
			n = min(n, (option.Room[d]-load[d])/q)
		}
	}
	if n <= 0 || option.Floor < 0 {
		return max(n, 0)
	}
	items := joined(node.Items, model.Item{Class: it.Class, N: n})
	groups := model.NewBits(s.p.Groups)
	for _, x := range items {
		groups.Set(int(s.p.Classes[x.Class].Group))
	}
	clear(load)
	s.p.Load(load, items)
	ok, looked := s.p.MeetsFloor(option, groups, load, items)
	if s.fill.work += looked; !ok {
		return 0
	}
	return n
}

// joined is a list of items with one more.
func joined(items []model.Item, it model.Item) []model.Item {
	out := slices.Clone(items)
	if at := slices.IndexFunc(out, func(have model.Item) bool { return have.Class == it.Class }); at >= 0 {
		out[at].N += it.N
		return out
	}
	return append(out, it)
}
