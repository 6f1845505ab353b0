package explain

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// MostPlaces is how many nodes, and how many launches, an explanation of a pod lists.
const MostPlaces = 3

// without is a plan without one pod.
func without(plan *scheduling.Plan, pod string) *scheduling.Plan {
	out := *plan
	drop := func(pods []string) []string {
		return slices.DeleteFunc(slices.Clone(pods), func(name string) bool { return name == pod })
	}
	out.Launches = slices.Clone(plan.Launches)
	for i := range out.Launches {
		if slices.Contains(out.Launches[i].Pods, pod) {
			out.Launches[i].Pods = drop(out.Launches[i].Pods)
		}
	}
	out.Existing = slices.Clone(plan.Existing)
	for i := range out.Existing {
		if slices.Contains(out.Existing[i].Pods, pod) {
			out.Existing[i].Pods = drop(out.Existing[i].Pods)
		}
	}
	return &out
}

// Cheapest is the best offer that would take a pod of a class on a machine of its own.
func (e *Explainer) Cheapest(id int) (best offers.OfferRef, ok bool) {
	s := e.subject(id)
	for ti, v := range e.In.Templates {
		var free []int
		v.Within.Each(func(o int) {
			if s.free(place{ti, o}) {
				free = append(free, o)
			}
		})
		if !meetsMinValues(e.In, ti, free) {
			continue
		}
		for _, o := range free {
			if !ok || e.In.Offers.Offers[o].Cost < e.In.Offers.Offers[best.Offer].Cost {
				best, ok = offers.OfferRef{Template: ti, Offer: o}, true
			}
		}
	}
	return best, ok
}

// meetsMinValues reports whether some offers of a template leave as many values as the minValues of its NodePool
// ask for, if these are strict.
func meetsMinValues(in *instance.Instance, ti int, list []int) bool {
	v := in.Templates[ti]
	if in.Facts.Solver.MinValues == scheduling.MinValuesBestEffort {
		return true
	}
	return !slices.ContainsFunc(offers.FloorKeys(v.Set), func(r requirements.Requirement) bool {
		values := map[string]bool{}
		for _, o := range list {
			if value, has := in.Offers.LabelOf(v, o, r.Key()); has {
				values[value] = true
			}
		}
		return len(values) < r.MinValues()
	})
}

// MachineHolds reports whether a machine of the plan could take a further pod.
func (e *Explainer) MachineHolds(id, launch int) bool {
	node := e.after().machines[launch]
	return node >= 0 && e.after().state.Admits(int32(id), node) //nolint:gosec // classes are few
}

// Terms are the topology terms of a class that have to hold, with the pods that they count.
func (e *Explainer) Terms(id int) []explanation.TopologyTerm {
	if !hasTerms(e.In, id) {
		return nil
	}
	return e.after().states(id)
}
