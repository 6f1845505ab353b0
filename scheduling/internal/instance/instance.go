package instance

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/terms"
)

// Instance is a problem as the engine and the bound take it: dense numbers, beside the API objects that the numbers
// stand for. Groups are numbered as in Classes.Groups, planned classes as in Planned, nodes as in Nodes, templates as in
// Templates, resources as in Table. Prices are nano-USD per hour. It is not changed after [Facts.Compile], except for
// tables that are worked out at the first use.
type Instance struct {
	Facts                *Facts                 // the problem and the policy that it is compiled from
	Table                *podspec.ResourceTable // numbers of resources
	Classes              *podspec.Classifier    // classes of pods, and groups of equal node constraints
	TopologyTerms        *terms.Reader          // topology terms and preferences, and the targets that they select
	ExistingAntiAffinity []ExistingAntiAffinity // of running pods
	Planned              []*podspec.PodClass    // classes without a reason for refusal, in the order of Classes
	Daemons              []*offers.Daemon
	Pools                []*scheduling.NodePool // NodePools that may launch nodes, see [offers.PoolOrder]
	Offers               *offers.OfferTable
	Nodes                []*ExistingNode
	Suits                []model.Bits // by node, the groups that its labels and taints allow there
	Open                 []model.Bits // by group, the nodes that admit it
	wary                 []model.Bits // by group, the nodes in Open that have a PreferNoSchedule taint which it does not tolerate
	Bins                 []model.Bin  // by node, with the groups that it admits
	NodeRooms            *model.Rooms // index of the nodes by room; nil on the first plan, where checking each node is faster
	Limits               []model.Pool // by NodePool, its limits less the capacity of its existing nodes
	onSale
	unsited *Packing
	ground  *LocationIndex // nil until asked
	cached  *OfferCache    // the remembered offers that Rooms and Columns are copies of; nil with volumes
	// Cautious says that limits are booked such that minValues hold whichever option of a launch is bought.
	Cautious bool
}

// Dims is the number of resources. Every request and every room is a vector of this length, in the order of Table.
func (c *Instance) Dims() int { return len(c.Table.Names) }

// RoomNumber returns the number in Rooms of the room that daemons leave on a node of a shape, or -1 where the daemons
// themselves do not fit. rows are the offers on which each daemon runs, see [daemonRows]; nil for no daemons. A room that
// is new gets the next number.
func (c *Instance) RoomNumber(shape int, rows []model.Bits, offer int) int {
	return c.Rooms.Number(c.Offers.Shapes[shape].Allocatable, shape, c.Daemons, rows, offer)
}

// Unsited is the packing without domains: each planned class is one part, and its pods may be wherever their group is
// admitted. Where pods have topology terms it has no options, because domains must be chosen before nodes are launched.
func (c *Instance) Unsited() *Packing { return c.unsited }

// Compile states the facts in numbers. cautious is [Instance.Cautious].
func (f *Facts) Compile(cautious bool) *Instance {
	p, s := f.Problem, f.Solver
	c := &Instance{Facts: f, Cautious: cautious, Table: f.Readings.Resources(), onSale: onSale{Rooms: &offers.RoomTable{}, unchecked: map[string]bool{}}}
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		c.Table.Number(name) // because kube-scheduler scores nodes by them even where no pod requests them
	}
	for _, r := range p.Scheduler.Scoring.Resources {
		c.Table.Number(r.Name) // because the profile scores nodes by them, too
	}
	c.Classes = podspec.NewClassifier(c.Table)
	c.Classes.Volumes = f.Volumes(f.Choice)
	c.TopologyTerms = terms.NewReader(p, s, f.Cluster, f.Spaces)
	stocked := f.Memory.restock(p, s)
	readPods(c)
	c.Daemons = newDaemons(p, c.Facts.Cluster.Newest, &c.Classes.Reader)
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
	buildOfferCache(c)
	return c
}

// PoolNamed is the NodePool with a name; nil if there is none.
func (c *Instance) PoolNamed(name string) *scheduling.NodePool {
	for _, p := range c.Facts.Problem.NodePools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// questions collects the label requirements of pods, daemons, topology terms and existing anti-affinity. They decide
// which labels that a NodePool leaves open need one template for each value.
func questions(c *Instance) *offers.Questions {
	asked := offers.NewQuestions(c.Classes.Groups, c.Daemons)
	pods := make([]int, len(c.TopologyTerms.List))
	for _, class := range c.Classes.Classes {
		pods[class.TopologyTerms] += len(class.Pods)
	}
	for i, b := range c.TopologyTerms.List {
		asked.Tell(b, pods[i])
	}
	Survey(&asked.Levels, c.ExistingAntiAffinity, c.Facts.Problem.Nodes)
	return asked
}

// buildTemplates fills Templates: one for each NodePool and each combination of values of the labels that it leaves open
// and that pods ask about. Keys that a NodePool requires and no instance type defines are noted for a warning.
func buildTemplates(c *Instance, asked *offers.Questions) {
	for number, p := range c.Pools {
		templates, unchecked := c.Offers.Templates(p, number, c.Facts.Problem.CatalogOf(p.Name), asked)
		c.Templates = append(c.Templates, templates...)
		for _, key := range unchecked {
			c.unchecked[key] = true
		}
	}
}

// WeightRank is the rank of each NodePool by weight, in the order of Pools: 0 for the highest weight, equal weights
// alike, e.g. weights 50, 50, 10 have ranks 0, 0, 1. With [scheduling.WeightIgnore] all ranks are 0.
func (c *Instance) WeightRank() []int32 {
	ranks := make([]int32, len(c.Pools))
	for i := 1; i < len(c.Pools); i++ {
		ranks[i] = ranks[i-1]
		if c.Facts.Solver.Weights != scheduling.WeightIgnore && c.Pools[i].Weight() != c.Pools[i-1].Weight() {
			ranks[i]++
		}
	}
	return ranks
}

// buildOffers fills Offered and Columns: for each template, the offers that may be launched and the groups that each of
// them admits.
func buildOffers(c *Instance) {
	c.Columns = offers.NewRowTable(len(c.Classes.Groups))
	for _, v := range c.Templates {
		x := offers.TemplateOffers{Daemons: daemonRows(c.Offers, v, c.Daemons), Soft: model.NewBits(len(c.Classes.Groups))}
		x.Rows = groupRows(c, v, x.Daemons, x.Soft)
		x.List = listOffers(c, v, &x)
		c.Offered = append(c.Offered, x)
	}
}

// groupRows returns, by group, the offers whose nodes the group may run on when a template launches them; nil where the
// template has a hard taint that the group does not tolerate. daemons are the rows of [daemonRows]: an offer is left out
// where a daemon binds a host port of the group. Groups that do not tolerate a PreferNoSchedule taint of the template
// are set in softs.
func groupRows(c *Instance, v *offers.Template, daemons []model.Bits, softs model.Bits) []model.Bits {
	rows := make([]model.Bits, len(c.Classes.Groups))
	for g, group := range c.Classes.Groups {
		hard, soft := v.Untolerated(group)
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

// listOffers returns the launchable offers of a template that admit at least one group, in rank order, each with the
// room that daemons leave. Offers on which the daemons alone do not fit go to x.Overfull, because the reasons for
// unplaced pods name them.
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
		t := offers.TemplateOffer{Offer: o, Room: c.RoomNumber(c.Offers.Offers[o].Shape, x.Daemons, o), Column: c.Columns.Number(column)}
		if t.Room < 0 {
			x.Overfull = append(x.Overfull, t)
			return
		}
		out = append(out, t)
	})
	return out
}

// LimitedResources are the names of the resources in a NodePool's spec.limits, sorted.
func LimitedResources(p *scheduling.NodePool) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(p.Spec.Limits))
}

// LimitUse is the share of a NodePool's limits that one node with a capacity and a price uses, in the order of limited. A
// node counts 1 for the limit on the number of nodes.
func LimitUse(limited []corev1.ResourceName, capacity corev1.ResourceList, price offerings.Price) []int64 {
	use := make([]int64, len(limited))
	for i, name := range limited {
		switch name {
		case scheduling.NodesResource:
			use[i] = 1
		case scheduling.PriceResource:
			use[i] = int64(price)
		default:
			if q, ok := capacity[name]; ok {
				use[i] = podspec.Amount(name, q)
			}
		}
	}
	return use
}

// NodeLimitUse is the share of a NodePool's limits that one of its nodes uses, in the order of limited. The price of the
// node is the one in the catalog of the NodePool; 0 where the catalog does not have its offering.
func NodeLimitUse(p *scheduling.Problem, pool string, limited []corev1.ResourceName, node *corev1.Node) []int64 {
	var price offerings.Price
	if slices.Contains(limited, scheduling.PriceResource) {
		if o, ok := p.CatalogOf(pool).Lookup(instancetypes.OfferingOf(node)); ok {
			price = o.Price
		}
	}
	return LimitUse(limited, NodeCapacity(p, node), price)
}

// buildLimits fills Limits: each NodePool's spec.limits less the use by its nodes. Nodes that are being deleted do
// not count, as in Karpenter.
func buildLimits(c *Instance) {
	c.Limits = make([]model.Pool, len(c.Pools))
	for i, p := range c.Pools {
		limited := LimitedResources(p)
		if len(limited) == 0 {
			continue
		}
		left := offers.PoolLimits(p, limited)
		for _, node := range c.Facts.Problem.Nodes {
			if node.Labels[scheduling.NodePoolLabel] != p.Name || !podspec.TakesOfLimits(node) {
				continue
			}
			for d, n := range NodeLimitUse(c.Facts.Problem, p.Name, limited, node) {
				left[d] -= n
			}
		}
		c.Limits[i].Limits = left
	}
}

// Locations is the index of all offers and nodes by their labels. It is built at the first call.
func (c *Instance) Locations() *LocationIndex {
	if c.ground == nil {
		c.ground = NewLocationIndex(c)
	}
	return c.ground
}
