package bill

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// node is a node while commitments are applied to it.
type node struct {
	*billing.Usage
	open *big.Int                  // the part of its price that no commitment has covered
	by   map[billing.Kind]*big.Int // the part that commitments of vCPUs and memory have covered
}

// check is a bill that is judged.
type check struct {
	nodes  []*node
	byName map[string]*node
	faults []error
}

func (c *check) add(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("bill: "+format, args...))
}

// amount compares a stated amount with the right one. Amounts that a price cannot hold are stated as the largest price.
func (c *check) amount(field string, stated int64, want *big.Int) {
	if most := big.NewInt(int64(offerings.MaxPrice)); want.Cmp(most) > 0 {
		want = most
	}
	if want.Cmp(big.NewInt(stated)) != 0 {
		c.add("%s: is %v, want %v", field, offerings.Price(stated), offerings.Price(want.Int64()))
	}
}

// Check judges the bill of nodes with different names under commitments. The error joins all faults; nil for a right bill.
func Check(usages []billing.Usage, commitments []billing.Commitment, stated *billing.Bill) error {
	c := &check{byName: map[string]*node{}}
	if stated == nil {
		return errors.New("bill: is missing")
	}
	list, discounts := new(big.Int), new(big.Int)
	for i := range usages {
		u := &usages[i]
		n := &node{Usage: u, open: big.NewInt(max(0, int64(u.Price))), by: map[billing.Kind]*big.Int{billing.VCPUs: new(big.Int), billing.MemoryGiB: new(big.Int)}}
		if c.byName[u.Name] != nil {
			return fmt.Errorf("bill: node %s is billed twice", u.Name)
		}
		c.nodes, c.byName[u.Name] = append(c.nodes, n), n
		discounts.Add(discounts, big.NewInt(max(0, int64(u.Discount))))
		list.Add(list, n.open)
	}
	c.amount("list", int64(stated.List), list.Add(list, discounts))
	c.amount("discounts", int64(stated.Discounts), discounts)
	covered, committed, unpriced := new(big.Int), new(big.Int), 0
	order := inOrder(commitments)
	if len(order) != len(stated.Commitments) {
		c.add("commitments: there are %d, want %d", len(stated.Commitments), len(order))
		return errors.Join(c.faults...)
	}
	for i, m := range order {
		use := &stated.Commitments[i]
		if use.Commitment != m.ID {
			c.add("commitments[%d]: is %s, want %s", i, use.Commitment, m.ID)
			return errors.Join(c.faults...)
		}
		covered.Add(covered, c.apply(m, use))
		cost := m.CostPerHour
		if cost == 0 && m.Kind == billing.SavingsPlan {
			cost = offerings.Price(m.Amount)
		}
		c.amount("commitment "+m.ID+": costPerHour", int64(use.CostPerHour), big.NewInt(int64(cost)))
		if cost == 0 {
			unpriced++
		}
		committed.Add(committed, big.NewInt(int64(cost)))
	}
	uncovered := new(big.Int)
	for _, n := range c.nodes {
		uncovered.Add(uncovered, n.open)
	}
	c.amount("covered", int64(stated.Covered), covered)
	c.amount("uncovered", int64(stated.Uncovered), uncovered)
	c.amount("committed", int64(stated.Committed), committed)
	if stated.Unpriced != unpriced {
		c.add("unpriced: is %d, want %d", stated.Unpriced, unpriced)
	}
	hour := new(big.Int).Add(committed, uncovered)
	c.amount("perHour", int64(stated.PerHour), hour)
	c.amount("perMonth", int64(stated.PerMonth), new(big.Int).Mul(hour, big.NewInt(730)))
	return errors.Join(c.faults...)
}

// inOrder returns commitments in the order in which clouds apply them: reserved instances, vCPUs, memory, savings plans; of each
// kind first those of a zone or of some families; then by id.
func inOrder(commitments []billing.Commitment) []*billing.Commitment {
	var order []*billing.Commitment
	for i := range commitments {
		order = append(order, &commitments[i])
	}
	rank := func(m *billing.Commitment) int {
		kind := strings.Index("reserved-instances vcpus memory-gib savings-plan", string(m.Kind))
		if m.Zone == "" && len(m.Families) == 0 {
			kind++
		}
		return kind
	}
	slices.SortStableFunc(order, func(a, b *billing.Commitment) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.ID, b.ID))
	})
	return order
}
