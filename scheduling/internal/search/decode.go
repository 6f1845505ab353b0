package search

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// decoder turns the engine's answer into a plan.
type decoder struct {
	in           *compile.Compiler
	packing      *compile.Packing
	ties         *Ties // nil where nothing is tied
	solution     model.Solution
	ledger       *compile.Ledger
	nameAssigner *nameAssigner
	short        bool             // limits or reservations leave a launch too few options for its pool's minValues
	frozen       bool             // machines buy what the engine planned, and list nothing of a better rank
	tied         sets.Set[string] // labels that rules between pods are about; nil until asked
	whole        bool             // options have the room of the machine, not only that of its pods
	shunned      []model.Bits     // by template, offers that launches do not fall back on; nil for none
	listed       []int            // room for the places of one machine's options
	lots         map[string]*lot
}

// Decode writes the plan of a trial down. ok is false where limits or reservations leave a
// launch too few options for the minValues of its pool.
func Decode(x *Trial) (plan *scheduling.Plan, ok bool) {
	d := &decoder{
		in: x.Packing.In, packing: x.Packing, ties: x.ties, solution: x.Outcome.Solution, ledger: compile.NewLedger(x.Packing.In), lots: map[string]*lot{},
	}
	machines := d.final()
	d.avoidNewDomains(machines)
	plan = d.write(bundle(machines))
	return plan, !d.short
}

// DecodeWhole is [Decode] for machines that are as large as they are for what kube-scheduler may
// put there: they stay what they are, in their zone where pods depend on each other, and each
// option has about as much room.
func DecodeWhole(p *compile.Packing, solution model.Solution) (plan *scheduling.Plan, ok bool) {
	d := &decoder{
		in: p.In, packing: p, solution: solution, ledger: compile.NewLedger(p.In), lots: map[string]*lot{},
		frozen: true, whole: true,
	}
	plan = d.write(bundle(d.machines()))
	return plan, !d.short
}

// final are the machines of the answer, once all pods on them bind.
func (d *decoder) final() []machine {
	machines := d.machines()
	for surplus := d.unbound(machines); len(surplus) > 0; surplus = d.unbound(machines) {
		machines = d.unbind(d.relieve(machines, surplus))
		slices.SortStableFunc(machines, d.compareMachines)
	}
	return machines
}

// unbound counts, by engine class, the pods that kube-scheduler would not bind.
func (d *decoder) unbound(machines []machine) map[model.ClassID]int64 {
	if n := d.unbindable(machines); len(n) > 0 {
		return n
	}
	return d.followersAlone(machines)
}

// write writes down what nodes and machines hold.
func (d *decoder) write(machines []machine) *scheduling.Plan {
	d.nameAssigner = d.newNameAssigner(machines)
	n := int64(0)
	for i := range machines {
		n += machines[i].count
	}
	plan := &scheduling.Plan{Launches: make([]scheduling.Launch, 0, n), Existing: []scheduling.Assignment{}, Unschedulable: []scheduling.Unschedulable{}, Warnings: []scheduling.Warning{}}
	for i, items := range d.solution.Bins {
		if len(items) == 0 {
			continue
		}
		if pods := d.takePods(items); len(pods) > 0 {
			plan.Existing = append(plan.Existing, scheduling.Assignment{Node: d.in.Nodes[i].Node.Name, Pods: pods})
		}
	}
	slices.SortFunc(plan.Existing, func(a, b scheduling.Assignment) int { return strings.Compare(a.Node, b.Node) })
	numbers := map[string]int{}
	for i := range machines {
		d.launches(plan, &machines[i], numbers)
	}
	return plan
}

// machines reads the bundles of the answer, lets each buy the best-ranked offer that
// holds its pods and that limits and reservations still allow, and sorts them.
func (d *decoder) machines() []machine {
	out := make([]machine, 0, model.Count(d.solution.Nodes))
	for _, node := range d.solution.Nodes {
		d.ledger.Spend(d.packing.Bought[node.Option], node.N)
	}
	byClass := func(a, b model.Item) int { return cmp.Compare(a.Class, b.Class) }
	firsts := map[model.OptionID]int{}
	for _, node := range d.solution.Nodes {
		first, known := firsts[node.Option]
		if !known {
			first = d.place(d.packing.Bought[node.Option])
			firsts[node.Option] = first
		}
		m := machine{template: d.packing.Bought[node.Option].Template, first: first, count: 1, items: node.Items}
		if !slices.IsSortedFunc(m.items, byClass) {
			m.items = slices.Clone(m.items)
			slices.SortFunc(m.items, byClass)
		}
		d.weigh(&m)
		for range node.N {
			out = append(out, m)
		}
	}
	if d.whole {
		slices.SortStableFunc(out, d.compareMachines)
		return out
	}
	d.upgradeAll(out)
	for range lastCalls {
		out = d.lastCall(d.drop(out))
	}
	out = d.unbind(d.drop(out))
	slices.SortStableFunc(out, d.compareMachines)
	return out
}

// compareMachines orders machines by pool, price, type, what they hold.
func (d *decoder) compareMachines(a, b machine) int {
	x, y := d.offerAt(&a, a.first), d.offerAt(&b, b.first)
	return cmp.Or(
		strings.Compare(d.in.Templates[a.template].Pool.Name, d.in.Templates[b.template].Pool.Name),
		cmp.Compare(x.Offering.Price, y.Offering.Price),
		strings.Compare(x.InstanceType.Name, y.InstanceType.Name),
		cmp.Compare(a.first, b.first),
		cmp.Compare(a.template, b.template),
		slices.CompareFunc(a.items, b.items, func(x, y model.Item) int {
			return cmp.Or(cmp.Compare(x.Class, y.Class), cmp.Compare(y.N, x.N))
		}),
		cmp.Compare(a.turn, b.turn),
	)
}

// bundle joins neighbours that are alike, in place.
func bundle(in []machine) []machine {
	out := in[:0]
	for _, m := range in {
		if n := len(out); n > 0 && out[n-1].template == m.template && out[n-1].first == m.first && out[n-1].turn == m.turn && slices.Equal(out[n-1].items, m.items) {
			out[n-1].count++
			continue
		}
		out = append(out, m)
	}
	return out
}

// place returns the place of what the engine planned to buy.
func (d *decoder) place(planned offers.Purchase) int {
	return slices.IndexFunc(d.packing.Lists[planned.Template], func(o offers.TemplateOffer) bool { return o.Offer == planned.Offer })
}

// upgradeAll upgrades the machines. A cautious solve has counted on what is left of the
// limits: should the upgrades leave a launch too few options, they are taken back.
func (d *decoder) upgradeAll(machines []machine) {
	var before []machine
	var ledger *compile.Ledger
	if d.in.Cautious {
		before, ledger = slices.Clone(machines), d.ledger.Clone()
	}
	d.upgrade(machines)
	if d.in.Solver.Ranking.Strategy == offerings.Diversified {
		slices.SortStableFunc(machines, d.compareMachines)
		d.spread(machines)
	}
	if !d.in.Cautious {
		return
	}
	for i := range machines {
		machines[i].places = d.options(&machines[i])
		if d.tooFew(&machines[i]) {
			copy(machines, before)
			d.ledger, d.frozen = ledger, true
			return
		}
	}
}

// upgrade lets every machine buy the best-ranked offer that holds its pods. What one
// gives back of limits and reservations may be what another needs, so it goes round
// until nothing changes.
func (d *decoder) upgrade(machines []machine) {
	for changed := true; changed; {
		changed = false
		for i := range machines {
			m := &machines[i]
			for at := m.bare; at < m.first; at++ {
				if !d.holds(m, at) {
					if at == m.bare {
						m.bare++
					}
					continue
				}
				if d.leavesChoice(m, at) && d.ledger.Swap(d.buys(m), d.sale(m.template, at)) {
					m.first, changed = at, true
					break
				}
			}
		}
	}
}

// options lists what may be bought for a machine, best first: what it buys, then
// every other offer that holds its pods and could be taken in its place, up to the
// limit, and beyond the limit as far as the pool's minValues need it. The answer holds
// until the next is asked for.
func (d *decoder) options(m *machine) []int {
	limit := maxOptions(d.in.Solver)
	floors := offers.FloorKeys(d.in.Templates[m.template].Set)
	choosy := offers.On(d.in.Solver.Flexibility)
	whole := len(floors) > 0 || choosy || d.in.Solver.Ranking.Strategy == offerings.Diversified
	out := d.listed[:0]
	defer func() { d.listed = out }()
	out = append(out, m.first)
	for at := m.bare; at < len(d.packing.Lists[m.template]) && (len(out) < limit || whole); at++ {
		if at == m.first || d.frozen && at < m.first || !d.holds(m, at) || !d.ledger.CouldSwap(d.buys(m), d.sale(m.template, at)) {
			continue
		}
		out = append(out, at)
	}
	if d.in.Solver.Ranking.Strategy == offerings.Diversified {
		d.diversify(m, out[1:]) // the first stays: it is what the ledger counts
	}
	if choosy && !d.offerAt(m, m.first).Spot() && d.inflexible(m, out) {
		out = slices.DeleteFunc(out, func(at int) bool { return d.offerAt(m, at).Spot() })
	}
	if len(floors) > 0 || choosy {
		return d.trim(m, out, limit)
	}
	return out[:min(len(out), limit)]
}
