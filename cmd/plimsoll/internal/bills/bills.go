package bills

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Bills are the bills of a cluster under commitments, capacity reservations and discounts.
type Bills struct {
	commitments  []billing.Commitment
	reservations []billing.Commitment
	offers       []billing.Commitment   // that are on offer
	full         *instancetypes.Catalog // with prices before discounts
	listed       scheduling.Problem     // with the catalogs and nodes before commitments are applied
	// Now is the bill of the nodes of the input.
	Now billing.Bill
	// Warnings name the commitments that cover nothing, and those of unknown price.
	Warnings []scheduling.Warning
}

// Read reads the commitments of files that apply at a time; without files there are none.
func Read(files []string, at time.Time) (billing.Input, error) {
	sources := make([]billing.File, len(files))
	for i, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return billing.Input{}, fmt.Errorf("--billing %s: %w", name, errors.Unwrap(err))
		}
		sources[i] = billing.File{Name: name, In: bytes.NewReader(content)}
	}
	return billing.Read(at, sources...)
}

// Apply applies commitments to a problem: it replaces the catalogs, and the nodes that draw on commitments. full is the catalog with
// prices before discounts.
func Apply(p *scheduling.Problem, full *instancetypes.Catalog, in *billing.Input) (*Bills, error) {
	b := &Bills{full: full, listed: *p, offers: in.Offers}
	nodes := b.charges(p.Nodes).usages
	filled, missing := billing.FillUnitPrices(billing.FillUsedElsewhere(in.Commitments, nodes), p.Catalog)
	for i := range filled {
		c := &filled[i]
		unused := c.Uncovering(p.Catalog)
		if unused == nil && slices.Contains(missing, c.ID) {
			return nil, fmt.Errorf("commitment %s: unitPrice: must not be empty: it does not follow from the prices of %v in catalog %s", c.ID, c.Families, p.Catalog.Name())
		}
		_, priced := c.Cost()
		if unused != nil {
			b.warn(in.Files[c.ID], "%v, so that it covers no node%s", unused, lo.Ternary(priced, "; it is in the bill all the same, because it is paid", ""))
		}
		if !priced {
			b.warn(in.Files[c.ID], "commitment %s: costPerHour: is not stated, so that the bill is without the price of the commitment", c.ID)
		}
	}
	b.commitments, b.reservations = filled, billing.FillUsedElsewhere(in.Reservations, nodes)
	for i := range b.reservations {
		if unused := b.reservations[i].Uncovering(p.Catalog); unused != nil {
			b.warn(in.Files[b.reservations[i].ID], "%v, so that the bill is without the price of the capacity reservation", unused)
		}
	}
	now := b.charges(p.Nodes)
	b.Now = b.settle(now)
	if err := b.apply(p, nodes, now.usages); err != nil {
		return nil, err
	}
	return b, nil
}

// apply replaces the catalogs and nodes of a problem. nodes are its nodes as they are billed, and charged is all that is billed.
//
// A node that a capacity reservation pays for draws on that alone: it takes the place of an unused node, which is charged all the same.
func (b *Bills) apply(p *scheduling.Problem, nodes, charged []billing.Usage) error {
	reserved, committed := billing.NewBalance(nodes, b.reservations), billing.NewBalance(charged, b.commitments)
	drawn := map[string]string{} // the commitment or reservation of a node that draws on one, by the node's name
	for i, id := range reserved.Drawn {
		drawn[nodes[i].Name] = cmp.Or(id, committed.Drawn[i])
	}
	annotated := slices.Clone(p.Nodes)
	for i, node := range annotated {
		if id := drawn[node.Name]; id != "" {
			annotated[i] = node.DeepCopy()
			annotated[i].Annotations = lo.Assign(node.Annotations, map[string]string{offerings.CommitmentAnnotation: id})
		}
	}
	offer := func(own *instancetypes.Catalog) (*instancetypes.Catalog, error) {
		own, err := reserved.Offer(own, b.listed.Catalog)
		if err != nil {
			return nil, err
		}
		return committed.Offer(own, b.listed.Catalog)
	}
	catalog, err := offer(p.Catalog)
	if err != nil {
		return err
	}
	pools := map[string]*instancetypes.Catalog{}
	for _, pool := range slices.Sorted(maps.Keys(p.PoolCatalogs)) {
		if pools[pool], err = offer(p.PoolCatalogs[pool]); err != nil {
			return err
		}
	}
	p.Catalog, p.PoolCatalogs, p.Nodes = catalog, pools, annotated
	return nil
}

// warn adds a warning about a file.
func (b *Bills) warn(file, format string, args ...any) {
	b.Warnings = append(b.Warnings, scheduling.Warning{Object: file, Message: fmt.Sprintf(format, args...)})
}

// usage is a node as it is billed; false if the catalog does not have its offering.
func (b *Bills) usage(node *corev1.Node) (billing.Usage, bool) {
	key := instancetypes.OfferingOf(manifest.PaidFor(node))
	if node.Labels[offerings.ReservationIDLabel] == "" {
		key.ReservationID = "" // the list price
	}
	return b.usageOf(node.Name, key)
}

func (b *Bills) usageOf(name string, key offerings.Key) (billing.Usage, bool) {
	o, ok := b.listed.Catalog.Lookup(key)
	if !ok {
		return billing.Usage{}, false
	}
	t, _ := b.listed.Catalog.Get(key.InstanceType)
	u := billing.UsageOf(name, t, &o)
	if before, ok := b.full.Lookup(key); ok {
		u.Discount = max(before.Price-u.Price, 0)
	}
	return u, true
}

// AtListPrices gives a problem of the cluster list prices: the catalogs that it had before commitments were applied, and nodes that draw on none.
func (b *Bills) AtListPrices(p *scheduling.Problem) {
	p.Catalog, p.PoolCatalogs, p.Nodes = b.listed.Catalog, b.listed.PoolCatalogs, slices.Clone(p.Nodes)
	for i, node := range p.Nodes {
		if node.Annotations[offerings.CommitmentAnnotation] != "" {
			p.Nodes[i] = node.DeepCopy()
			delete(p.Nodes[i].Annotations, offerings.CommitmentAnnotation)
		}
	}
}

// Draws reports whether a node of a plan draws on a commitment.
func Draws(plan *scheduling.Plan) bool {
	return slices.ContainsFunc(plan.Launches, func(l scheduling.Launch) bool { return len(l.Options) > 0 && l.Options[0].Commitment })
}

// Launches plans a problem of the cluster by the prices of its catalogs and, where that plan draws on commitments, also at list prices: nodes
// that cost nothing lead the search to types that waste the commitments. The plan with the lower bill counts, and listed says that it
// is the second. b may be nil.
func (b *Bills) Launches(p scheduling.Problem, solve func(p scheduling.Problem) (*scheduling.Plan, error)) (plan *scheduling.Plan, listed bool, err error) {
	plan, err = solve(p)
	if b == nil || err == nil && !Draws(plan) {
		return plan, false, err
	}
	before := p
	b.AtListPrices(&before)
	other, failed := solve(before)
	if failed == nil && (err != nil || b.prefers(p.Nodes, other, plan)) {
		return other, true, failed
	}
	return plan, false, err
}

// prefers reports whether the first plan beside some nodes is the better one: it places more pods or, of as many, it costs less.
func (b *Bills) prefers(nodes []*corev1.Node, first, second *scheduling.Plan) bool {
	if x, y := len(first.Unschedulable), len(second.Unschedulable); x != y {
		return x < y
	}
	return b.cost(nodes, first) < b.cost(nodes, second)
}

// cost is the cost of a plan's nodes beside others: the bill after it beside the commitments, and costs beside the bill,
// such as node overhead.
func (b *Bills) cost(nodes []*corev1.Node, plan *scheduling.Plan) offerings.Price {
	s := &plan.Summary
	after := b.settle(b.chargesAfter(nodes, nil, plan.Launches))
	return offerings.Sum(after.Uncovered, max(s.ExpectedPerHour-s.PricePerHour, 0))
}

// charges are what is billed: nodes, and the unused nodes of capacity reservations.
type charges struct {
	usages   []billing.Usage
	unpriced []string      // the names of nodes without a price
	reserved []billing.Use // the use of each capacity reservation
}

// chargesAfter are the charges after some of the nodes were removed and others launched.
func (b *Bills) chargesAfter(nodes []*corev1.Node, removed []string, launches []scheduling.Launch) (c charges) {
	add := func(name string, u billing.Usage, priced bool) {
		if priced {
			c.usages = append(c.usages, u)
		} else {
			c.unpriced = append(c.unpriced, name)
		}
	}
	gone := lo.SliceToMap(removed, func(name string) (string, bool) { return name, true })
	for _, node := range nodes {
		if !gone[node.Name] {
			u, ok := b.usage(node)
			add(node.Name, u, ok)
		}
	}
	for i := range launches {
		l := &launches[i]
		if gone[l.Name] || len(l.Options) == 0 {
			continue // a later step removes it again
		}
		key := l.Options[0].Key()
		if l.Options[0].Commitment {
			key.ReservationID = ""
		}
		u, ok := b.usageOf(l.Name, key)
		add(l.Name, u, ok)
	}
	slices.Sort(c.unpriced)
	c.reserved = billing.Settle(c.usages, b.reservations).Commitments
	for i := range c.reserved {
		at := slices.IndexFunc(b.reservations, func(r billing.Commitment) bool { return r.ID == c.reserved[i].Commitment })
		key := offerings.Key{InstanceType: b.reservations[at].InstanceType, Zone: b.reservations[at].Zone, CapacityType: offerings.OnDemand}
		for n := range int(c.reserved[i].Unused.Float()) {
			if u, ok := b.usageOf(fmt.Sprintf("%s/unused-%d", c.reserved[i].Commitment, n+1), key); ok {
				c.usages = append(c.usages, u)
			}
		}
	}
	return c
}

// Of is the bill of some nodes.
func (b *Bills) Of(nodes []*corev1.Node) billing.Bill { return b.settle(b.charges(nodes)) }

// charges are the charges of nodes.
func (b *Bills) charges(nodes []*corev1.Node) charges { return b.chargesAfter(nodes, nil, nil) }

// settle is the bill of charges.
func (b *Bills) settle(c charges) billing.Bill {
	bill := billing.Settle(c.usages, b.commitments)
	bill.UnpricedNodes, bill.Reservations = c.unpriced, c.reserved
	return bill
}

// Change is the bill before and after some nodes of the input were removed and others launched; nil without commitments and discounts.
func (b *Bills) Change(removed []string, launches []scheduling.Launch) *billing.Statement {
	if b == nil {
		return nil
	}
	after := b.chargesAfter(b.listed.Nodes, removed, launches)
	statement := &billing.Statement{Before: b.Now, After: b.settle(after)}
	statement.Offers = billing.BreakEvens(&statement.After, after.usages, b.offers)
	for i := range b.offers {
		if !slices.ContainsFunc(statement.Offers, func(w billing.OfferBreakEven) bool { return w.Offer == b.offers[i].ID }) {
			statement.OffersWithoutSaving = append(statement.OffersWithoutSaving, b.offers[i].ID)
		}
	}
	return statement
}

// Steps returns a plan of steps for the cluster, or for one with further nodes, with its bill, and by how much that falls with each step. Steps
// from the first on that is to save money and saves less than it says are left out, with a warning. b may be nil.
func (b *Bills) Steps(ctx context.Context, planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) (*disruption.ConsolidationPlan, error) {
	if b == nil {
		return plan, nil
	}
	falls := b.falls(c.Nodes, plan.Steps)
	if saving := b.savingSteps(&c.Problem, plan.Steps, falls); saving < len(plan.Steps) {
		left := len(plan.Steps) - saving
		planner.Observer = nil
		var err error
		if plan, err = planner.Shorten(context.WithoutCancel(ctx), c, plan, saving); err != nil {
			return nil, err
		}
		plan.Warnings = append(plan.Warnings, scheduling.Warning{Object: "commitments", Message: fmt.Sprintf("%s left out: the bill would fall by less than the prices of the nodes, because commitments pay for them anyway", figures.Are(left, "step"))})
	}
	plan.Bill = b.Change(changes(plan.Steps))
	plan.Bill.Steps = falls[:len(plan.Steps)]
	return plan, nil
}

// changes are the nodes that steps remove, by name, and those that they launch.
func changes(steps []disruption.Step) (removed []string, launches []scheduling.Launch) {
	for _, s := range steps {
		removed, launches = append(removed, s.Drain...), append(launches, s.Launches...)
	}
	return removed, launches
}

// falls are by how much the bill of nodes falls with each step.
func (b *Bills) falls(nodes []*corev1.Node, steps []disruption.Step) []offerings.Price {
	falls, last := make([]offerings.Price, 0, len(steps)), b.Of(nodes).PerHour
	for c := range b.chargesAfterEach(nodes, steps) {
		after := b.settle(c).PerHour
		falls, last = append(falls, last-after), after
	}
	return falls
}

// chargesAfterEach yields the charges of nodes after each of the steps.
func (b *Bills) chargesAfterEach(nodes []*corev1.Node, steps []disruption.Step) iter.Seq[charges] {
	return func(yield func(charges) bool) {
		var removed []string
		var launches []scheduling.Launch
		for i := range steps {
			removed, launches = append(removed, steps[i].Drain...), append(launches, steps[i].Launches...)
			if !yield(b.chargesAfter(nodes, removed, launches)) {
				return
			}
		}
	}
}

// savingSteps is the number of steps of a plan before the first of reason underutilized that does not lower the bill and the costs beside it, or
// with which such steps have together saved less than the prices of the removed and launched nodes say. The bill falls by less where more
// covered nodes go than there are others that could take their place under a commitment. Steps for other reasons are no savings.
func (b *Bills) savingSteps(p *scheduling.Problem, steps []disruption.Step, falls []offerings.Price) int {
	price := map[string]offerings.Price{}
	for _, node := range p.Nodes {
		if o, ok := p.CatalogOf(node.Labels[scheduling.NodePoolLabel]).Lookup(instancetypes.OfferingOf(node)); ok {
			price[node.Name] = o.Price
		}
	}
	var lacking offerings.Price
	for i := range steps {
		s, claimed := &steps[i], offerings.Price(0)
		for _, l := range s.Launches {
			price[l.Name] = l.Price
			claimed -= l.Price
		}
		for _, name := range s.Drain {
			claimed += price[name]
		}
		if s.Reason != disruption.Underutilized {
			continue
		}
		if lacking += claimed - falls[i]; lacking > tolerance || s.SavingPerHour-claimed+falls[i] <= 0 {
			return i
		}
	}
	return len(steps)
}

// tolerance is the difference of a claimed saving and that of the bill that rounding may make: less than a nano-USD for each node
// that a commitment covers in part.
const tolerance offerings.Price = 1_000
