package billing

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Statement is the bill of a cluster's nodes before and after a plan.
type Statement struct {
	// Before is the bill of the nodes of the input, After that of the nodes after the plan: after all of its steps, or with its launches.
	Before Bill `json:"before"`
	After  Bill `json:"after"`
	// Steps are by how much the bill falls with each step of a plan of steps, in USD per hour; below 0 it rises. They add up to the difference of
	// Before and After. A plan of launches has none.
	Steps []offerings.Price `json:"steps,omitempty"`
	// Offers compare the nodes of After with commitments that are on offer, see [BreakEvens]. OffersWithoutSaving are the ids of those that would
	// save nothing.
	Offers              []OfferBreakEven `json:"offers,omitempty"`
	OffersWithoutSaving []string         `json:"offersWithoutSaving,omitempty"`
}

// Bill is the price of a set of nodes in USD per hour under commitments and discounts, without costs beside the cloud's, such
// as node overhead. List is the sum of Discounts, Covered and Uncovered. Sums that a price cannot hold are [offerings.MaxPrice].
type Bill struct {
	// PerHour is the bill: Committed and Uncovered. PerMonth is it for a month of [offerings.HoursPerMonth].
	PerHour  offerings.Price `json:"perHour"`
	PerMonth offerings.Price `json:"perMonth"`
	// List is the sum of list prices, before discounts.
	List offerings.Price `json:"list"`
	// Discounts is the part of it that discounts take off.
	Discounts offerings.Price `json:"discounts,omitempty"`
	// Covered is the price, after discounts, of the usage that commitments cover.
	Covered offerings.Price `json:"covered"`
	// Uncovered is the price, after discounts, of the usage that no commitment covers: the part of the bill that
	// depends on the nodes.
	Uncovered offerings.Price `json:"uncovered"`
	// Committed is the price of the commitments, used or not, of those whose price is known.
	Committed offerings.Price `json:"committed"`
	// Unpriced is the number of commitments whose price is not known.
	Unpriced int `json:"unpriced,omitempty"`
	// UnpricedNodes are the nodes without a price, by name. They are not part of the bill. [Settle] does not set it.
	UnpricedNodes []string `json:"unpricedNodes,omitempty"`
	// Reservations say how many nodes of each capacity reservation are used. The list prices of the unused ones are part of List, because they
	// are charged like nodes on demand. [Settle] does not set it.
	Reservations []Use `json:"reservations,omitempty"`
	// Commitments say how much of each is used, in the order in which they apply.
	Commitments []Use `json:"commitments,omitempty"`
	// Nodes are the shares of the bill, in the order of the usages.
	Nodes []NodeBill `json:"-"`
}

// Use is how much of a commitment is used.
type Use struct {
	// Commitment is its id, Kind its kind, Unit the unit of the amounts.
	Commitment string `json:"commitment"`
	Kind       Kind   `json:"kind"`
	Unit       string `json:"unit"`
	// Amount is the committed amount, Elsewhere the part of it that usage outside of the input takes, Used the part
	// that the nodes take. The rest is Unused.
	Amount    Units `json:"amount"`
	Elsewhere Units `json:"usedElsewhere,omitempty"`
	Used      Units `json:"used"`
	Unused    Units `json:"unused"`
	// CostPerHour is the price of the commitment; 0 if it is not known.
	CostPerHour offerings.Price `json:"costPerHour,omitempty"`
	// Covers is the price, after discounts, of the usage that it covers, the sum of that of Nodes.
	Covers offerings.Price `json:"covers"`
	// Nodes are the nodes that it covers, in the order in which it applies to them.
	Nodes []Coverage `json:"nodes,omitempty"`
}

// Coverage is the part of a node that a commitment covers.
type Coverage struct {
	// Node is the name of the node or of the launch.
	Node string `json:"node"`
	// Amount is the amount of the commitment that the node takes, Covers the part of the node's price that it covers.
	Amount Units           `json:"amount"`
	Covers offerings.Price `json:"covers"`
}

// NodeBill is the part of the bill that a node has.
type NodeBill struct {
	// Uncovered is the part of its list price that no commitment covers.
	Uncovered offerings.Price
	// Commitment is the index in [Bill.Commitments] of the commitment that covers most of it; -1 is none.
	Commitment int
	// Amount is the amount that the node takes of that commitment.
	Amount Units

	covered offerings.Price // by that commitment
}

// Settle returns the bill of nodes: it applies the commitments as the package comment says. It does not check
// them: see [Commitment.Validate] and [Commitment.Expired].
func Settle(usages []Usage, commitments []Commitment) Bill {
	s := settlement{usages: usages, open: make([]open, len(usages))}
	s.bill.Nodes = make([]NodeBill, len(usages))
	for i := range usages {
		s.open[i].price = max(usages[i].Price, 0)
		s.bill.Nodes[i].Commitment = -1
		discount := max(usages[i].Discount, 0)
		s.bill.Discounts = offerings.Sum(s.bill.Discounts, discount)
		s.bill.List = offerings.Sum(s.bill.List, offerings.Sum(s.open[i].price, discount))
	}
	for _, c := range inOrder(commitments) {
		s.apply(c)
	}
	for i := range usages {
		s.bill.Nodes[i].Uncovered = s.open[i].price
		s.bill.Uncovered = offerings.Sum(s.bill.Uncovered, s.open[i].price)
	}
	s.bill.total()
	return s.bill
}

// total adds the parts of the bill up.
func (b *Bill) total() {
	b.PerHour = offerings.Sum(b.Committed, b.Uncovered)
	month, ok := b.PerHour.Times(offerings.HoursPerMonth)
	if !ok {
		month = offerings.MaxPrice
	}
	b.PerMonth = month
}

// inOrder returns the commitments in the order in which they apply.
func inOrder(commitments []Commitment) []*Commitment {
	order := make([]*Commitment, len(commitments))
	for i := range commitments {
		order[i] = &commitments[i]
	}
	slices.SortStableFunc(order, func(a, b *Commitment) int {
		return cmp.Or(cmp.Compare(a.precedence(), b.precedence()), strings.Compare(a.ID, b.ID))
	})
	return order
}

// settlement is a bill while commitments are applied.
type settlement struct {
	usages []Usage
	open   []open
	bill   Bill
}

// open is the part of a node's list price that is not covered yet, and the parts that commitments of vCPUs and of
// memory have covered: two commitments of the same resource do not cover a vCPU twice.
type open struct{ price, vcpus, memory offerings.Price }

// resource is the part that commitments of the kind have covered; nil if the kind covers whole nodes.
func (o *open) resource(k Kind) *offerings.Price {
	switch k {
	case VCPUs:
		return &o.vcpus
	case MemoryGiB:
		return &o.memory
	}
	return nil
}

// apply covers usage by one commitment.
func (s *settlement) apply(c *Commitment) {
	use := Use{Commitment: c.ID, Kind: c.Kind, Unit: c.Kind.Unit(), Amount: c.Amount, Elsewhere: min(max(c.UsedElsewhere, 0), c.Amount), Unused: c.Left()}
	for _, d := range demands(s.usages, c) {
		open, share := &s.open[d.usage], &s.bill.Nodes[d.usage]
		most, resource := open.price, open.resource(c.Kind)
		if resource != nil {
			most = min(most, d.price-*resource)
		}
		need, covered := d.covered(most, use.Unused)
		if covered <= 0 {
			continue
		}
		open.price -= covered
		if resource != nil {
			*resource += covered
		}
		use.Used, use.Unused, use.Covers = use.Used+need, use.Unused-need, offerings.Sum(use.Covers, covered)
		use.Nodes = append(use.Nodes, Coverage{Node: s.usages[d.usage].Name, Amount: need, Covers: covered})
		if covered > share.covered {
			share.Commitment, share.Amount, share.covered = len(s.bill.Commitments), need, covered
		}
	}
	s.bill.Covered = offerings.Sum(s.bill.Covered, use.Covers)
	if cost, known := c.Cost(); known {
		use.CostPerHour = cost
		s.bill.Committed = offerings.Sum(s.bill.Committed, cost)
	} else {
		s.bill.Unpriced++
	}
	s.bill.Commitments = append(s.bill.Commitments, use)
}

// covered returns how much of a node's open price an amount that is left of the commitment covers, and how much of
// the amount that takes.
func (d *demand) covered(open offerings.Price, left Units) (need Units, covered offerings.Price) {
	if open <= 0 {
		return 0, 0
	}
	if need = Units(scaled(int64(d.amount), int64(open), int64(d.price), true)); need <= left {
		return need, open
	}
	return left, min(open, offerings.Price(scaled(int64(left), int64(d.price), int64(d.amount), false)))
}

// demands returns the usages that a commitment covers, in the order in which it covers them: by list price for each
// unit of the commitment, the highest first, then the smallest, then by name.
func demands(usages []Usage, c *Commitment) []demand {
	rates := c.index()
	var list []demand
	for i := range usages {
		if d, ok := c.demand(&usages[i], rates); ok {
			d.usage = i
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b demand) int {
		return cmp.Or(compareProducts(int64(b.price), int64(a.amount), int64(a.price), int64(b.amount)),
			cmp.Compare(a.amount, b.amount), strings.Compare(usages[a.usage].Name, usages[b.usage].Name))
	})
	return list
}

// compareProducts compares a × b with c × d, of numbers that are not negative.
func compareProducts(a, b, c, d int64) int {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	high, low := bits.Mul64(uint64(c), uint64(d))
	return cmp.Or(cmp.Compare(hi, high), cmp.Compare(lo, low))
}
