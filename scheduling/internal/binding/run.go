package binding

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
)

// Run is one course of events: nodes join, and the pods that wait are bound one by one. The
// same seed and the same events give the same result.
type Run struct {
	s     *Scheduler
	dice  *rand.Rand
	state *cluster.State
	loads []load // by node
	zones []string
	// inZone are, by zone, the nodes in the order in which they joined.
	inZone [][]int32
	order  []int32 // in which kube-scheduler looks at nodes; nil where it has to be made anew
	start  int     // where in the order it looks first
	// Late, where it is set, ends Bind before it is done.
	Late func() bool

	// known are scores for resources by shape of pods and node. Each holds until the node changes.
	known [][]score
	check cluster.Check

	feasible []int32
	score    []int64
	terms    []int64
	seen     []bool
}

// load is the CPU and memory that the pods of a node request, and how even the used shares of both are.
type load struct {
	requested, scored [2]int64
	balance           int64
}

// score is that of a node for its resources after so many changes of it.
type score struct {
	changes uint32
	n       int32
}

// infeasible stands in place of a score.
const infeasible int64 = -1

// Begin is a run in which the existing nodes have joined, with the pods that run on them.
func (s *Scheduler) Begin(seed uint64) *Run {
	r := &Run{
		s: s, dice: rand.New(rand.NewPCG(seed, 0x706c696d)), //nolint:gosec // a model of chance, not a secret
		state: s.Model.Begin(), known: make([][]score, len(s.shapes)),
	}
	for n := range r.state.Len() {
		r.joined(int32(n)) //nolint:gosec // nodes are few
	}
	return r
}

// Fork is a run that goes on from here without changing r.
func (r *Run) Fork(seed uint64) *Run {
	f := &Run{
		s: r.s, dice: rand.New(rand.NewPCG(seed, 0x666f726b)), //nolint:gosec // a model of chance, not a secret
		state: r.state.Fork(), loads: slices.Clone(r.loads), zones: slices.Clone(r.zones), inZone: slices.Clone(r.inZone), start: r.start,
		known: make([][]score, len(r.known)),
	}
	for i := range f.inZone {
		f.inZone[i] = slices.Clip(f.inZone[i]) // both only append
	}
	return f
}

// State is the cluster as it stands. It must be changed through the run only, because the run keeps scores of it.
func (r *Run) State() *cluster.State { return r.state }

// Join adds a node of a kind and returns its number: nodes are numbered as they join, first
// those that were there.
func (r *Run) Join(kind int) int {
	at := r.state.Join(kind)
	r.joined(at)
	return int(at)
}

// joined begins to keep the scores of a node.
func (r *Run) joined(n int32) {
	k := r.kind(n)
	r.loads = append(r.loads, load{requested: k.requested, scored: k.scored, balance: balance(k.requested, k.basic)})
	at := r.state.Kind(n).Zone
	zone := slices.Index(r.zones, at)
	if zone < 0 {
		zone = len(r.zones)
		r.zones, r.inZone = append(r.zones, at), append(r.inZone, nil)
	}
	r.inZone[zone] = append(r.inZone[zone], n)
	r.order = nil
}

// Place binds a pod of a class to a node, whatever the plugins say.
func (r *Run) Place(c, to int32) { r.PlaceAs(c, to, false) }

// PlaceAs places a pod that may be going, being deleted: it has its room until it is gone, and counts for no spread.
func (r *Run) PlaceAs(c, to int32, going bool) {
	r.state.Place(c, to, going)
	r.load(c, to, 1)
}

// Remove takes a pod of a class off the node that it is bound to.
func (r *Run) Remove(c, from int32) { r.RemoveAs(c, from, false) }

// RemoveAs takes PlaceAs back.
func (r *Run) RemoveAs(c, from int32, going bool) {
	r.state.Remove(c, from, going)
	r.load(c, from, -1)
}

// load adds pods of a class to the load of a node.
func (r *Run) load(c, on int32, pods int64) {
	x, n := &r.s.classes[c], &r.loads[on]
	for i := range x.plain {
		n.requested[i] += x.plain[i] * pods
		n.scored[i] += x.scored[i] * pods
	}
	n.balance = balance(n.requested, r.kind(on).basic)
}

// Hold takes room on a node beyond the requests of its pods, by number of resource, or gives it back by sign -1. E.g. a pod
// that is being resized in place holds more than it requests.
func (r *Run) Hold(on int32, more []int64, sign int64) {
	if more == nil {
		return
	}
	r.state.Hold(on, more, sign)
	n := &r.loads[on]
	for i, d := range [2]int{r.s.cpu, r.s.memory} {
		n.requested[i] += sign * amount(more, d)
		n.scored[i] += sign * amount(more, d)
	}
	n.balance = balance(n.requested, r.kind(on).basic)
}

// Close keeps further pods off a node that is about to go. The node and its pods still count for topology terms.
func (r *Run) Close(node int32) { r.state.Close(node) }

// Leave takes a node away, once the pods that live on have left it.
func (r *Run) Leave(node int32) { r.state.Leave(node) }

// Admits reports whether kube-scheduler's filters let a pod of a class onto a node as things stand.
func (r *Run) Admits(c, to int32) bool { return r.state.Admits(c, to) }

// zonesInTurn is the nodes as kube-scheduler looks at them: a node of each zone in turn
// (k8s.io/kubernetes/pkg/scheduler/backend/cache, nodeTree).
func (r *Run) zonesInTurn() []int32 {
	if r.order == nil {
		r.order = make([]int32, 0, r.state.Len())
		for i := 0; len(r.order) < r.state.Len(); i++ {
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
	percent := s.Model.In.Facts.Problem.Scheduler.PercentageOfNodesToScore
	if percent == 0 {
		percent = max(50-nodes/125, leastPercent)
	}
	return max(nodes*percent/100, fewNodes)
}

// scores are the known scores of nodes for the pods of a class.
func (r *Run) scores(x *class) []score {
	known := r.known[x.shape]
	if more := r.state.Len() - len(known); more > 0 {
		known = append(known, make([]score, more)...)
		r.known[x.shape] = known
	}
	return known
}

// choose is the node that kube-scheduler binds a pod of a class to, -1 for none.
func (r *Run) choose(c int32) (to int32, drawn bool) {
	x := &r.s.classes[c]
	if x.pods.HasRequired() && !r.check.Begin(r.state, x.pods) {
		return -1, false
	}
	order, known := r.zonesInTurn(), r.scores(x)
	enough, looked, soft := r.s.wanted(len(order)), 0, false
	preferring := x.hasPreferences() || len(x.pods.Holders) > 0
	r.feasible = r.feasible[:0]
	best, ties, top := int32(-1), 0, infeasible
	for i, at := 0, r.start; i < len(order); i, at = i+1, at+1 {
		if at >= len(order) {
			at = 0
		}
		n := order[at]
		k := &known[n]
		if k.changes != r.state.Changes(n) {
			*k = score{r.state.Changes(n), int32(r.look(x, n))} //nolint:gosec // a few hundred
		}
		v := int64(k.n)
		if v != infeasible && (!x.pods.HasRequired() || r.check.Admits(n)) {
			if len(r.feasible) == enough {
				break // kube-scheduler notices that it has enough when it finds one more
			}
			r.feasible = append(r.feasible, n)
			soft = soft || r.s.avoids[x.pods.Number] && r.kind(n).soft[x.pods.Number] > 0
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
	if !r.state.Fits(x.pods, at) {
		return infeasible
	}
	return r.resourceScore(x, at)
}
