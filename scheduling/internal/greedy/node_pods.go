package greedy

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// nodePods counts the pods on the machine that is being filled, so that a check whether one more may join reads
// only the entries of its class. It gives the same answers as [model.Problem.Joining].
type nodePods struct {
	p       *model.Problem
	taken   []int64 // by class: pods on the machine
	blocked []int32 // by class: classes on the machine that conflict with it
	used    []int64 // by per-node limit: weight on the machine
	holders []int32 // by per-node limit: classes on the machine that enforce it
}

func newNodePods(p *model.Problem) nodePods {
	return nodePods{
		p:       p,
		taken:   make([]int64, len(p.Classes)),
		blocked: make([]int32, len(p.Classes)),
		used:    make([]int64, len(p.PerNodeLimits)),
		holders: make([]int32, len(p.PerNodeLimits)),
	}
}

// joining returns how many more pods of class c may join. It never rises while pods join.
func (k *nodePods) joining(c model.ClassID) int64 {
	if k.blocked[c] > 0 {
		return 0
	}
	class := &k.p.Classes[c]
	n := model.Unbounded
	if class.PerNode > 0 {
		n = class.PerNode - k.taken[c]
	}
	for _, m := range class.PerNodeLimits {
		if m.Holds || k.holders[m.Limit] > 0 {
			n = min(n, m.Allows(k.p.PerNodeLimits[m.Limit].Max-k.used[m.Limit]))
		}
	}
	return max(n, 0)
}

// join adds n pods of class c and reports whether they are the first of it.
func (k *nodePods) join(c model.ClassID, n int64) (first bool) {
	class := &k.p.Classes[c]
	first = k.taken[c] == 0
	k.taken[c] += n
	for _, m := range class.PerNodeLimits {
		k.used[m.Limit] += m.Weight * n
		if first && m.Holds {
			k.holders[m.Limit]++
		}
	}
	if first {
		for _, other := range class.Conflicts {
			k.blocked[other]++
		}
	}
	return first
}

// leave removes the items, which must be all that joined.
func (k *nodePods) leave(items []model.Item) {
	for _, it := range items {
		class := &k.p.Classes[it.Class]
		k.taken[it.Class] = 0
		for _, m := range class.PerNodeLimits {
			k.used[m.Limit], k.holders[m.Limit] = 0, 0
		}
		for _, other := range class.Conflicts {
			k.blocked[other] = 0
		}
	}
}
