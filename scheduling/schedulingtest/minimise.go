package schedulingtest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Minimise makes a problem smaller for as long as it keeps failing, so that people
// can read it: it drops pods, pools, nodes, running pods, DaemonSets, volumes and what
// else there is, instance types and offerings, and what pods and pools ask for, one
// after the other. The
// result fails; dropping any one further part of it would not.
func Minimise(p scheduling.Problem, fails func(scheduling.Problem) bool) scheduling.Problem {
	for {
		q, smaller := shrink(p, fails)
		if !smaller {
			return p
		}
		p = q
	}
}

// shrink tries every way to make p smaller once.
func shrink(p scheduling.Problem, fails func(scheduling.Problem) bool) (scheduling.Problem, bool) {
	smaller := false
	try := func(q scheduling.Problem) bool {
		if !fails(q) {
			return false
		}
		p, smaller = q, true
		return true
	}
	dropEach(p.Pods, func(l []*corev1.Pod) bool { q := p; q.Pods = l; return try(q) })
	dropEach(p.Running, func(l []*corev1.Pod) bool { q := p; q.Running = l; return try(q) })
	dropEach(p.Nodes, func(l []*corev1.Node) bool { q := p; q.Nodes = l; return try(q) })
	dropEach(p.NodePools, func(l []*scheduling.NodePool) bool { q := p; q.NodePools = l; return try(q) })
	dropEach(p.DaemonSets, func(l []*daemonSet) bool { q := p; q.DaemonSets = l; return try(q) })
	dropSurroundings(&p, try)
	if p.Unavailable != nil {
		q := p
		q.Unavailable = nil
		try(q)
	}
	if p.Catalog != nil {
		types := slices.Collect(p.Catalog.All())
		sell := func(l []*instancetypes.InstanceType) bool {
			c, err := instancetypes.NewCatalog(l...)
			q := p
			q.Catalog = c
			return err == nil && try(q)
		}
		types = dropEach(types, sell)
		for i := range types {
			dropEach(types[i].Offerings, func(l []offerings.Offering) bool {
				t := types[i].DeepCopy()
				t.Offerings = l
				with := slices.Clone(types)
				with[i] = t
				if !sell(with) {
					return false
				}
				types = with
				return true
			})
		}
	}
	changePods(p.Pods, func(l []*corev1.Pod) bool { q := p; q.Pods = l; return try(q) })
	changePods(p.Running, func(l []*corev1.Pod) bool { q := p; q.Running = l; return try(q) })
	for i := range p.NodePools {
		for _, change := range poolChanges() {
			pool := copyPool(p.NodePools[i])
			if change(pool) {
				q := p
				q.NodePools = slices.Clone(p.NodePools)
				q.NodePools[i] = pool
				try(q)
			}
		}
	}
	return p, smaller
}

// changePods makes pods ask for less, one thing of one pod after the other.
func changePods(pods []*corev1.Pod, try func([]*corev1.Pod) bool) {
	for i := range pods {
		for _, change := range podChanges() {
			pod := pods[i].DeepCopy()
			if !change(pod) {
				continue
			}
			with := slices.Clone(pods)
			with[i] = pod
			if try(with) {
				pods = with
			}
		}
	}
}

// dropEach drops every entry that can be dropped and returns the rest. Halves are
// tried first, since most of a large problem has nothing to do with the failure.
func dropEach[T any](list []T, try func([]T) bool) []T {
	for size := max(len(list)/2, 1); len(list) > 0; size /= 2 {
		for i := 0; i < len(list); {
			end := min(i+size, len(list))
			rest := slices.Concat(list[:i], list[end:])
			if try(rest) {
				list = rest
			} else {
				i = end
			}
		}
		if size <= 1 {
			break
		}
	}
	return list
}
