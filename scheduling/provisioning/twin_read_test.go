package provisioning_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// newTwin reads a problem for the twin. overhead is the cost of a node beside its price.
func newTwin(p scheduling.Problem, overhead offerings.Price) *twin {
	w := &twin{pods: p.Pods, pools: p.NodePools, left: map[string]int64{}, fits: make([][]int, 1<<len(p.Pods))}
	w.ties = newTwinTies(p)
	for _, n := range p.Nodes {
		w.left[n.Name] = 1
		o := twinOption{pool: noPool, reservation: n.Name, use: 1, labels: n.Labels, free: amounts(n.Status.Allocatable)}
		for _, pod := range p.Running {
			if pod.Spec.NodeName == n.Name {
				o.running = append(o.running, pod)
				o.free = minus(o.free, demand(pod))
			}
		}
		w.add(p, o)
	}
	for i, pool := range p.NodePools {
		for t := range p.Catalog.All() {
			for _, o := range t.Offerings {
				labels := t.NodeLabels(o)
				labels[scheduling.NodePoolLabel] = pool.Name
				for k, v := range pool.Spec.Template.Metadata.Labels {
					labels[k] = v
				}
				// Where offerings disagree about a reservation, the least is believed (P149).
				if left, ok := w.left[o.ReservationID]; !ok || o.ReservationCount < left {
					w.left[o.ReservationID] = o.ReservationCount
				}
				w.add(p, twinOption{
					pool: i, typeName: t.Name, cpu: t.Capacity.Cpu().Value(), price: o.Price + overhead, reservation: o.ReservationID, use: max(o.ReservationUse, 1), labels: labels,
					free: amounts(t.AllocatableOf(o)),
				})
			}
		}
	}
	w.ties.survey(w)
	return w
}

// add takes an option in, less the daemons that run there.
func (w *twin) add(p scheduling.Problem, o twinOption) {
	for _, d := range p.DaemonSets {
		daemon := &corev1.Pod{Spec: d.Spec.Template.Spec}
		if w.allows(daemon, o) {
			o.free = minus(o.free, demand(daemon))
		}
	}
	w.options = append(w.options, o)
}

func amounts(list corev1.ResourceList) [4]int64 {
	gpu := list["nvidia.com/gpu"]
	return [4]int64{list.Cpu().MilliValue(), list.Memory().Value(), list.Pods().Value(), gpu.Value()}
}

func demand(p *corev1.Pod) [4]int64 {
	d := amounts(p.Spec.Containers[0].Resources.Requests)
	d[2] = 1
	return d
}

func minus(a, b [4]int64) [4]int64 {
	for i := range a {
		a[i] -= b[i]
	}
	return a
}

// allows reports whether the pod may be on the option, its size aside.
func (w *twin) allows(pod *corev1.Pod, o twinOption) bool {
	var taints []corev1.Taint
	if o.pool != noPool {
		taints = w.pools[o.pool].Spec.Template.Spec.Taints
	}
	for _, t := range taints {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool { return x.Key == "" || x.Key == t.Key })
		if !tolerated {
			return false
		}
	}
	if !requirements.FromLabels(pod.Spec.NodeSelector).Matches(o.labels) {
		return false
	}
	if a := pod.Spec.Affinity; a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool {
		set, err := requirements.FromNodeSelector(term.MatchExpressions)
		return err == nil && set.Matches(o.labels)
	})
}
