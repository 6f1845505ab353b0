package disruption

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// trial is what replacing a group of nodes came to, and under which circumstances: who had
// room for any of their pods, and how much. Where there is no more of it now, replacing the
// group saves no more.
type trial struct {
	saved offerings.Price
	past  string
	stock stock
	rooms map[string][]int64
}

// mostTrials is how many trials of a group are remembered.
const mostTrials = 4

// circumstances are those under which a group would be replaced now.
func (x *search) circumstances(nodes []string) *trial {
	s := x.state
	t := &trial{stock: *s.stock, rooms: map[string][]int64{}}
	if s.tied() || slices.ContainsFunc(s.problem.NodePools, func(p *scheduling.NodePool) bool { return len(p.Spec.Limits) > 0 }) {
		t.past = s.past
	}
	var sizes [][]int64
	for _, name := range nodes {
		sizes = append(sizes, x.sizes(name)...)
	}
	for name, free := range s.gauge.free {
		at := s.nodes[name]
		if at == nil || at.shut > 0 || at.node.Spec.Unschedulable || slices.Contains(nodes, name) {
			continue
		}
		if slices.ContainsFunc(sizes, func(size []int64) bool { return fits(size, free) }) {
			t.rooms[name] = free
		}
	}
	return t
}

// fits reports whether there is enough of everything.
func fits(size, free []int64) bool {
	for d, n := range size {
		if n > free[d] {
			return false
		}
	}
	return true
}

// like reports whether now there is no more room than there was at the trial, and nothing else
// has changed that matters.
func (t *trial) like(now *trial) bool {
	if t.past != now.past || !t.stock.is(&now.stock) {
		return false
	}
	for name, free := range now.rooms {
		had, ok := t.rooms[name]
		if !ok || !fits(free, had) {
			return false
		}
	}
	return true
}

// is reports whether the same is on sale.
func (k *stock) is(other *stock) bool {
	if k.all != other.all || len(k.pools) != len(other.pools) {
		return false
	}
	for name, c := range k.pools {
		if other.pools[name] != c {
			return false
		}
	}
	return true
}

// groupKey tells nodes with the pods on them from all others.
func (x *search) groupKey(nodes []string) string {
	var b strings.Builder
	if x.loose {
		b.WriteByte(2)
	}
	for _, name := range nodes {
		b.WriteString(name)
		for _, pod := range x.state.nodes[name].pods {
			b.WriteByte(0)
			b.WriteString(podName(pod))
		}
		b.WriteByte(1)
	}
	return b.String()
}

// vain is the most that replacing nodes has saved under circumstances that were no worse, and
// false if that is not known.
func (r *recall) vain(key string, now *trial) (offerings.Price, bool) {
	if r == nil {
		return 0, false
	}
	for _, t := range r.tried[key] {
		if t.like(now) {
			return t.saved, true
		}
	}
	return 0, false
}

// noteTrial remembers what replacing nodes has saved.
func (r *recall) noteTrial(key string, t *trial, saved offerings.Price) {
	if r == nil {
		return
	}
	if len(r.tried) >= mostRecalled {
		clear(r.tried)
	}
	t.saved = saved
	for name, free := range t.rooms {
		t.rooms[name] = slices.Clone(free)
	}
	list := r.tried[key]
	if len(list) >= mostTrials {
		list = slices.Clone(list[1:])
	}
	r.tried[key] = append(list, t)
}
