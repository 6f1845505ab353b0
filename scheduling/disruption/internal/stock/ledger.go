package stock

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// account is a limit of a NodePool, or a reservation, whose pool is "".
type account struct{ pool, name string }

// ledger is what there is in accounts, or is taken from them: machines, or amounts of a resource in base units.
type ledger map[account]int64

// spend takes n times what a machine of a pool counts for towards the pool's limits.
func (l ledger) spend(pool *scheduling.NodePool, capacity corev1.ResourceList, n int64) {
	limited := compile.LimitedResources(pool)
	for i, use := range compile.LimitUse(limited, capacity) {
		l[account{pool.Name, string(limited[i])}] -= n * use
	}
}

// Affords reports whether reservations have the machines that launches take from them, and limits of NodePools what they
// take beside nodes. It leaves launches the options for which that is so whichever one of them is bought instead of its first.
func (s *Stock) Affords(launches []scheduling.Launch, nodes iter.Seq[*corev1.Node]) bool {
	left := s.left(launches, nodes)
	for i := range launches {
		for a, n := range s.takes(&launches[i], &launches[i].Options[0]) {
			if left[a] -= n; left[a] < 0 {
				return false
			}
		}
	}
	for i := range launches {
		l := &launches[i]
		first := s.takes(l, &l.Options[0])
		l.Options = slices.DeleteFunc(slices.Clone(l.Options), func(x scheduling.Option) bool {
			for a, n := range s.takes(l, &x) {
				if n-first[a] > left[a] {
					return true
				}
			}
			return false
		})
	}
	return true
}

// takes is what an option of a launch takes.
func (s *Stock) takes(l *scheduling.Launch, x *scheduling.Option) ledger {
	out := ledger{}
	if x.ReservationID != "" {
		out[account{name: x.ReservationID}] = 1
	}
	catalog := s.of(l.NodePool)
	if o, ok := catalog.Lookup(x.Key()); ok {
		t, _ := catalog.Get(x.InstanceType)
		out.spend(s.nodePools[l.NodePool], t.CapacityOf(o), -1)
	}
	return out
}

// left is what reservations have left, and the limits of the NodePools of launches beside nodes. Where offerings differ in
// what they say of a reservation, the least counts, as it does for the solver.
func (s *Stock) left(launches []scheduling.Launch, nodes iter.Seq[*corev1.Node]) ledger {
	out, reserved := ledger{}, false
	for i := range launches {
		l := &launches[i]
		reserved = reserved || slices.ContainsFunc(l.Options, func(x scheduling.Option) bool { return x.ReservationID != "" })
		for name, q := range s.nodePools[l.NodePool].Spec.Limits {
			out[account{l.NodePool, string(name)}] = podspec.Amount(name, q)
		}
	}
	if len(out) > 0 {
		for node := range nodes {
			pool := s.nodePools[node.Labels[scheduling.NodePoolLabel]]
			if pool != nil && podspec.TakesOfLimits(node) {
				out.spend(pool, compile.NodeCapacity(s.problem, node), 1)
			}
		}
	}
	if !reserved {
		return out
	}
	for _, c := range s.catalogs() {
		for t := range c.All() {
			for _, o := range t.Offerings {
				if o.CapacityType != offerings.Reserved {
					continue
				}
				a := account{name: o.ReservationID}
				if n, ok := out[a]; !ok || int64(o.ReservationCount) < n {
					out[a] = int64(o.ReservationCount)
				}
			}
		}
	}
	return out
}
