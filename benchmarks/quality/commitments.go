package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// committed is a problem under commitments: the bills of a plan at list prices and of one that draws on the commitments, and a
// lower bound on the bill of every plan.
type committed struct {
	mix   mix.Mix
	bills [2]offerings.Price // at list prices, drawing on commitments
	bound offerings.Price
	share float64 // of the list prices of the plan at list prices that the commitments cover at most
}

// commitments plans mixes and round sizes on demand under a savings plan and reserved instances that are each worth 15 % of the list price.
func commitments(ctx context.Context, s *settings, out io.Writer) error {
	fmt.Fprint(out, "| problem | pods | covered at most | bill, planned at list prices | drawing on commitments | bound | gap | gap at list prices |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	mixes, rounds := mix.Random(), mix.RoundSizes()
	var gaps, first []float64
	err := each(s.parallel, s.count, func(i int) (committed, error) {
		draw := mixes
		if i%2 == 1 {
			draw = rounds
		}
		m := draw(s.seed + uint64(i))
		c, err := underCommitments(ctx, s, m)
		if err != nil {
			err = fmt.Errorf("problem %d: %w", m.Seed, err)
		}
		return c, err
	}, func(c committed) {
		gap := func(bill offerings.Price) float64 { return 100 * (bill.USD()/c.bound.USD() - 1) }
		best := min(c.bills[0], c.bills[1])
		gaps, first = append(gaps, gap(best)), append(first, gap(c.bills[0]))
		fmt.Fprintf(out, "| %s %d | %d | %.0f %% | %.4f | %.4f | %.4f | %.2f %% | %.2f %% |\n", c.mix.Market, c.mix.Seed, len(c.mix.Pods), 100*c.share,
			c.bills[0].USD(), c.bills[1].USD(), c.bound.USD(), gap(best), gap(c.bills[0]))
	})
	for i, list := range [][]float64{gaps, first} {
		if slices.Sort(list); len(list) > 0 {
			fmt.Fprintf(out, "\ngap of the %s: median %.2f %%, nine of ten at most %.2f %%, largest %.2f %%\n", []string{"lower bill", "plan at list prices"}[i], list[len(list)/2], list[len(list)*9/10], list[len(list)-1])
		}
	}
	return err
}

// underCommitments plans a problem on demand twice.
func underCommitments(ctx context.Context, s *settings, m mix.Mix) (committed, error) {
	c := committed{mix: m}
	listed := m.Problem
	listed.Catalog = m.Catalog.Filter(instancetypes.ByCapacityType(offerings.OnDemand))
	listed.NodePools = lo.Map(m.NodePools, func(n *scheduling.NodePool, _ int) *scheduling.NodePool {
		n = n.DeepCopy()
		for i := range n.Spec.Template.Spec.Requirements {
			if r := &n.Spec.Template.Spec.Requirements[i]; r.Key == offerings.CapacityTypeLabel {
				r.Values = []string{string(offerings.OnDemand)}
			}
		}
		return n
	})
	first, err := s.solve(ctx, listed)
	if err != nil {
		return c, fmt.Errorf("at list prices: %w", err)
	}
	paid := worth(first.Launches, first.Summary.PricePerHour/100*15)
	draws := listed
	if draws.Catalog, err = billing.NewBalance(nil, paid).Offer(listed.Catalog, listed.Catalog); err != nil {
		return c, err
	}
	second, err := s.solve(ctx, draws)
	if err != nil {
		return c, fmt.Errorf("drawing on commitments: %w", err)
	}
	for i, a := range []answer{first, second} {
		bill := billing.Settle(usagesOf(listed.Catalog, a.Launches), paid)
		c.bills[i] = bill.PerHour
	}
	most := billing.MostCovered(paid, listed.Catalog)
	c.share = most.USD() / first.Summary.PricePerHour.USD()
	bill := billing.Settle(nil, paid)
	c.bound = offerings.Sum(bill.Committed, max(first.Summary.LowerBoundPerHour-most, 0))
	return c, nil
}

// worth are a savings plan of all types and reserved instances of the type of which launches have the most, each worth about a
// list price per hour.
func worth(launches []scheduling.Launch, price offerings.Price) []billing.Commitment {
	spent := map[string]offerings.Price{}
	most := &launches[0].Options[0]
	for i := range launches {
		o := &launches[i].Options[0]
		if spent[o.InstanceType] += o.Price; spent[o.InstanceType] > spent[most.InstanceType] {
			most = o
		}
	}
	const one billing.Units = 1_000_000_000
	return []billing.Commitment{
		{ID: "plan", Kind: billing.SavingsPlan, Amount: billing.Units(price / 100 * 72), Factor: one / 100 * 72},
		{ID: "reserved", Kind: billing.ReservedInstances, Amount: max(1, billing.Units(price/most.Price)) * one, InstanceType: most.InstanceType, SizeFlexible: true, CostPerHour: max(1, price/most.Price) * most.Price / 100 * 62},
	}
}

// usagesOf are the nodes of launches, at list prices.
func usagesOf(catalog *instancetypes.Catalog, launches []scheduling.Launch) (list []billing.Usage) {
	for i := range launches {
		l := &launches[i]
		key := l.Options[0].Key()
		key.ReservationID = ""
		o, _ := catalog.Lookup(key)
		t, _ := catalog.Get(key.InstanceType)
		list = append(list, billing.UsageOf(l.Name, t, &o))
	}
	return list
}
