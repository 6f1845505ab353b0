package search

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// removeUnbindable takes pods off machines and bins that would not bind there in any order: those
// whose rules others, who found no place after all, were to keep. Machines that hold
// less may then be cheaper ones elsewhere, so it goes round until all pods bind.
func (d *decoder) removeUnbindable(machines []machine) []machine {
	t := d.planner
	if t == nil || len(t.problem.Classes) == 0 {
		return machines
	}
	for {
		surplus := d.surplus(machines)
		if len(surplus) == 0 {
			return machines
		}
		machines = d.removeSurplus(machines, surplus)
	}
}

// removeSurplus takes pods off machines and nodes. The pods that stay on a machine may fit a cheaper one.
func (d *decoder) removeSurplus(machines []machine, surplus map[model.ClassID]int64) []machine {
	machines = d.removePods(machines, surplus)
	if !d.frozen {
		d.upgrade(machines)
	}
	return machines
}

// surplus counts, by engine class, the pods that do not bind.
func (d *decoder) surplus(machines []machine) map[model.ClassID]int64 {
	return surplus(d.planner, d.packing.Parts, d.placing(machines), d.locations(machines))
}

// placing is how many units of each part machines and bins hold.
func (d *decoder) placing(machines []machine) func(part int) int64 {
	placed := make([]int64, len(d.packing.Parts))
	for i := range machines {
		for _, it := range machines[i].items {
			placed[it.Class] += it.N
		}
	}
	for _, items := range d.solution.Bins {
		for _, it := range items {
			placed[it.Class] += it.N
		}
	}
	return func(part int) int64 { return placed[part] }
}

// locations are the locations of machines, in their order.
func (d *decoder) locations(machines []machine) []int {
	out := make([]int, len(machines))
	for i := range machines {
		out[i] = d.location(&machines[i])
	}
	return out
}

// removePods takes pods off machines and nodes, and gives back the machines that are empty then.
func (d *decoder) removePods(machines []machine, surplus map[model.ClassID]int64) []machine {
	less := func(items []model.Item) []model.Item {
		out := slices.Clone(items)
		for i := range out {
			n := min(out[i].N, surplus[out[i].Class])
			out[i].N -= n
			surplus[out[i].Class] -= n
			d.solution.Unplaced[out[i].Class] += n
		}
		return slices.DeleteFunc(out, func(it model.Item) bool { return it.N == 0 })
	}
	for i := range machines {
		m := &machines[i]
		m.items = less(m.items)
		d.sales.weigh(m)
	}
	for i, items := range d.solution.Bins {
		d.solution.Bins[i] = less(items)
	}
	return d.giveBack(machines)
}

// location is where a machine stands.
func (d *decoder) location(m *machine) int {
	p := d.sales.buys(m)
	return d.planner.locations.LocationOf(p.Template, p.Offer)
}

// giveBack returns machines that hold no pod, and their share of limits and
// reservations.
func (d *decoder) giveBack(machines []machine) []machine {
	return slices.DeleteFunc(machines, func(m machine) bool {
		if len(m.items) > 0 {
			return false
		}
		d.ledger.Spend(d.sales.buys(&m), -1)
		return true
	})
}
