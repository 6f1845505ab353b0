package steps

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/launchplan"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/sums"
)

// worthCheck judges the savings and costs of a step.
type worthCheck struct {
	cluster *clusterState
	report  *rule.Report
	step    *disruption.Step
	going   []*clusterNode
	moves   []move
}

// worth checks price, cost and score of the step, and that it is worth while.
func (c *worthCheck) worth() {
	saved, unknown := new(big.Int), false
	cost := 0.0
	for _, s := range c.going {
		saved.Add(saved, big.NewInt(s.price))
		unknown = unknown || !s.priced
		cost += c.cluster.costs.nodeCost()
	}
	for _, m := range c.moves {
		cost += c.cluster.costs.podCost(m.pod)
	}
	gone := new(big.Int).Set(saved)
	dearest := new(big.Int).Set(saved) // the saving at the dearest options
	for i := range c.step.Launches {
		l := &c.step.Launches[i]
		first, most := l.Price, l.Price
		for k := range l.Options {
			price := c.cluster.costs.expectedOf(l, &l.Options[k])
			if k == 0 {
				first = price
			}
			most = max(most, price)
		}
		saved.Sub(saved, big.NewInt(int64(first)))
		dearest.Sub(dearest, big.NewInt(int64(most)))
	}
	if saved.Cmp(big.NewInt(int64(c.step.SavingPerHour))) != 0 {
		c.report.Add(rule.StepSaving, "step", "saving is $%v per hour, want $%s", c.step.SavingPerHour, snapshot.USD(saved))
	}
	if !sums.Alike(c.step.DisruptionCost, cost) {
		c.report.Add(rule.StepCost, "step", "disruption cost is %v, want %v", c.step.DisruptionCost, cost)
	}
	if c.step.Reason == disruption.Underutilized && !unknown {
		if asked := c.leastSaving(gone); dearest.Cmp(asked) < 0 {
			c.report.Add(rule.SavingTooSmall, "step", "saves $%s per hour with its most expensive options, must save at least $%s", snapshot.USD(dearest), snapshot.USD(asked))
		}
		c.spotForSpot()
	}
	c.score(float64(c.step.SavingPerHour), cost)
}

// leastSaving returns the saving per hour that the planner demands where nodes of that price go.
func (c *worthCheck) leastSaving(price *big.Int) *big.Int {
	least := &c.cluster.rules.planner.MinSaving
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

// spotForSpot checks that the planner allows a step to replace spot by spot. A step does so if it removes spot nodes only,
// or launches as many nodes as it removes.
func (c *worthCheck) spotForSpot() {
	spot := 0
	for _, s := range c.going {
		if s.node.Running.Labels[offerings.CapacityTypeLabel] == string(offerings.Spot) {
			spot++
		}
	}
	fewer := len(c.step.Launches) < len(c.going)
	if spot == 0 || spot < len(c.going) && fewer {
		return
	}
	want := c.cluster.rules.planner.SpotToSpotTypes
	if want == 0 {
		want = 15
	}
	for i := range c.step.Launches {
		l := &c.step.Launches[i]
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
			c.report.Add(rule.SpotToSpot, launchplan.ObjectName(l), "replaces spot with spot, which is not enabled")
		case others > 0:
			c.report.Add(rule.SpotToSpot, launchplan.ObjectName(l), "replaces spot with spot, and %d options are not spot", others)
		case !fewer && len(types) < want:
			c.report.Add(rule.SpotToSpot, launchplan.ObjectName(l), "replaces spot with spot with %d instance types, must have at least %d", len(types), want)
		}
	}
}

// score checks the step's score, and that it suffices for pools with policy Balanced.
func (c *worthCheck) score(saving, cost float64) {
	// nodeSums are the prices and disruption costs of the nodes that the step removes, and of all nodes.
	type nodeSums struct{ price, cost, allPrice, allCost float64 }
	pools := make(map[*snapshot.Pool]*nodeSums)
	all := &nodeSums{}
	for _, name := range slices.Sorted(maps.Keys(c.cluster.nodes)) {
		s := c.cluster.nodes[name]
		if s.node.Pool == nil {
			continue
		}
		if pools[s.node.Pool] == nil {
			pools[s.node.Pool] = &nodeSums{}
		}
		removal := c.cluster.costs.removal(s)
		for _, x := range []*nodeSums{all, pools[s.node.Pool]} {
			x.allPrice += float64(s.price)
			x.allCost += removal
			if slices.Contains(c.going, s) {
				x.price += float64(s.price)
				x.cost += removal
			}
		}
	}
	value := func(saving, cost float64, x *nodeSums) float64 {
		switch {
		case saving <= 0 || x.allPrice <= 0 || x.allCost <= 0:
			return 0
		case cost <= 0:
			return math.MaxFloat64
		}
		return min(saving/x.allPrice/(cost/x.allCost), math.MaxFloat64)
	}
	price := 0.0
	for _, s := range c.going {
		price += float64(s.price)
	}
	want, found := value(saving, cost, all), false
	k := c.cluster.rules.planner.BalancedK
	if k == 0 {
		k = 2
	}
	for _, pl := range c.cluster.state.SortedPools() {
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
		if n < 1/k*(1-1e-6) && c.step.Reason == disruption.Underutilized {
			c.report.Add(rule.BelowThreshold, "nodepool/"+pl.Object.Name, "score is %v, must be at least %v", n, 1/k)
		}
	}
	if !(math.Abs(c.step.Score-want) <= 1e-6*max(1e-6, math.Abs(want))) {
		c.report.Add(rule.StepScore, "step", "score is %v, want %v", scoreText(c.step.Score), scoreText(want))
	}
}

// scoreText writes a score; that of a step which costs no disruption is the largest number.
func scoreText(score float64) string {
	if score == math.MaxFloat64 {
		return "the largest number, as for no disruption"
	}
	return strconv.FormatFloat(score, 'g', -1, 64)
}
