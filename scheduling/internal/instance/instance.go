package instance

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/terms"
)

// Instance is a problem in numbers, with the objects that its numbers stand for. Groups are numbered as in Classes, planned
// classes as in Planned, nodes as in Nodes, templates as in Templates. It is not changed once it is made, but for tables
// that are worked out when they are first asked for.
type Instance struct {
	*Facts
	Table                *podspec.ResourceTable
	Classes              *podspec.Classifier
	TopologyTerms        *terms.Reader
	ExistingAntiAffinity []ExistingAntiAffinity
	Planned              []*podspec.PodClass // those that are not refused
	Daemons              []*offers.Daemon
	Pools                []*scheduling.NodePool
	Offers               *offers.OfferTable
	Nodes                []*ExistingNode
	Suits                []model.Bits // by node, the groups that its labels and taints allow there
	Open                 []model.Bits // by group, the nodes that admit it
	wary                 []model.Bits // and those of them whose taints it would rather avoid
	Bins                 []model.Bin  // by node, with the groups that it admits
	NodeRooms            *model.Rooms // the room of the nodes in order; nil where it takes less time to look at all
	Limits               []model.Pool // by NodePool, what it may still buy
	onSale
	unsited  *Packing
	ground   *LocationIndex // nil until asked
	assorted *Assortment    // where rooms and columns are those of one
	// Cautious says that limits are booked such that minValues hold whichever option of a launch is bought.
	Cautious bool
}

// Dims is the number of resources: requests and rooms have one amount for each, as Table numbers them.
func (c *Instance) Dims() int { return len(c.Table.Names) }

// Unsited is the packing in which each planned class is one part and may be wherever its group is admitted.
// Where pods have topology terms it has no options, because nothing is bought before they have their domains.
func (c *Instance) Unsited() *Packing { return c.unsited }

// Compile states the facts in numbers. See [Instance] for the meaning of cautious.
func (f *Facts) Compile(cautious bool) *Instance {
	p, s := f.Problem, f.Solver
	c := &Instance{Facts: f, Cautious: cautious, Table: f.Readings.Resources(), onSale: onSale{Rooms: &offers.RoomTable{}, unchecked: map[string]bool{}}}
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		c.Table.Number(name) // kube-scheduler scores nodes by them whatever pods ask for
	}
	for _, r := range p.Scheduler.Scoring.Resources {
		c.Table.Number(r.Name) // and by these
	}
	c.Classes = podspec.NewClassifier(c.Table)
	c.Classes.Volumes = f.Volumes(f.Choice)
	c.TopologyTerms = terms.NewReader(p, s, f.Cluster, f.Spaces)
	stocked := f.Memory.restock(p, s)
	readPods(c)
	c.Daemons = newDaemons(p, c.Cluster.Newest, &c.Classes.Reader)
	moved := c.Table.Sort()
	c.Classes.Sort(moved, c.TopologyTerms.Targets.Sets)
	for _, d := range c.Daemons {
		d.Requests = c.Table.Renumbered(d.Requests, moved)
	}
	c.Pools = offers.PoolOrder(p.NodePools)
	stocked()
	c.Offers = f.Memory.offers(p, s, c.Table, c.Classes.Volumes)
	for _, class := range c.Classes.Classes {
		if class.Refused == "" {
			c.Planned = append(c.Planned, class)
		}
	}
	buildBins(c)
	buildLimits(c)
	buildAssortment(c)
	return c
}

// PoolNamed is the NodePool of a name, nil for none.
func (c *Instance) PoolNamed(name string) *scheduling.NodePool {
	for _, p := range c.Problem.NodePools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// questions are what pods and daemons ask of labels.
func questions(c *Instance) *offers.Questions {
	asked := offers.NewQuestions(c.Classes.Groups, c.Daemons)
	pods := make([]int, len(c.TopologyTerms.List))
	for _, class := range c.Classes.Classes {
		pods[class.TopologyTerms] += len(class.Pods)
	}
	for i, b := range c.TopologyTerms.List {
		asked.Tell(b, pods[i])
	}
	Survey(&asked.Levels, c.ExistingAntiAffinity, c.Problem.Nodes)
	return asked
}

// buildTemplates expands the pools.
func buildTemplates(c *Instance, asked *offers.Questions) {
	for number, p := range c.Pools {
		templates, unchecked := c.Offers.Templates(p, number, c.Problem.CatalogOf(p.Name), asked)
		c.Templates = append(c.Templates, templates...)
		for _, key := range unchecked {
			c.unchecked[key] = true
		}
	}
}

// WeightRank numbers the distinct weights, highest first; without strict weights
// all pools rank the same.
func (c *Instance) WeightRank() []int32 {
	ranks := make([]int32, len(c.Pools))
	for i := 1; i < len(c.Pools); i++ {
		ranks[i] = ranks[i-1]
		if c.Solver.Weights != scheduling.WeightIgnore && c.Pools[i].Weight() != c.Pools[i-1].Weight() {
			ranks[i]++
		}
	}
	return ranks
}

// buildOffers finds, for each template, what may be bought for which groups.
func buildOffers(c *Instance) {
	c.Columns = offers.NewRowTable(len(c.Classes.Groups))
	for _, v := range c.Templates {
		x := offers.TemplateOffers{Daemons: daemonRows(c.Offers, v, c.Daemons), Soft: model.NewBits(len(c.Classes.Groups))}
		x.Rows = groupRows(c, v, x.Daemons, x.Soft)
		x.List = listOffers(c, v, &x)
		c.Offered = append(c.Offered, x)
	}
}

// groupRows returns, for each group, the offers whose machines it may run on when
// they are bought for a template, and sets in softs the groups that would rather
// avoid the pool's taints.
func groupRows(c *Instance, v *offers.Template, daemons []model.Bits, softs model.Bits) []model.Bits {
	rows := make([]model.Bits, len(c.Classes.Groups))
	for g, group := range c.Classes.Groups {
		hard, soft := v.HardTaint(group)
		if hard != nil {
			continue
		}
		if soft {
			softs.Set(g)
		}
		row := c.Offers.Admits(v, group, false)
		for i, d := range c.Daemons {
			if podspec.PortsClash(group.Ports, d.Constraint.Ports) {
				row.AndNot(daemons[i])
			}
		}
		rows[g] = row
	}
	return rows
}

// listOffers returns the offers of a template that are on sale and admit any group,
// in rank order, with what room daemons leave.
func listOffers(c *Instance, v *offers.Template, x *offers.TemplateOffers) []offers.TemplateOffer {
	words := len(c.Columns.Scratch)
	matrix := make([]uint64, len(c.Offers.Offers)*words)
	for g, row := range x.Rows {
		if row == nil {
			continue
		}
		at, bit := g>>6, uint64(1)<<(g&63)
		row.Each(func(o int) { matrix[o*words+at] |= bit })
	}
	out := make([]offers.TemplateOffer, 0, v.Within.Count())
	v.Within.Each(func(o int) {
		column := model.Bits(matrix[o*words : (o+1)*words])
		if !c.Offers.Offers[o].Launchable || !column.Any() {
			return
		}
		t := offers.TemplateOffer{Offer: o, Room: Number(c.Rooms, c, c.Offers.Offers[o].Shape, x.Daemons, o), Column: c.Columns.Number(column)}
		if t.Room < 0 {
			x.Overfull = append(x.Overfull, t)
			return
		}
		out = append(out, t)
	})
	return out
}

// LimitedResources are the resources that a pool limits, sorted.
func LimitedResources(p *scheduling.NodePool) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(p.Spec.Limits))
}

// LimitUse is what one machine takes of the limits.
func LimitUse(limited []corev1.ResourceName, capacity corev1.ResourceList) []int64 {
	use := make([]int64, len(limited))
	for i, name := range limited {
		if name == scheduling.NodesResource {
			use[i] = 1
		} else if q, ok := capacity[name]; ok {
			use[i] = podspec.Amount(name, q)
		}
	}
	return use
}

// buildLimits works out what the pools may still buy: their limits less the
// capacity of their nodes that are not being deleted.
func buildLimits(c *Instance) {
	c.Limits = make([]model.Pool, len(c.Pools))
	for i, p := range c.Pools {
		limited := LimitedResources(p)
		if len(limited) == 0 {
			continue
		}
		left := offers.PoolLimits(p, limited)
		for _, node := range c.Problem.Nodes {
			if node.Labels[scheduling.NodePoolLabel] != p.Name || !podspec.TakesOfLimits(node) {
				continue
			}
			for d, n := range LimitUse(limited, NodeCapacity(c.Problem, node)) {
				left[d] -= n
			}
		}
		c.Limits[i].Limits = left
	}
}

// Locations is everywhere a pod could be.
func (c *Instance) Locations() *LocationIndex {
	if c.ground == nil {
		c.ground = NewLocationIndex(c)
	}
	return c.ground
}
