package compile

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// nodeCompatibility is the bins of some nodes for some groups. It is not changed any more.
type nodeCompatibility struct {
	nodes      []*ExistingNode
	signatures []string     // by group
	suits      []model.Bits // by node, the groups that its labels and taints allow there
	open       []model.Bits // by group, the nodes of these that let its pods in
	wary       []model.Bits // by group, the nodes of these whose taints it would rather avoid
	bins       []model.Bin
}

// buildBins hands the engine the nodes that run or are in flight.
func (c *Compiler) buildBins() {
	c.Nodes = c.existing()
	b, plain := c.Memory.nodeCompatibility, c.Classes.Volumes == nil
	if b == nil || !plain || !slices.Equal(b.nodes, c.Nodes) || !slices.Equal(b.signatures, c.Classes.Signatures) {
		b = c.newNodeCompatibility()
	}
	c.Suits, c.open, c.wary = b.suits, b.open, b.wary
	c.Model.Bins, c.Model.Open = b.bins, b.open
	if plain {
		c.Memory.nodeCompatibility = b
	}
}

// newNodeCompatibility works out the bins.
func (c *Compiler) newNodeCompatibility() *nodeCompatibility {
	b := &nodeCompatibility{nodes: c.Nodes, signatures: c.Classes.Signatures, suits: make([]model.Bits, len(c.Nodes)), bins: make([]model.Bin, len(c.Nodes))}
	words := len(model.NewBits(len(c.Classes.Groups)))
	rows := make([]uint64, 3*words*len(c.Nodes))
	for i, x := range c.Nodes {
		row := rows[3*words*i:][: 3*words : 3*words]
		b.suits[i] = row[:words:words]
		b.bins[i] = model.Bin{Room: x.Room, Admits: row[words : 2*words : 2*words], Soft: row[2*words:]}
	}
	for g, group := range c.Classes.Groups {
		open, wary := model.NewBits(len(c.Nodes)), model.NewBits(len(c.Nodes))
		for i, x := range c.Nodes {
			hard, soft := podspec.Untolerated(group.Tolerations, x.Taints)
			if hard != nil || !group.MatchesNode(x.Node.Name, x.Labels) {
				continue
			}
			b.suits[i].Set(g)
			if podspec.PortsClash(group.Ports, x.Ports) || x.Attached.TurnsAway(group) != "" {
				continue
			}
			open.Set(i)
			b.bins[i].Admits.Set(g)
			if soft {
				wary.Set(i)
				b.bins[i].Soft.Set(g)
			}
		}
		b.open, b.wary = append(b.open, open), append(b.wary, wary)
	}
	return b
}
