package billing

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Balance is the state of commitments under the usage of some nodes: the bill, the nodes that draw on a commitment, and the
// amounts that are left for further nodes. [NewBalance] makes it.
type Balance struct {
	// Bill is the bill of the nodes.
	Bill Bill
	// Drawn has for each node the id of the commitment that it draws on: the one that covers most of it, if the
	// removal of the node saves at most half of its list price. "" is none.
	//
	// Where there is more usage than a commitment pays for, the removal of a node saves its list price although the commitment
	// covers it: the commitment then covers another node. Such a node draws on nothing. That holds until no
	// uncovered node is left, so the caller must compare the saving of a plan with [Settle].
	Drawn []string

	pots []*pot
}

// NewBalance returns the state of commitments under the usage of nodes.
func NewBalance(usages []Usage, commitments []Commitment) *Balance {
	b := &Balance{Bill: Settle(usages, commitments), Drawn: make([]string, len(usages))}
	b.pots = pots(commitments, &b.Bill)
	names := map[string]string{} // of the pot of each commitment
	for _, p := range b.pots {
		for _, c := range p.commitments {
			names[c.ID] = p.id
		}
	}
	for i, saving := range Marginal(usages, commitments) {
		share := &b.Bill.Nodes[i]
		if share.Commitment >= 0 && max(share.Uncovered, saving) <= usages[i].Price/2 {
			b.Drawn[i] = names[b.Bill.Commitments[share.Commitment].Commitment]
		}
	}
	return b
}

// Offer returns a catalog with a further offering for each on-demand offering that a commitment covers. Its price is
// without the covered part, and its nodes draw on the amount that is left of the commitment ([offerings.Offering.Commitment]),
// so that a planner launches nodes that are paid for first. The covered part is that of
// the price in the catalog list: a part that own adds to it, e.g. the fee of EKS Auto Mode, is not covered. Offerings that
// the amount does not suffice for are left out, except of commitments on which nodes draw: their removal gives amounts back.
//
// Planners count whole nodes, and a node draws on one commitment. Commitments of vCPUs and memory of the same families are
// one for this, measured in their list price, under the id of the first. [Settle] gives the exact bill of a plan.
func (b *Balance) Offer(own, list *instancetypes.Catalog) (*instancetypes.Catalog, error) {
	if b == nil {
		return own, nil
	}
	var changes []instancetypes.OfferingChange
	for _, p := range b.pots {
		returns := slices.Contains(b.Drawn, p.id)
		for t := range own.All() {
			listed, ok := list.Get(t.Name)
			if !ok {
				continue
			}
			for i := range t.Offerings {
				o := t.Offerings[i].DeepCopy()
				at := slices.IndexFunc(listed.Offerings, func(l offerings.Offering) bool { return l.Key("") == o.Key("") })
				if o.Counted() || at < 0 {
					continue
				}
				u := UsageOf("", listed, &listed.Offerings[at])
				use, covered := p.takes(&u)
				if use <= 0 || use > mostPerNode || use > p.left && !returns {
					continue
				}
				o.Price, o.RankingSurcharge = max(o.Price-covered, 0), covered/rankingDivisor
				o.ReservationID, o.Commitment, o.ReservationUse, o.ReservationCount = p.id, true, int64(use), int64(p.left)
				changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
			}
		}
	}
	if len(changes) == 0 {
		return own, nil
	}
	return own.WithOfferings(changes...)
}

// rankingDivisor divides the covered part of a node's list price for [offerings.Offering.RankingSurcharge], so that of two nodes which
// cost nothing the planner takes the one that leaves more of the commitment.
const rankingDivisor = 1_000_000

// mostPerNode is the largest amount of a commitment that an offering can state for a node, a thousand units.
const mostPerNode Units = 1000 * nano

// pot is an amount on which nodes draw: that of a commitment, or of the commitments of vCPUs and memory of some families.
type pot struct {
	id string
	// commitments are those that it consists of, with their rates.
	commitments []*Commitment
	rates       []rateIndex
	left        Units // that the bill leaves
}

// pots returns the amounts on which nodes draw, in the order in which the commitments apply.
func pots(commitments []Commitment, bill *Bill) (list []*pot) {
	byScope := map[string]*pot{}
	for i, c := range inOrder(commitments) {
		use := &bill.Commitments[i]
		key, left := c.ID, use.Unused
		if c.byResource() {
			key = fmt.Sprintf("%q %q %q", c.Region, c.Zone, c.Families)
			left = Units(scaled(int64(left), int64(c.UnitPrice), nano, false))
		}
		p := byScope[key]
		if p == nil {
			p = &pot{id: c.ID}
			byScope[key] = p
			list = append(list, p)
		}
		p.commitments, p.rates = append(p.commitments, c), append(p.rates, c.index())
		p.left = min(p.left+left, MaxUnits)
	}
	return list
}

// takes returns the amount that a node takes of the pot, and the part of its list price that is covered.
func (p *pot) takes(u *Usage) (use Units, covered offerings.Price) {
	for i, c := range p.commitments {
		d, ok := c.demand(u, p.rates[i])
		switch {
		case !ok:
		case c.byResource():
			use, covered = use+Units(d.price), min(covered+d.price, u.Price)
		default:
			use, covered = d.amount, d.price
		}
	}
	return use, covered
}
