package verify

import (
	"math"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// gapTolerance allows for the rounding of a floating-point division.
const gapTolerance = 1e-9

// summary checks that the plan adds up.
func (j *judge) summary() {
	s := &j.plan.Summary
	j.summaryCounts(s)
	total := new(big.Int)
	for i := range j.plan.Launches {
		total.Add(total, big.NewInt(int64(j.plan.Launches[i].Price)))
	}
	if total.Cmp(big.NewInt(int64(s.PricePerHour))) != 0 {
		j.add(SummaryPrice, "summary", "price per hour is %v, the launches cost %v nano-USD", s.PricePerHour, total)
	}
	price := j.expected(s)
	if s.LowerBoundPerHour < 0 || s.LowerBoundPerHour > price {
		j.add(BoundAbovePrice, "summary", "lower bound %v, price %v", s.LowerBoundPerHour, price)
	}
	if want := gap(price, s.LowerBoundPerHour); !(math.Abs(s.Gap-want) <= gapTolerance*max(1, want)) {
		j.add(SummaryGap, "summary", "gap is %v, want %v", s.Gap, want)
	}
	switch s.Status {
	case scheduling.StatusComplete, scheduling.StatusDeadline:
	case scheduling.StatusOptimal:
		if price != s.LowerBoundPerHour {
			j.add(SummaryStatus, "summary", "optimal with price %v and lower bound %v", price, s.LowerBoundPerHour)
		}
	default:
		j.add(SummaryStatus, "summary", "unknown status %q", s.Status)
	}
	j.shares("pools", s.Pools, func(l *scheduling.Launch) string { return l.NodePool })
	j.shares("capacityTypes", s.CapacityTypes, func(l *scheduling.Launch) string {
		if len(l.Options) == 0 {
			return ""
		}
		return string(l.Options[0].CapacityType)
	})
	j.resourceUse(s.Resources)
}

// gap is how far the price lies above the bound, as a share of the bound; 0 where
// the bound is 0 and there is no such share.
func gap(price, bound offerings.Price) float64 {
	if bound == 0 {
		return 0
	}
	return float64(price-bound) / float64(bound)
}

func (j *judge) summaryCounts(s *scheduling.Summary) {
	placed := 0
	for i := range j.plan.Launches {
		placed += len(j.plan.Launches[i].Pods)
	}
	for _, a := range j.plan.Existing {
		placed += len(a.Pods)
	}
	silent := 0
	for _, t := range j.Pods {
		if t.Requests.Of(corev1.ResourceCPU).Sign() == 0 && t.Requests.Of(corev1.ResourceMemory).Sign() == 0 {
			silent++
		}
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"pods", s.Pods, len(j.Pods)},
		{"placed", s.Placed, placed},
		{"nodes", s.Nodes, len(j.plan.Launches)},
		{"podsWithoutRequests", s.PodsWithoutRequests, silent},
	} {
		if c.got != c.want {
			j.add(SummaryCounts, "summary", "%s is %d, want %d", c.what, c.got, c.want)
		}
	}
}

// shares checks a split of nodes and price. Parts of which there are none may be listed.
func (j *judge) shares(what string, got []scheduling.Share, part func(*scheduling.Launch) string) {
	want := make(map[string]scheduling.Share)
	for i := range j.plan.Launches {
		l := &j.plan.Launches[i]
		name := part(l)
		if name == "" {
			continue // a launch without options, which is said already
		}
		s := want[name]
		s.Nodes++
		s.PricePerHour += l.Price
		want[name] = s
	}
	for i, s := range got {
		if slices.ContainsFunc(got[:i], func(o scheduling.Share) bool { return o.Name == s.Name }) {
			j.add(SummaryShares, "summary", "%s lists %s twice", what, s.Name)
		}
		if w := want[s.Name]; s.Nodes != w.Nodes || s.PricePerHour != w.PricePerHour {
			j.add(SummaryShares, "summary", "%s: %s has %d nodes for %v, want %d for %v", what, s.Name, s.Nodes, s.PricePerHour, w.Nodes, w.PricePerHour)
		}
		delete(want, s.Name)
	}
	for i := range j.plan.Launches {
		name := part(&j.plan.Launches[i])
		if _, missing := want[name]; missing {
			j.add(SummaryShares, "summary", "%s does not list %s", what, name)
			delete(want, name)
		}
	}
}

// resourceUse checks where the bought capacity is said to go. Which resources are
// listed is the plan's choice.
func (j *judge) resourceUse(got []scheduling.ResourceUse) {
	capacity, reserved, daemons, pods := snapshot.Amounts{}, snapshot.Amounts{}, snapshot.Amounts{}, snapshot.Amounts{}
	for _, r := range j.launches {
		first := r.first()
		if first == nil {
			return // said already, and nothing can be added up
		}
		capacity.Add(first.Capacity)
		reserved.Add(first.Capacity.Minus(first.Allocatable))
		daemons.Add(first.Daemons)
		for _, t := range r.pods {
			pods.Add(t.Requests)
		}
	}
	for i, u := range got {
		if slices.ContainsFunc(got[:i], func(o scheduling.ResourceUse) bool { return o.Resource == u.Resource }) {
			j.add(SummaryResources, "summary", "%s is listed twice", u.Resource)
		}
		name := corev1.ResourceName(u.Resource)
		free := new(big.Int).Sub(capacity.Of(name), reserved.Of(name))
		free.Sub(free, daemons.Of(name)).Sub(free, pods.Of(name))
		for _, c := range []struct {
			what string
			got  int64
			want *big.Int
		}{
			{"capacity", u.Capacity, capacity.Of(name)},
			{"reserved", u.Reserved, reserved.Of(name)},
			{"daemons", u.Daemons, daemons.Of(name)},
			{"pods", u.Pods, pods.Of(name)},
			{"free", u.Free, free},
		} {
			if c.want.Cmp(big.NewInt(c.got)) != 0 {
				j.add(SummaryResources, "summary", "%s: %s is %d, want %v", u.Resource, c.what, c.got, c.want)
			}
		}
	}
}

// expected checks what the plan says that its machines are expected to cost, and returns
// the price that bound and gap are about.
func (j *judge) expected(s *scheduling.Summary) offerings.Price {
	if s.NodeOverheadPerHour != j.Policy.NodeOverhead {
		j.add(SummaryExpected, "summary", "node overhead is %v, want %v", s.NodeOverheadPerHour, j.Policy.NodeOverhead)
	}
	if !j.Expects() {
		if s.ExpectedPerHour != 0 {
			j.add(SummaryExpected, "summary", "expected price is %v, and machines cost nothing beside their prices", s.ExpectedPerHour)
		}
		return s.PricePerHour
	}
	total := new(big.Int)
	for _, r := range j.launches {
		first := r.first()
		if first == nil {
			return s.ExpectedPerHour // said already, and nothing can be added up
		}
		total.Add(total, big.NewInt(int64(j.Objective(first.Kind, first.Offering))))
	}
	if total.Cmp(big.NewInt(int64(s.ExpectedPerHour))) != 0 {
		j.add(SummaryExpected, "summary", "expected price per hour is %v, the launches come to %v nano-USD", s.ExpectedPerHour, total)
	}
	return s.ExpectedPerHour
}
