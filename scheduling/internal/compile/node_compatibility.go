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
	stands     []stand      // by group
	groups     []model.Bits // see compiler.suits
	open, wary []model.Bits
	bins       []model.Bin
}

// stand is what a group finds on nodes.
type stand struct {
	suited model.Bits // those that its labels and taints allow
	open   model.Bits // those of them that let its pods in
	wary   model.Bits // those of these whose taints it would rather avoid
}

// buildBins hands the engine the nodes that run or are in flight.
func (c *Compiler) buildBins() {
	c.Nodes = c.existing()
	b := c.Memory.nodeCompatibility
	if !b.suits(c) {
		if c.Classes.Volumes != nil {
			b = nil
		}
		b = c.newNodeCompatibility(b)
	}
	c.Suits, c.open, c.wary = b.groups, b.open, b.wary
	c.Model.Bins, c.Model.Open = b.bins, b.open
	if c.Classes.Volumes == nil {
		c.Memory.nodeCompatibility = b
	}
}

// suits reports whether the bench is what would be worked out.
func (b *nodeCompatibility) suits(c *Compiler) bool {
	return b != nil && c.Classes.Volumes == nil && slices.Equal(b.nodes, c.Nodes) && slices.Equal(b.signatures, c.Classes.Signatures)
}

// newNodeCompatibility works out the bins. What another knows of the same groups and nodes is
// taken from there.
func (c *Compiler) newNodeCompatibility(old *nodeCompatibility) *nodeCompatibility {
	b := &nodeCompatibility{nodes: c.Nodes, signatures: c.Classes.Signatures, groups: make([]model.Bits, len(c.Nodes)), bins: make([]model.Bin, len(c.Nodes))}
	before, fresh := b.placesIn(old)
	for g, group := range c.Classes.Groups {
		s := stand{model.NewBits(len(c.Nodes)), model.NewBits(len(c.Nodes)), model.NewBits(len(c.Nodes))}
		if at := old.find(b.signatures[g]); at >= 0 {
			s.keep(&old.stands[at], before)
			for _, i := range fresh {
				s.admit(i, c.Nodes[i], group)
			}
		} else {
			for i, x := range c.Nodes {
				s.admit(i, x, group)
			}
		}
		b.stands = append(b.stands, s)
		b.open, b.wary = append(b.open, s.open), append(b.wary, s.wary)
	}
	words := len(model.NewBits(len(c.Classes.Groups)))
	rows := make([]uint64, 3*words*len(c.Nodes))
	for i, x := range c.Nodes {
		row := rows[3*words*i:][: 3*words : 3*words]
		b.groups[i] = row[:words:words]
		b.bins[i] = model.Bin{Room: x.Room, Admits: row[words : 2*words : 2*words], Soft: row[2*words:]}
	}
	for g := range b.stands {
		s := &b.stands[g]
		s.suited.Each(func(i int) { b.groups[i].Set(g) })
		s.open.Each(func(i int) { b.bins[i].Admits.Set(g) })
		s.wary.Each(func(i int) { b.bins[i].Soft.Set(g) })
	}
	return b
}

// find is the place of a group in a bench, -1 where it is not known.
func (b *nodeCompatibility) find(signature string) int {
	if b == nil {
		return -1
	}
	return slices.Index(b.signatures, signature)
}

// placesIn says where the nodes of a bench stand in another one, -1 for those that do not,
// and which these are. Nil stands for all of them where they stood.
func (b *nodeCompatibility) placesIn(old *nodeCompatibility) (before []int32, fresh []int) {
	if old == nil {
		return nil, nil
	}
	before, moved, at := make([]int32, len(b.nodes)), len(b.nodes) != len(old.nodes), 0
	for i, x := range b.nodes {
		for at < len(old.nodes) && old.nodes[at] != x && old.nodes[at].compare(x) < 0 {
			at++
		}
		before[i] = -1
		switch {
		case at < len(old.nodes) && old.nodes[at] == x:
			before[i] = int32(at)
			moved = moved || at != i
			at++
		default:
			fresh = append(fresh, i)
		}
	}
	if !moved {
		before = nil
	}
	return before, fresh
}

// keep takes over what is known of nodes.
func (s *stand) keep(old *stand, before []int32) {
	for _, row := range [][2]model.Bits{{s.suited, old.suited}, {s.open, old.open}, {s.wary, old.wary}} {
		if before == nil {
			copy(row[0], row[1])
			continue
		}
		for i, at := range before {
			if at >= 0 && row[1].Has(int(at)) {
				row[0].Set(i)
			}
		}
	}
}

// admit notes whether a group suits a node, and whether that lets its pods in.
func (s *stand) admit(i int, x *ExistingNode, group *podspec.Constraint) {
	for _, row := range []model.Bits{s.suited, s.open, s.wary} {
		row.Clear(i)
	}
	hard, soft := podspec.Untolerated(group.Tolerations, x.Taints)
	if hard != nil || !group.MatchesNode(x.Node.Name, x.Labels) {
		return
	}
	s.suited.Set(i)
	if podspec.PortsClash(group.Ports, x.Ports) || x.Attached.TurnsAway(group) != "" {
		return
	}
	s.open.Set(i)
	if soft {
		s.wary.Set(i)
	}
}
