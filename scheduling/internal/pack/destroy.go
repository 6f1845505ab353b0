package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// heldBy lists the classes of the pods on the picked machines. The list is valid until the next call.
func (l *lns) heldBy(nodes []model.Node, picked []int) []model.ClassID {
	l.classes = l.classes[:0]
	for _, at := range picked {
		for _, it := range nodes[at].Items {
			l.classes = append(l.classes, it.Class)
		}
	}
	slices.Sort(l.classes)
	l.classes = slices.Compact(l.classes)
	return l.classes
}

// takeApart returns the picked machines to the budget and adds their pods to remaining.
func (l *lns) takeApart(nodes []model.Node, picked []int, remaining []int64, b *greedy.Budget) (cost, count int64) {
	for _, at := range picked {
		node := &nodes[at]
		cost += l.p.Options[node.Option].Cost
		count++
		b.Spend(&l.p.Options[node.Option], -1)
		for _, it := range node.Items {
			remaining[it.Class] += it.N
		}
	}
	return cost, count
}

// pick draws 1 to 12 different indexes below n, ascending. Low indexes (machines of little value per price) are
// more likely.
func pick(random *rand.Rand, n int) []int {
	want := min(n, 1+random.IntN(12))
	var out []int
	for tries := 0; len(out) < want && tries < 4*want; tries++ {
		at := random.IntN(n)
		if random.IntN(3) > 0 {
			at = min(at, random.IntN(n), random.IntN(n))
		}
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// draw picks machines to take apart: any, or, where machines differ in the pods that they admit, also machines
// that hold pods of a kind that few rows admit, or machines of one row, with a few others.
func (l *lns) draw(m *greedy.Market, nodes []model.Node, random *rand.Rand) []int {
	picked := pick(random, len(nodes))
	if len(m.Rows) == 1 {
		return picked
	}
	var alike []int
	switch random.IntN(4) {
	case 0:
		return picked
	case 1:
		alike = l.holding(m, nodes, random)
	default:
		alike = l.inRow(m, nodes, picked, random)
	}
	if len(alike) == 0 {
		return picked
	}
	alike = append(alike, picked[:random.IntN(min(len(picked), mostOthers)+1)]...)
	slices.Sort(alike)
	return slices.Compact(alike)
}

// inRow returns machines in the row of one of the picked machines, each close to a picked one in the ranking.
func (l *lns) inRow(m *greedy.Market, nodes []model.Node, picked []int, random *rand.Rand) (out []int) {
	row := m.RowOf[nodes[picked[random.IntN(len(picked))]].Option]
	for _, at := range picked {
		for next := at; next < min(len(nodes), at+8*len(m.Rows)); next++ {
			if m.RowOf[nodes[next].Option] == row && !slices.Contains(out, next) {
				out = append(out, next)
				break
			}
		}
	}
	return out
}

// fewestHolding and mostHolding bound the machines with pods of one kind that are taken apart, mostOthers the
// machines beside them.
const fewestHolding, mostHolding, mostOthers = 3, 16, 4

// holding draws machines with pods of a kind that not all rows admit.
func (l *lns) holding(m *greedy.Market, nodes []model.Node, random *rand.Rand) []int {
	if len(m.Kinds) < 2 {
		return nil
	}
	k, out := int32(random.IntN(len(m.Kinds))), l.held[:0]
	for at := range nodes {
		if slices.ContainsFunc(nodes[at].Items, func(it model.Item) bool { return m.KindOf[l.p.Classes[it.Class].Group] == k }) {
			out = append(out, at)
		}
	}
	l.held = out
	l.fill.Work += int64(len(nodes))
	most := min(len(out), fewestHolding+random.IntN(mostHolding-fewestHolding+1))
	for i := range most {
		at := i + random.IntN(len(out)-i)
		out[i], out[at] = out[at], out[i]
	}
	return slices.Clone(out[:most])
}
