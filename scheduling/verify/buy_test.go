package verify_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// buy is a launch in short form. Options are "type/zone/capacity type" or "type/zone/reserved/id", best first.
type buy struct {
	pool    string
	pods    string // names, with blanks between them
	options []string
	labels  map[string]string // those that the pool leaves open
}

// buying returns a plan of launches for a problem without DaemonSets. Prices are those of the catalog, requests those
// of the containers of the pods.
func buying(p scheduling.Problem, buys ...buy) *fixture {
	f := &fixture{p: p, plan: &scheduling.Plan{}}
	numbers := map[string]int{}
	for _, b := range buys {
		numbers[b.pool]++
		pool := f.pool(b.pool)
		l := scheduling.Launch{
			Name: fmt.Sprintf("%s-%d", b.pool, numbers[b.pool]), NodePool: b.pool, Requests: corev1.ResourceList{},
			Labels: maps.Clone(pool.Spec.Template.Metadata.Labels), Taints: pool.Spec.Template.Spec.Taints,
		}
		if l.Labels == nil {
			l.Labels = map[string]string{}
		}
		maps.Copy(l.Labels, b.labels)
		for _, o := range b.options {
			l.Options = append(l.Options, f.option(b.pool, o))
		}
		l.Price = l.Options[0].Price
		for _, name := range strings.Fields(b.pods) {
			l.Pods = append(l.Pods, "default/"+name)
			for _, c := range f.pod(name).Spec.Containers {
				addTo(l.Requests, c.Resources.Requests)
			}
			addTo(l.Requests, corev1.ResourceList{corev1.ResourcePods: quantity("1")})
		}
		f.plan.Launches = append(f.plan.Launches, l)
	}
	slices.SortStableFunc(f.plan.Launches, func(a, b scheduling.Launch) int {
		if c := strings.Compare(a.NodePool, b.NodePool); c != 0 {
			return c
		}
		return int(a.Price - b.Price)
	})
	f.plan.Summary.Status = scheduling.StatusComplete
	f.sum()
	return f
}

// option returns an option of the catalog of the pool.
func (f *fixture) option(pool, text string) scheduling.LaunchOption {
	parts := append(strings.Split(text, "/"), "")
	catalog := f.p.Catalog
	if own, ok := f.p.PoolCatalogs[pool]; ok {
		catalog = own
	}
	kind, ok := catalog.Get(parts[0])
	if !ok {
		panic("no type " + parts[0])
	}
	i := slices.IndexFunc(kind.Offerings, func(o offerings.Offering) bool {
		return o.Zone == parts[1] && string(o.CapacityType) == parts[2] && o.ReservationID == parts[3]
	})
	if i < 0 {
		panic("no offering " + text)
	}
	o := kind.Offerings[i]
	return scheduling.LaunchOption{InstanceType: kind.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price,
		ReservationID: o.ReservationID, InterruptionRate: o.InterruptionRate}
}

// refusing adds pods that the plan does not place.
func (f *fixture) refusing(names ...string) *fixture {
	for _, name := range names {
		f.plan.Unschedulable = append(f.plan.Unschedulable, scheduling.Unschedulable{
			Pod: "default/" + name, Message: "no", Reasons: []scheduling.ReasonCount{{Code: scheduling.ReasonLimits, Count: 1}}, Fixes: []string{"raise the limit"},
		})
	}
	f.sum()
	return f
}

// because changes the detail of the first reason for which the plan does not place the pod.
func (f *fixture) because(name, detail string) {
	i := slices.IndexFunc(f.plan.Unschedulable, func(u scheduling.Unschedulable) bool { return strings.HasSuffix(u.Pod, "/"+name) })
	f.plan.Unschedulable[i].Reasons[0].Detail = detail
}

// onto adds pods that the plan places on an existing node.
func (f *fixture) onto(node string, names ...string) *fixture {
	a := scheduling.Assignment{Node: node}
	for _, name := range names {
		a.Pods = append(a.Pods, "default/"+name)
	}
	f.plan.Existing = append(f.plan.Existing, a)
	f.sum()
	return f
}

func addTo(total, more corev1.ResourceList) {
	for name, q := range more {
		sum := total[name].DeepCopy()
		sum.Add(q)
		total[name] = sum
	}
}
