package main

import (
	"github.com/samber/lo"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// bill writes the bill of all nodes before and after a plan, and the use of each commitment; nothing for a plan without a bill.
func (t *table) bill(change *billing.Statement) {
	if change == nil {
		return
	}
	t.section("BILL OF ALL NODES")
	rows := [][]string{{"", "NOW $/HOUR", "AFTER $/HOUR", "AFTER $/MONTH"}}
	for _, part := range bills.Parts(change) {
		rows = append(rows, []string{part.Name, figures.Plain(part.Before), figures.Plain(part.After), figures.PlainMonthly(part.After)})
	}
	t.headed(rows)
	for _, note := range bills.Notes(&change.After) {
		t.line("%s%s", t.indent(), note)
	}
	before := bills.Uses(&change.Before)
	tabulate(t, "COMMITMENTS", []string{"COMMITMENT", "UNIT", "COMMITTED", "ELSEWHERE", "USED NOW", "AFTER", "UNUSED"}, bills.Uses(&change.After), func(u billing.Use, i int) []string {
		return []string{u.Commitment, u.Unit, bills.Amount(u.Amount), bills.Amount(u.Elsewhere), bills.Amount(before[i].Used), bills.Amount(u.Used), bills.Amount(u.Unused)}
	}, "ELSEWHERE")
	tabulate(t, "COMMITMENTS ON OFFER", bills.OfferColumns(), cut(bills.Offers(change), t.view.most(10)), asItIs, "COMMITTED $/HOUR", "NODES")
	for _, note := range bills.OfferNotes(change) {
		t.line("%s%s", t.indent(), note)
	}
}

// underBill says in a summary by how much a plan changes the bill, and the part of it that discounts take off.
func (t *table) underBill(change *billing.Statement) {
	if change == nil {
		return
	}
	before, after := &change.Before, &change.After
	rises := after.PerHour - before.PerHour
	verb := "rises"
	if rises < 0 {
		verb, rises = "falls", -rises
	}
	share := ""
	if before.PerHour > 0 {
		share = " (" + figures.Percent(rises.USD()/before.PerHour.USD()) + ")"
	}
	t.line("The bill of all nodes %s by %s per hour, %s per month%s, without costs beside it.", verb, figures.USD(rises), figures.Monthly(rises), share)
	if off := after.Discounts; off > 0 {
		t.line("Discounts take %s per hour, %s per month, off the list prices of all nodes (%s).", figures.USD(off), figures.Monthly(off), figures.Percent(off.USD()/after.List.USD()))
	}
}

// priceLimits says of each NodePool with a limit on the sum of its nodes' prices how much of it the nodes take after the launches,
// without the nodes that are removed, by name.
func (t *table) priceLimits(p *problem, launches []scheduling.Launch, removed []string) {
	gone := lo.SliceToMap(removed, func(name string) (string, bool) { return name, true })
	for _, pool := range p.Problem.NodePools {
		limit, ok := pool.Spec.Limits[scheduling.PriceResource]
		if !ok {
			continue
		}
		var spent offerings.Price
		for _, node := range p.Problem.Nodes {
			if node.Labels[scheduling.NodePoolLabel] != pool.Name || node.DeletionTimestamp != nil || gone[node.Name] {
				continue
			}
			if o, ok := p.Problem.CatalogOf(pool.Name).Lookup(instancetypes.OfferingOf(node)); ok {
				spent = offerings.Sum(spent, o.Price)
			}
		}
		for i := range launches {
			if launches[i].NodePool == pool.Name && !gone[launches[i].Name] {
				spent = offerings.Sum(spent, launches[i].Price)
			}
		}
		t.line("Price limit of NodePool/%s: its nodes cost %s of %s per hour, without node overhead.", pool.Name, figures.USD(spent), figures.USD(offerings.Price(limit.ScaledValue(resource.Nano))))
	}
}
