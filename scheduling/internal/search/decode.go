package search

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// decoder turns the engine's answer into a plan.
type decoder struct {
	in       *instance.Instance
	packing  *instance.Packing
	sales    *saleReader
	planner  *SitePlanner // nil without topology terms
	solution model.Solution
	ledger   *instance.Ledger
	writer   *launchWriter // nil until the plan is written
	short    bool          // limits or reservations leave a launch too few options for its pool's minValues
	frozen   bool          // machines buy the offers that the engine planned, and list none of a better rank
	avoided  []model.Bits  // by template, offers that launches do not fall back on; nil for none
	listed   []int         // room for the places of one machine's options
}

// Decode writes the plan of a trial down. ok is false where limits or reservations leave a
// launch too few options for the minValues of its pool.
func Decode(x *Trial) (plan *scheduling.Plan, ok bool) {
	d := &decoder{
		in: x.Packing.In, packing: x.Packing, sales: newSaleReader(x.Packing, false), planner: x.planner, solution: x.Outcome.Solution, ledger: instance.NewLedger(x.Packing.In),
	}
	machines := d.final()
	avoidNewDomains(d, machines)
	plan = d.write(bundle(machines))
	return plan, !d.short
}

// DecodeWhole is [Decode] for machines whose room beyond their pods counts, because kube-scheduler may put other pods
// there: none is exchanged for another, each stays in its zone where pods depend on each other, and each
// option has about as much room.
func DecodeWhole(p *instance.Packing, solution model.Solution) (plan *scheduling.Plan, ok bool) {
	d := &decoder{
		in: p.In, packing: p, sales: newSaleReader(p, true), solution: solution, ledger: instance.NewLedger(p.In),
		frozen: true,
	}
	plan = d.write(bundle(d.machines()))
	return plan, !d.short
}

// final are the machines of the answer, once all pods on them bind.
func (d *decoder) final() []machine {
	machines := d.machines()
	for surplus := d.unbound(machines); len(surplus) > 0; surplus = d.unbound(machines) {
		machines = d.removeUnbindable(d.removeSurplus(machines, surplus))
		slices.SortStableFunc(machines, d.sales.compareMachines)
	}
	return machines
}

// unbound counts, by engine class, the pods that kube-scheduler would not bind.
func (d *decoder) unbound(machines []machine) map[model.ClassID]int64 {
	if n := unbindable(d, machines); len(n) > 0 {
		return n
	}
	return followersAlone(d, machines)
}

// write writes the plan in which nodes and machines hold the pods of their items.
func (d *decoder) write(machines []machine) *scheduling.Plan {
	d.writer = &launchWriter{in: d.in, sales: d.sales, parts: d.packing.Parts, names: newNameAssigner(d, machines), lots: map[string]*lot{}}
	n := int64(0)
	for i := range machines {
		n += machines[i].count
	}
	plan := &scheduling.Plan{Launches: make([]scheduling.Launch, 0, n), Existing: []scheduling.Assignment{}, Unschedulable: []scheduling.Unschedulable{}, Warnings: []scheduling.Warning{}}
	for i, items := range d.solution.Bins {
		if len(items) == 0 {
			continue
		}
		if pods := d.writer.takePods(items); len(pods) > 0 {
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
			first = d.sales.place(d.packing.Bought[node.Option])
			firsts[node.Option] = first
		}
		m := machine{template: d.packing.Bought[node.Option].Template, first: first, count: 1, items: node.Items}
		if !slices.IsSortedFunc(m.items, byClass) {
			m.items = slices.Clone(m.items)
			slices.SortFunc(m.items, byClass)
		}
		d.sales.weigh(&m)
		for range node.N {
			out = append(out, m)
		}
	}
	if d.sales.whole {
		slices.SortStableFunc(out, d.sales.compareMachines)
		return out
	}
	d.upgradeAll(out)
	for range mostPlacingRounds {
		out = d.placeUnplaced(d.removeInflexible(out))
	}
	out = d.removeUnbindable(d.removeInflexible(out))
	slices.SortStableFunc(out, d.sales.compareMachines)
	return out
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

// upgradeAll upgrades the machines. A cautious solve has counted on the rest of the
// limits: should the upgrades leave a launch too few options, they are taken back.
func (d *decoder) upgradeAll(machines []machine) {
	var before []machine
	var ledger *instance.Ledger
	if d.in.Cautious {
		before, ledger = slices.Clone(machines), d.ledger.Clone()
	}
	d.upgrade(machines)
	if d.in.Facts.Solver.Ranking.Strategy == offerings.Diversified {
		slices.SortStableFunc(machines, d.sales.compareMachines)
		d.spread(machines)
	}
	if !d.in.Cautious {
		return
	}
	for i := range machines {
		machines[i].places = d.options(&machines[i])
		if d.sales.tooFew(&machines[i]) {
			copy(machines, before)
			d.ledger, d.frozen = ledger, true
			return
		}
	}
}

// upgrade lets every machine buy the best-ranked offer that holds its pods. The limits and reservations that one
// gives back may be those that another needs, so it goes round
// until nothing changes.
func (d *decoder) upgrade(machines []machine) {
	for changed := true; changed; {
		changed = false
		for i := range machines {
			m := &machines[i]
			for at := m.bare; at < m.first; at++ {
				if !d.sales.holds(m, at) {
					if at == m.bare {
						m.bare++
					}
					continue
				}
				if d.leavesChoice(m, at) && d.ledger.Swap(d.sales.buys(m), d.sales.sale(m.template, at)) {
					m.first, changed = at, true
					break
				}
			}
		}
	}
}

// options lists the offers of a machine's launch, best first: the one that it buys, then
// every other offer that holds its pods and could be taken in its place, up to the
// limit, and beyond the limit as far as the pool's minValues need it. The answer holds
// until the next is asked for.
func (d *decoder) options(m *machine) []int {
	limit := maxOptions(d.in.Facts.Solver)
	floors := offers.FloorKeys(d.in.Templates[m.template].Set)
	choosy := offers.On(d.in.Facts.Solver.Flexibility)
	whole := len(floors) > 0 || choosy || d.in.Facts.Solver.Ranking.Strategy == offerings.Diversified
	out := d.listed[:0]
	defer func() { d.listed = out }()
	out = append(out, m.first)
	for at := m.bare; at < len(d.packing.Lists[m.template]) && (len(out) < limit || whole); at++ {
		if at == m.first || d.frozen && at < m.first || !d.sales.holds(m, at) || !d.ledger.CouldSwap(d.sales.buys(m), d.sales.sale(m.template, at)) {
			continue
		}
		out = append(out, at)
	}
	if d.in.Facts.Solver.Ranking.Strategy == offerings.Diversified {
		d.sales.diversify(m, out[1:]) // the first stays, because the ledger counts it
	}
	if choosy && !d.sales.offerAt(m, m.first).Spot() && d.sales.inflexible(m, out) {
		out = slices.DeleteFunc(out, func(at int) bool { return d.sales.offerAt(m, at).Spot() })
	}
	if len(floors) > 0 || choosy {
		return d.sales.trim(m, out, limit)
	}
	return out[:min(len(out), limit)]
}

// spread gives every machine its turn in the diversified ranking and lets it buy
// the first offer of its list that limits and reservations allow.
func (d *decoder) spread(machines []machine) {
	turns := map[int]int{}
	for i := range machines {
		m := &machines[i]
		m.turn = turns[m.template]
		turns[m.template]++
		var places []int
		for at := range d.packing.Lists[m.template] {
			if at == m.first || d.sales.holds(m, at) && d.leavesChoice(m, at) {
				places = append(places, at)
			}
		}
		d.sales.diversify(m, places)
		for _, at := range places {
			if d.ledger.Swap(d.sales.buys(m), d.sales.sale(m.template, at)) {
				m.first = at
				break
			}
		}
	}
}

// leavesChoice reports whether a machine that bought at a place of its template would
// have as much choice as spot machines need.
func (d *decoder) leavesChoice(m *machine, at int) bool {
	if !offers.On(d.in.Facts.Solver.Flexibility) || !d.sales.offerAt(m, at).Spot() {
		return true
	}
	c := offers.NewChoices(d.in.Facts.Solver.Flexibility)
	for i := range d.packing.Lists[m.template] {
		o := d.sales.offerAt(m, i)
		if !o.Spot() || !d.sales.holds(m, i) || i != at && !d.ledger.CouldSwap(d.sales.buys(m), d.sales.sale(m.template, i)) {
			continue
		}
		if c.Add(o) && c.Enough() {
			return true
		}
	}
	return false
}

// launches appends the launches of a bundle.
func (d *decoder) launches(plan *scheduling.Plan, m *machine, numbers map[string]int) {
	m.places = d.options(m)
	dropAvoidedOptions(d, m)
	x := d.writer.lot(m)
	if x.short {
		d.short = true
		for _, it := range m.items {
			d.solution.Unplaced[it.Class] += it.N * m.count
		}
		return
	}
	requests := slices.Clone(m.load)
	for r, n := range x.daemons {
		requests[r] += n
	}
	pool := d.in.Templates[m.template].Pool
	for range m.count {
		numbers[pool.Name]++
		l := scheduling.Launch{
			Name: pool.Name + "-" + strconv.Itoa(numbers[pool.Name]), NodePool: pool.Name,
			Options: slices.Clone(x.options), Price: x.options[0].Price, Pods: d.writer.takePods(m.items),
			Requests: d.in.Table.List(requests), Labels: maps.Clone(x.labels),
			Taints:        copyTaints(pool.Spec.Template.Spec.Taints),
			StartupTaints: copyTaints(pool.Spec.Template.Spec.StartupTaints),
			Requirements:  copySelectors(x.requirements), MinValuesRelaxed: x.relaxed,
		}
		if len(l.StartupTaints) == 0 {
			l.StartupTaints = nil
		}
		plan.Launches = append(plan.Launches, l)
	}
	Account(d.in, &plan.Summary, d.sales.buys(m), m.count, x.daemons, m.load)
}

// defaultMaxOptions is how many options a launch carries unless told otherwise: as
// many overrides as cloud fleet requests comfortably take.
const defaultMaxOptions = 60

// maxOptions is how many options a launch carries at most.
func maxOptions(s *scheduling.Policy) int {
	if s.MaxOptions > 0 {
		return s.MaxOptions
	}
	return defaultMaxOptions
}
