package explain

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// MostPlaces is how many nodes, and how many launches, an explanation of a pod lists.
const MostPlaces = 3

// Without returns a plan without one pod.
func Without(plan *scheduling.Plan, pod string) *scheduling.Plan {
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
func (e *Explainer) Cheapest(class *podspec.PodClass, id int) (best offers.Purchase, ok bool) {
	s := e.subject(class, id)
	for ti, v := range e.In.Templates {
		var free []int
		v.Within.Each(func(o int) {
			if s.free(place{ti, o}) {
				free = append(free, o)
			}
		})
		if !e.meetsMinValues(ti, free) {
			continue
		}
		for _, o := range free {
			if !ok || e.In.Offers.Offers[o].Cost < e.In.Offers.Offers[best.Offer].Cost {
				best, ok = offers.Purchase{Template: ti, Offer: o}, true
			}
		}
	}
	return best, ok
}

// meetsMinValues reports whether some offers of a template leave as many values as the minValues of its NodePool
// ask for, if these are strict.
func (e *Explainer) meetsMinValues(ti int, list []int) bool {
	v := e.In.Templates[ti]
	if e.In.Solver.MinValues == scheduling.MinValuesBestEffort {
		return true
	}
	return !slices.ContainsFunc(offers.FloorKeys(v.Set), func(r requirements.Requirement) bool {
		values := map[string]bool{}
		for _, o := range list {
			if value, has := e.In.Offers.LabelOf(v, o, r.Key()); has {
				values[value] = true
			}
		}
		return len(values) < r.MinValues()
	})
}

// MachineHolds reports whether a machine of the plan could take a further pod.
func (e *Explainer) MachineHolds(class *podspec.PodClass, id, launch int) bool {
	m := &e.State.Machines[launch]
	if m.Template < 0 {
		return false
	}
	room, ok := e.State.room(m.Template, m.Offer)
	row := e.In.Offered[m.Template].Rows[class.Group]
	if !ok || row == nil || !row.Has(m.Offer) {
		return false
	}
	left := slices.Clone(room)
	for d, q := range e.State.Load(m.Items) {
		left[d] -= q
	}
	ports := e.In.Classes.Groups[class.Group].Ports
	return model.Fits(left, class.Requests) && len(e.Tied.machineBars(id, launch)) == 0 &&
		!slices.ContainsFunc(m.Items, func(it instance.Portion) bool {
			return podspec.PortsClash(ports, e.In.Classes.Groups[e.In.Planned[it.Class].Group].Ports)
		})
}

// machineBars lists the topology terms that keep a class off a machine of the plan.
func (t *tied) machineBars(id, launch int) []Bar {
	if !t.ties(id) || t.spots[launch] < 0 {
		return nil
	}
	return t.bars(id, t.at(t.spots[launch]), len(t.book.Locations.Places)+launch)
}

// States lists the constraints of a class on where others are.
func (t *tied) States(id int) []explanation.TopologyTerm {
	if !t.ties(id) {
		return nil
	}
	namespace := podspec.NamespaceOf(t.in.Planned[id].Pods[0])
	var out []explanation.TopologyTerm
	for _, d := range t.holds[id] {
		s := explanation.TopologyTerm{Code: Code(&d.tie), Key: d.tie.Key, Matching: t.who(d.tie.Target, namespace)}
		s.Text = textTie(&d.tie) + " of pods that match " + s.Matching
		if d.rule >= 0 {
			r := &t.book.Rules[d.rule]
			for i := range r.Domains {
				if x := &r.Domains[i]; x.Count > 0 || x.Eligible {
					s.Domains = append(s.Domains, explanation.DomainCount{Value: t.book.Locations.Axes[r.Axis].Values[i], Pods: x.Count})
				}
			}
		}
		out = append(out, s)
	}
	return out
}
