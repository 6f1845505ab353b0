package bill

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/billing"
)

// apply judges the use of a commitment, takes what it covers off the nodes, and returns the sum.
func (c *check) apply(m *billing.Commitment, use *billing.Use) *big.Int {
	object := "commitment " + m.ID
	if use.Kind != m.Kind || use.Unit != m.Kind.Unit() {
		c.add("%s: kind %s in %s, want %s in %s", object, use.Kind, use.Unit, m.Kind, m.Kind.Unit())
	}
	elsewhere := min(max(m.UsedElsewhere, 0), m.Amount)
	c.amount(object+": amount", int64(use.Amount), big.NewInt(int64(m.Amount)))
	c.amount(object+": usedElsewhere", int64(use.Elsewhere), big.NewInt(int64(elsewhere)))
	sum, used := new(big.Int), new(big.Int)
	taken := map[*node]bool{}
	var worst *demand // of the nodes that it covers, the one with the least price for each unit
	for _, x := range use.Nodes {
		n := c.byName[x.Node]
		d := demandOf(m, n)
		switch {
		case n == nil:
			c.add("%s: node %s: is not billed", object, x.Node)
			continue
		case taken[n]:
			c.add("%s: node %s: is covered twice", object, x.Node)
			continue
		case d == nil:
			c.add("%s: node %s: is not covered by it", object, x.Node)
			continue
		}
		taken[n] = true
		amount, covers := big.NewInt(int64(x.Amount)), big.NewInt(int64(x.Covers))
		if amount.Sign() < 0 || covers.Sign() <= 0 || covers.Cmp(n.most(m, d)) > 0 {
			c.add("%s: node %s: covers %v by %v, of at most %v that is not covered otherwise", object, x.Node, x.Covers, x.Amount, n.most(m, d))
		}
		// The amount is rounded up, or the covered price down.
		worth, full := new(big.Int).Mul(amount, d.price), new(big.Int).Mul(covers, d.amount)
		if rest := new(big.Int).Sub(worth, full); rest.Sign() < 0 || rest.Cmp(d.price) >= 0 && rest.Cmp(d.amount) >= 0 {
			c.add("%s: node %s: covers %v by %v, but the node takes %v for %v", object, x.Node, x.Covers, x.Amount, billing.Units(d.amount.Int64()), d.price)
		}
		n.open.Sub(n.open, covers)
		if by := n.by[m.Kind]; by != nil {
			by.Add(by, covers)
		}
		sum.Add(sum, covers)
		used.Add(used, amount)
		if worst == nil || d.better(worst) < 0 {
			worst = d
		}
	}
	left := big.NewInt(int64(m.Amount) - int64(elsewhere))
	if left.Sub(left, used).Sign() < 0 {
		c.add("%s: nodes take %v, more than is left", object, billing.Units(used.Int64()))
	}
	c.amount(object+": used", int64(use.Used), used)
	c.amount(object+": unused", int64(use.Unused), left)
	c.amount(object+": covers", int64(use.Covers), sum)
	for _, n := range c.nodes {
		d := demandOf(m, n)
		if d == nil || n.most(m, d).Sign() <= 0 {
			continue
		}
		if worst != nil && d.better(worst) > 0 {
			c.add("%s: node %s: comes before nodes of a lower price for each unit, and is not covered", object, n.Name)
		}
		if new(big.Int).Mul(left, d.price).Cmp(d.amount) >= 0 {
			c.add("%s: node %s: is not covered although %v is left", object, n.Name, billing.Units(left.Int64()))
		}
	}
	return sum
}

// most is the most of a node's price that a commitment can still cover.
func (n *node) most(m *billing.Commitment, d *demand) *big.Int {
	most := n.open
	if by := n.by[m.Kind]; by != nil {
		if rest := new(big.Int).Sub(d.price, by); rest.Cmp(most) < 0 {
			most = rest
		}
	}
	return most
}
