package scheduling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// decoder turns the engine's answer into a plan.
type decoder struct {
	*compiler
	solution model.Solution
	ledger   *ledger
	next     []int // by planned class, the first pod not handed out yet
	short    bool  // limits or reservations leave a launch too few options for its pool's minValues
	frozen   bool  // machines buy what the engine planned, and list nothing of a better rank
}

// decode writes the plan down. ok is false where limits or reservations leave a
// launch too few options for the minValues of its pool.
func (c *compiler) decode(solution model.Solution) (plan *Plan, ok bool) {
	d := &decoder{compiler: c, solution: solution, ledger: newLedger(c)}
	machines := d.machines()
	for surplus := d.rehearse(machines); len(surplus) > 0; surplus = d.rehearse(machines) {
		machines = d.unbind(d.strip(machines, surplus))
		slices.SortStableFunc(machines, d.compareMachines)
	}
	plan = d.write(bundle(machines))
	return plan, !d.short
}

// write writes down what nodes and machines hold.
func (d *decoder) write(machines []machine) *Plan {
	d.next = make([]int, len(d.planned))
	plan := &Plan{Launches: []Launch{}, Existing: []Assignment{}, Unschedulable: []Unschedulable{}, Warnings: []Warning{}}
	for i, items := range d.solution.Bins {
		if pods := d.hand(items); len(pods) > 0 {
			plan.Existing = append(plan.Existing, Assignment{Node: d.nodes[i].node.Name, Pods: pods})
		}
	}
	slices.SortFunc(plan.Existing, func(a, b Assignment) int { return strings.Compare(a.Node, b.Node) })
	numbers := map[string]int{}
	for i := range machines {
		d.launches(plan, &machines[i], numbers)
	}
	return plan
}

// machines reads the bundles of the answer, lets each buy the best-ranked offer that
// holds its pods and that limits and reservations still allow, and sorts them.
func (d *decoder) machines() []machine {
	var out []machine
	for _, node := range d.solution.Nodes {
		d.ledger.spend(d.bought[node.Option], node.N)
	}
	for _, node := range d.solution.Nodes {
		m := machine{template: d.bought[node.Option].template, count: 1, items: slices.Clone(node.Items)}
		slices.SortFunc(m.items, func(a, b model.Item) int { return cmp.Compare(a.Class, b.Class) })
		d.weigh(&m)
		for range node.N {
			one := m
			one.first = d.place(&one, d.bought[node.Option])
			out = append(out, one)
		}
	}
	d.settle(out)
	for range lastCalls {
		out = d.lastCall(d.drop(out))
	}
	out = d.unbind(d.drop(d.lift(out)))
	slices.SortStableFunc(out, d.compareMachines)
	return out
}

// compareMachines orders machines by pool, price, type, what they hold.
func (d *decoder) compareMachines(a, b machine) int {
	x, y := d.offerAt(&a, a.first), d.offerAt(&b, b.first)
	return cmp.Or(
		strings.Compare(d.templates[a.template].pool.Name, d.templates[b.template].pool.Name),
		cmp.Compare(x.offering.Price, y.offering.Price),
		strings.Compare(x.instanceType.Name, y.instanceType.Name),
		cmp.Compare(a.first, b.first),
		cmp.Compare(a.template, b.template),
		slices.CompareFunc(a.items, b.items, func(x, y model.Item) int {
			return cmp.Or(cmp.Compare(x.Class, y.Class), cmp.Compare(y.N, x.N))
		}),
		cmp.Compare(a.turn, b.turn),
	)
}

// bundle joins neighbours that are alike.
func bundle(in []machine) []machine {
	var out []machine
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
func (d *decoder) place(m *machine, planned purchase) int {
	return slices.IndexFunc(d.offered[m.template].list, func(o templateOffer) bool { return o.offer == planned.offer })
}

// settle upgrades the machines. A cautious solve has counted on what is left of the
// limits: should the upgrades leave a launch too few options, they are taken back.
func (d *decoder) settle(machines []machine) {
	before, ledger := slices.Clone(machines), d.ledger.clone()
	d.upgrade(machines)
	if d.solver.Ranking.Strategy == offerings.Diversified {
		slices.SortStableFunc(machines, d.compareMachines)
		d.spread(machines)
	}
	if !d.cautious {
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
			for at := range m.first {
				if d.holds(m, at) && d.ledger.swap(d.buys(m), d.sale(m.template, at)) {
					m.first, changed = at, true
					break
				}
			}
		}
	}
}

// options lists what may be bought for a machine, best first: what it buys, then
// every other offer that holds its pods and could be taken in its place, up to the
// limit, and beyond the limit as far as the pool's minValues need it.
func (d *decoder) options(m *machine) []int {
	limit := d.solver.maxOptions()
	floors := floorKeys(d.templates[m.template].set)
	whole := len(floors) > 0 || d.solver.Ranking.Strategy == offerings.Diversified
	out := []int{m.first}
	for at := range d.offered[m.template].list {
		if len(out) >= limit && !whole {
			break
		}
		if at == m.first || d.frozen && at < m.first || !d.holds(m, at) || !d.ledger.couldSwap(d.buys(m), d.sale(m.template, at)) {
			continue
		}
		out = append(out, at)
	}
	if d.solver.Ranking.Strategy == offerings.Diversified {
		d.diversify(m, out[1:]) // the first stays: it is what the ledger counts
	}
	if len(floors) > 0 {
		return d.trim(m, out, limit)
	}
	return out[:min(len(out), limit)]
}

// launches appends the launches of a bundle.
func (d *decoder) launches(plan *Plan, m *machine, numbers map[string]int) {
	v := d.templates[m.template]
	m.places = d.options(m)
	options := make([]Option, 0, len(m.places))
	for _, at := range m.places {
		o := d.offerAt(m, at)
		options = append(options, Option{
			InstanceType: o.instanceType.Name, Zone: o.offering.Zone, CapacityType: o.offering.CapacityType,
			Price: o.offering.Price, ReservationID: o.offering.ReservationID, InterruptionRate: o.offering.InterruptionRate,
		})
	}
	if d.tooFew(m) {
		d.short = true
		for _, it := range m.items {
			d.solution.Unplaced[it.Class] += it.N * m.count
		}
		return
	}
	daemons := make([]int64, d.model.Dims)
	first := d.buys(m).offer
	for i, row := range d.offered[m.template].daemons {
		if row.Has(first) {
			for r, n := range d.daemons[i].requests {
				daemons[r] += n
			}
		}
	}
	requests := slices.Clone(m.load)
	for r, n := range daemons {
		requests[r] += n
	}
	for range m.count {
		numbers[v.pool.Name]++
		l := Launch{
			Name: fmt.Sprintf("%s-%d", v.pool.Name, numbers[v.pool.Name]), NodePool: v.pool.Name,
			Options: slices.Clone(options), Price: options[0].Price, Pods: d.hand(m.items),
			Requests: d.table.list(requests), Labels: launchLabels(v),
			Taints:        copyTaints(v.pool.Spec.Template.Spec.Taints),
			StartupTaints: copyTaints(v.pool.Spec.Template.Spec.StartupTaints),
			Requirements:  d.launchRequirements(m, options),
		}
		l.MinValuesRelaxed = d.relaxed(v, l.Requirements)
		if len(l.StartupTaints) == 0 {
			l.StartupTaints = nil
		}
		plan.Launches = append(plan.Launches, l)
	}
	d.account(plan, m, first, daemons)
}

// hand hands out pods: the next ones, in name order, of each class. It returns
// their names, sorted.
func (d *decoder) hand(items []model.Item) []string {
	pods := []string{}
	for _, it := range items {
		for _, p := range d.parts[it.Class].portions {
			for range it.N * p.n {
				pods = append(pods, podName(d.planned[p.class].pods[d.next[p.class]]))
				d.next[p.class]++
			}
		}
	}
	slices.Sort(pods)
	return pods
}

// launchLabels are the labels that the pool puts on a machine. Well-known labels
// that the pool does not set are the provider's to put there.
func launchLabels(v *template) map[string]string {
	labels := maps.Clone(v.labels)
	own := poolLabels(v.pool)
	for key := range labels {
		if _, set := own[key]; !set && wellKnownKey(key) {
			delete(labels, key)
		}
	}
	return labels
}

func copyTaints(taints []corev1.Taint) []corev1.Taint {
	out := make([]corev1.Taint, 0, len(taints))
	for i := range taints {
		out = append(out, *taints[i].DeepCopy())
	}
	return out
}
