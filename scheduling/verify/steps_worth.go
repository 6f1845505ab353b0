package verify

import (
	"maps"
	"math"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// priceOf is what the machine of a node costs by the catalog, on sale or not, and what it is
// expected to cost all in all; false where the catalog does not tell.
func (g *clusterState) priceOf(node *corev1.Node) (bare, expected offerings.Price, ok bool) {
	catalog := g.state.Problem.Catalog
	if pl := g.state.Pools[poolOf(node)]; pl != nil {
		catalog = pl.Catalog
	}
	labels := stableLabels(node)
	t, ok := catalog.Get(labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return 0, 0, false
	}
	id := labels[offerings.ReservationIDLabel]
	for _, o := range t.Offerings {
		if o.Zone != labels[corev1.LabelTopologyZone] || string(o.CapacityType) != labels[scheduling.CapacityTypeLabel] {
			continue
		}
		if o.CapacityType == offerings.Reserved && id != "" && o.ReservationID != id {
			continue
		}
		return o.Price, g.state.Policy.Objective(t, o), true
	}
	return 0, 0, false
}

// expectedOf is what an option of a launch is expected to cost, its price if the catalog does
// not have it.
func (g *clusterState) expectedOf(l *scheduling.Launch, o *scheduling.Option) offerings.Price {
	if pl := g.state.Pools[l.NodePool]; pl != nil {
		if t, ok := pl.Catalog.Get(o.InstanceType); ok {
			if offering, ok := snapshot.FindOffering(t, o.Zone, o.CapacityType, o.ReservationID); ok {
				return g.state.Policy.Objective(t, offering)
			}
		}
	}
	return o.Price
}

// stableLabels are the labels of a node under their stable keys.
func stableLabels(node *corev1.Node) map[string]string {
	labels := make(map[string]string)
	for key, value := range node.Labels {
		if stable := requirements.NormalizeKey(key); stable != key {
			labels[stable] = value
		}
	}
	maps.Copy(labels, node.Labels)
	return labels
}

// podCost is what evicting the pod counts: Karpenter's formula where the planner has none.
func (g *clusterState) podCost(pod *corev1.Pod) float64 {
	var cost float64
	if of := g.checker.Planner.PodCost; of != nil {
		cost = of(pod)
	} else {
		cost = disruption.PodDisruptionCost(pod)
	}
	if math.IsNaN(cost) {
		return 0
	}
	return min(max(cost, 0), math.MaxFloat32)
}

func (g *clusterState) nodeCost() float64 {
	if n := g.checker.Planner.NodeCost; n != 0 {
		return n
	}
	return 1
}

// removal is what removing the node counts.
func (g *clusterState) removal(s *clusterNode) float64 {
	if s.removal == nil {
		cost := g.nodeCost()
		for _, pod := range s.pods {
			if livesOn(pod) {
				cost += g.podCost(pod)
			}
		}
		s.removal = &cost
	}
	return *s.removal
}

// worth checks price, cost and score of the step, and that it is worth while.
func (a *stepCheck) worth() {
	saved, unknown := new(big.Int), false
	cost := 0.0
	for _, s := range a.going {
		saved.Add(saved, big.NewInt(s.price))
		unknown = unknown || !s.priced
		cost += a.cluster.nodeCost()
	}
	for _, m := range a.moves {
		cost += a.cluster.podCost(m.pod)
	}
	gone := new(big.Int).Set(saved)
	dearest := new(big.Int).Set(saved) // what is saved whatever is bought
	for i := range a.step.Launches {
		l := &a.step.Launches[i]
		first, most := l.Price, l.Price
		for k := range l.Options {
			price := a.cluster.expectedOf(l, &l.Options[k])
			if k == 0 {
				first = price
			}
			most = max(most, price)
		}
		saved.Sub(saved, big.NewInt(int64(first)))
		dearest.Sub(dearest, big.NewInt(int64(most)))
	}
	if saved.Cmp(big.NewInt(int64(a.step.SavingPerHour))) != 0 {
		a.report.add(StepSaving, "step", "saves %v nano-USD per hour, and is said to save %v", saved, a.step.SavingPerHour)
	}
	if !alike(a.step.DisruptionCost, cost) {
		a.report.add(StepCost, "step", "disruption cost is %v, want %v", a.step.DisruptionCost, cost)
	}
	if a.step.Reason == disruption.Underutilized && !unknown {
		if asked := a.leastSaving(gone); dearest.Cmp(asked) < 0 {
			a.report.add(SavingTooSmall, "step", "may save as little as %v nano-USD per hour, and has to save %v", dearest, asked)
		}
		a.spotForSpot()
	}
	a.score(float64(a.step.SavingPerHour), cost)
}

// leastSaving is what has to be saved where nodes of that price go.
func (a *stepCheck) leastSaving(price *big.Int) *big.Int {
	least := &a.cluster.checker.Planner.MinSaving
	asked := big.NewInt(max(1, int64(least.PerHour)))
	raise := func(n *big.Int) {
		if n.Cmp(asked) > 0 {
			asked = n
		}
	}
	if least.PerMonth > 0 {
		raise(big.NewInt((int64(least.PerMonth) + 729) / 730))
	}
	if least.Share > 0 {
		// A share is a fraction: one part in a billion is for rounding.
		share, _ := new(big.Float).Mul(new(big.Float).SetInt(price), big.NewFloat(least.Share*(1-1e-9))).Int(nil)
		raise(share)
	}
	return asked
}

// spotForSpot checks that spot machines are replaced by spot as the planner allows it: they are where
// nothing else goes, or where as many machines come as go.
func (a *stepCheck) spotForSpot() {
	spot := 0
	for _, s := range a.going {
		if s.node.Running.Labels[scheduling.CapacityTypeLabel] == string(offerings.Spot) {
			spot++
		}
	}
	fewer := len(a.step.Launches) < len(a.going)
	if spot == 0 || spot < len(a.going) && fewer {
		return
	}
	want := a.cluster.checker.Planner.SpotToSpotTypes
	if want == 0 {
		want = 15
	}
	for i := range a.step.Launches {
		l := &a.step.Launches[i]
		types := make(map[string]bool)
		others := 0
		for k := range l.Options {
			if l.Options[k].CapacityType == offerings.Spot {
				types[l.Options[k].InstanceType] = true
			} else {
				others++
			}
		}
		switch {
		case len(l.Options) == 0 || l.Options[0].CapacityType != offerings.Spot:
		case want < 0:
			a.report.add(SpotToSpot, launchName(l), "spot takes the place of spot")
		case others > 0:
			a.report.add(SpotToSpot, launchName(l), "spot takes the place of spot, and %d options are no spot", others)
		case !fewer && len(types) < want:
			a.report.add(SpotToSpot, launchName(l), "%d types could take the place of a spot machine, want %d", len(types), want)
		}
	}
}

// score checks what the step says it is worth, and that this is enough for pools with policy
// Balanced.
func (a *stepCheck) score(saving, cost float64) {
	type side struct{ price, cost, allPrice, allCost float64 }
	pools := make(map[*snapshot.Pool]*side)
	all := &side{}
	for _, name := range slices.Sorted(maps.Keys(a.cluster.there)) {
		s := a.cluster.there[name]
		if s.node.Pool == nil {
			continue
		}
		if pools[s.node.Pool] == nil {
			pools[s.node.Pool] = &side{}
		}
		removal := a.cluster.removal(s)
		for _, x := range []*side{all, pools[s.node.Pool]} {
			x.allPrice += float64(s.price)
			x.allCost += removal
			if a.goes(s.node.Name) {
				x.price += float64(s.price)
				x.cost += removal
			}
		}
	}
	value := func(saving, cost float64, x *side) float64 {
		switch {
		case saving <= 0 || x.allPrice <= 0 || x.allCost <= 0:
			return 0
		case cost <= 0:
			return math.MaxFloat64
		}
		return min(saving/x.allPrice/(cost/x.allCost), math.MaxFloat64)
	}
	price := 0.0
	for _, s := range a.going {
		price += float64(s.price)
	}
	want, found := value(saving, cost, all), false
	k := a.cluster.checker.Planner.BalancedK
	if k == 0 {
		k = 2
	}
	for _, pl := range a.cluster.state.SortedPools() {
		x := pools[pl]
		if x == nil || x.cost == 0 || pl.Object.Spec.Disruption.ConsolidationPolicy != scheduling.Balanced {
			continue
		}
		own := saving
		if price > 0 {
			own = saving * (x.price / price)
		}
		n := value(own, x.cost, x)
		if !found || n < want {
			want, found = n, true
		}
		if n < 1/k*(1-1e-6) && a.step.Reason == disruption.Underutilized {
			a.report.add(BelowThreshold, "nodepool/"+pl.Object.Name, "score is %v, want at least %v", n, 1/k)
		}
	}
	if !(math.Abs(a.step.Score-want) <= 1e-6*max(1e-6, math.Abs(want))) {
		a.report.add(StepScore, "step", "score is %v, want %v", a.step.Score, want)
	}
}
