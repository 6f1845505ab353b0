package binding

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Run is one course of events: nodes join, and the pods that wait are bound one by one. The
// same seed and the same events give the same result.
type Run struct {
	s      *Scheduler
	dice   *rand.Rand
	nodes  []node
	counts numbers // by counter and domain
	nodesW numbers // by counter of a spread that has to hold, and domain, the nodes whose pods count there
	held   numbers // by holder and domain
	zones  []string
	inZone [][]int32 // by zone, nodes in the order in which they joined
	order  []int32   // in which kube-scheduler looks at nodes; nil where it has to be made anew
	start  int       // where in the order it looks first
	// Late, where it is set, ends Bind before it is done.
	Late func() bool
	// domains is that of each node by axis.
	domains [][]int32

	// changes counts, by node, how often pods or the node itself have changed. What a shape of pods
	// scores there for its resources is known as long as it stays the same.
	changes []uint32
	known   [][]score // by shape and node
	check   checks

	feasible []int32
	score    []int64
	terms    []int64
	seen     []bool
}

// score is that of a node for its resources after so many changes of it.
type score struct {
	changes uint32
	n       int32
}

// infeasible stands in place of a score.
const infeasible int64 = -1

type node struct {
	machine           int32
	room              []int64
	requested, scored [2]int64
	balance           int64
	ports             []podspec.HostPort
	closed            bool // it takes nobody in any more
}

// Begin is a run in which the nodes that are there already have joined, with what runs on them.
func (s *Scheduler) Begin(seed uint64) *Run {
	r := &Run{
		s: s, dice: rand.New(rand.NewPCG(seed, 0x706c696d)), //nolint:gosec // a model of chance, not a secret
		counts: newNumbers(len(s.counts)), nodesW: newNumbers(len(s.counts)), held: newNumbers(len(s.holders)),
		domains: make([][]int32, len(s.axes)), known: make([][]score, len(s.shapes)),
	}
	for _, m := range s.existing {
		r.Join(m)
	}
	for _, t := range s.running {
		if t.holder >= 0 {
			h := &s.holders[t.holder]
			r.held.add(t.holder, r.domains[h.axis][t.machine], 1)
			continue
		}
		for _, c := range t.counts {
			x := &s.counts[c]
			if (!t.going || x.filter == nil) && x.filter.passes(r.machine(t.machine)) {
				r.counts.add(int(c), r.domains[x.axis][t.machine], 1)
			}
		}
	}
	return r
}

// Fork is a run that goes on from here without changing r.
func (r *Run) Fork(seed uint64) *Run {
	f := &Run{
		s: r.s, dice: rand.New(rand.NewPCG(seed, 0x666f726b)), //nolint:gosec // a model of chance, not a secret
		nodes: slices.Clone(r.nodes), counts: r.counts.fork(), nodesW: r.nodesW.fork(), held: r.held.fork(),
		zones: slices.Clone(r.zones), inZone: clipped(r.inZone), start: r.start,
		domains: clipped(r.domains), changes: slices.Clone(r.changes), known: make([][]score, len(r.known)),
	}
	rooms := make([][]int64, len(f.nodes))
	for i := range f.nodes {
		rooms[i] = f.nodes[i].room
	}
	all := slices.Concat(rooms...)
	for i := range f.nodes {
		n := len(rooms[i])
		f.nodes[i].room, all = all[:n:n], all[n:]
	}
	return f
}

// clipped are the same lists, to which only is appended.
func clipped(lists [][]int32) [][]int32 {
	out := slices.Clone(lists)
	for i := range out {
		out[i] = slices.Clip(out[i])
	}
	return out
}

// Join adds a node of a kind and returns its number: nodes are numbered as they join, first
// those that were there.
func (r *Run) Join(kind int) int {
	m := &r.s.machines[kind]
	n := node{
		machine: int32(kind), room: slices.Clone(m.room), requested: m.requested, scored: m.scored,
		ports: m.ports,
	}
	n.balance = balance(n.requested, m.basic)
	at := len(r.nodes)
	for i, d := range m.domains {
		if d == hostDomain {
			d = int32(len(r.s.axes[i].values) + at) //nolint:gosec // a number of nodes
		}
		r.domains[i] = append(r.domains[i], d)
	}
	r.nodes, r.changes = append(r.nodes, n), append(r.changes, 1)
	r.CountNode(int32(at), 1, nil) //nolint:gosec // a number of nodes
	zone := slices.Index(r.zones, m.zone)
	if zone < 0 {
		zone = len(r.zones)
		r.zones, r.inZone = append(r.zones, m.zone), append(r.inZone, nil)
	}
	r.inZone[zone] = append(r.inZone[zone], int32(at))
	r.order = nil
	return at
}

// Admits reports whether kube-scheduler's filters let a pod of a class onto a node as things
// stand.
func (r *Run) Admits(c, to int32) bool {
	x := &r.s.classes[c]
	if x.tied && !r.check.prepare(r, x) {
		return false
	}
	return r.look(x, to) != infeasible && (!x.tied || r.check.admit(to))
}

// Place binds a pod of a class to a node, whatever the plugins say.
func (r *Run) Place(c, to int32) { r.PlaceAs(c, to, false) }

// PlaceAs places a pod that may be going, being deleted: it has its room until it is gone, and counts for no spread.
func (r *Run) PlaceAs(c, to int32, going bool) {
	if ports := r.s.classes[c].group.Ports; len(ports) > 0 {
		r.nodes[to].ports = slices.Concat(r.nodes[to].ports, ports)
	}
	r.count(c, to, 1, going)
}

// Remove takes a pod of a class off the node that it is bound to.
func (r *Run) Remove(c, from int32) { r.RemoveAs(c, from, false) }

// RemoveAs takes PlaceAs back.
func (r *Run) RemoveAs(c, from int32, going bool) {
	n := &r.nodes[from]
	for _, p := range r.s.classes[c].group.Ports {
		if i := slices.Index(n.ports, p); i >= 0 {
			n.ports = slices.Delete(slices.Clone(n.ports), i, i+1)
		}
	}
	r.count(c, from, -1, going)
}

// count adds so many pods of a class to what is on a node and what counts in its domains.
func (r *Run) count(c, on int32, pods int64, going bool) {
	x, n := &r.s.classes[c], &r.nodes[on]
	for _, q := range x.needs {
		n.room[q.resource] -= q.n * pods
	}
	for i := range x.plain {
		n.requested[i] += x.plain[i] * pods
		n.scored[i] += x.scored[i] * pods
	}
	m := &r.s.machines[n.machine]
	n.balance = balance(n.requested, m.basic)
	for _, k := range x.counts {
		if y := &r.s.counts[k]; (!going || y.filter == nil) && y.filter.passes(m) {
			r.counts.add(int(k), r.domains[y.axis][on], pods)
		}
	}
	for _, h := range x.holds {
		r.held.add(h, r.domains[r.s.holders[h].axis][on], pods)
	}
	r.changes[on]++
}

// Hold adds what pods on a node hold beyond what those of their class ask for, by number of
// resource, or takes it back by sign -1.
func (r *Run) Hold(on int32, more []int64, sign int64) {
	if more == nil {
		return
	}
	n, m := &r.nodes[on], &r.s.machines[r.nodes[on].machine]
	for d := range n.room {
		n.room[d] -= sign * more[d]
	}
	for i, d := range [2]int{r.s.cpu, r.s.memory} {
		n.requested[i] += sign * amount(more, d)
		n.scored[i] += sign * amount(more, d)
	}
	n.balance = balance(n.requested, m.basic)
	r.changes[on]++
}

// Close keeps further pods off a node that is about to go. What it counts for stays.
func (r *Run) Close(node int32) {
	r.nodes[node].closed = true
	r.changes[node]++
}

// Leave takes a node away, once the pods that live on have left it.
func (r *Run) Leave(node int32) {
	r.Close(node)
	r.CountNode(node, -1, nil)
}

// CountNode adds a node to the domains of spreads, or takes it off by -1. Domains of a topology key that stay are left as
// they are, e.g. zones in which nodes may be launched; nil for none.
func (r *Run) CountNode(n int32, by int64, stays func(key, value string) bool) {
	for c := range r.s.counts {
		x := &r.s.counts[c]
		if !x.hard || !x.filter.passes(r.machine(n)) {
			continue
		}
		d, a := r.domains[x.axis][n], &r.s.axes[x.axis]
		if d < 0 || stays != nil && int(d) < len(a.values) && stays(a.key, a.values[d]) {
			continue
		}
		r.nodesW.add(c, d, by)
	}
}

// inTurns is the nodes as kube-scheduler looks at them: a node of each zone in turn
// (k8s.io/kubernetes/pkg/scheduler/backend/cache, nodeTree).
func (r *Run) inTurns() []int32 {
	if r.order == nil {
		r.order = make([]int32, 0, len(r.nodes))
		for i := 0; len(r.order) < len(r.nodes); i++ {
			for _, list := range r.inZone {
				if i < len(list) {
					r.order = append(r.order, list[i])
				}
			}
		}
		if r.start >= len(r.order) {
			r.start = 0
		}
	}
	return r.order
}

// How many nodes with room kube-scheduler looks for
// (k8s.io/kubernetes/pkg/scheduler, numFeasibleNodesToFind).
const (
	fewNodes     = 100
	leastPercent = 5
)

func (s *Scheduler) wanted(nodes int) int {
	if nodes < fewNodes {
		return nodes
	}
	percent := s.c.Problem.Scheduler.PercentageOfNodesToScore
	if percent == 0 {
		percent = max(50-nodes/125, leastPercent)
	}
	return max(nodes*percent/100, fewNodes)
}

// scores is what is known of the scores of nodes for the pods of a class.
func (r *Run) scores(x *class) []score {
	known := r.known[x.shape]
	if more := len(r.nodes) - len(known); more > 0 {
		known = append(known, make([]score, more)...)
		r.known[x.shape] = known
	}
	return known
}

// choose is the node that kube-scheduler binds a pod of a class to, -1 for none.
func (r *Run) choose(c int32) (to int32, drawn bool) {
	x := &r.s.classes[c]
	if x.tied && !r.check.prepare(r, x) {
		return -1, false
	}
	order, known := r.inTurns(), r.scores(x)
	enough, looked, soft := r.s.wanted(len(order)), 0, false
	preferring := x.wishful() || len(x.heldBy) > 0
	r.feasible = r.feasible[:0]
	best, ties, top := int32(-1), 0, infeasible
	for i, at := 0, r.start; i < len(order); i, at = i+1, at+1 {
		if at >= len(order) {
			at = 0
		}
		n := order[at]
		k := &known[n]
		if k.changes != r.changes[n] {
			*k = score{r.changes[n], int32(r.look(x, n))} //nolint:gosec // a few hundred
		}
		v := int64(k.n)
		if v != infeasible && (!x.tied || r.check.admit(n)) {
			if len(r.feasible) == enough {
				break // kube-scheduler notices that it has enough when it finds one more
			}
			r.feasible = append(r.feasible, n)
			soft = soft || r.s.avoids[x.number] && r.machine(n).soft[x.number] > 0
			switch {
			case v > top:
				best, ties, top = n, 1, v
			case v == top && !preferring:
				if ties++; r.dice.IntN(ties) == 0 {
					best = n
				}
			}
		}
		looked++
	}
	if len(order) > 0 {
		r.start = (r.start + looked) % len(order)
	}
	if len(r.feasible) <= 1 || !soft && !preferring {
		return best, ties > 1
	}
	r.score = r.score[:0]
	for _, n := range r.feasible {
		r.score = append(r.score, int64(known[n].n))
	}
	r.addPreferences(c, x)
	first := 0
	ties = 1
	for i := 1; i < len(r.score); i++ {
		switch {
		case r.score[i] > r.score[first]:
			first, ties = i, 1
		case r.score[i] == r.score[first]:
			if ties++; r.dice.IntN(ties) == 0 {
				first = i
			}
		}
	}
	return r.feasible[first], ties > 1
}

// look is the score of a node for its resources, or that it will not do.
func (r *Run) look(x *class, at int32) int64 {
	n := &r.nodes[at]
	m := &r.s.machines[n.machine]
	if n.closed || !m.admits[x.number] {
		return infeasible
	}
	for _, q := range x.needs {
		if n.room[q.resource] < q.n {
			return infeasible
		}
	}
	if len(x.group.Ports) > 0 && podspec.PortsClash(x.group.Ports, n.ports) {
		return infeasible
	}
	return r.s.resourceScore(x, n, m)
}
