package compile

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

// Compiler turns a problem into the engine's tables and remembers what each of
// their numbers stands for.
type Compiler struct {
	*Facts
	Table                *podspec.ResourceTable
	Classes              *podspec.Classifier
	TopologyTerms        *terms.Reader
	ExistingAntiAffinity []ExistingAntiAffinity
	Sited                *LocationIndex      // where the parts have their sites; nil where they have none
	Planned              []*podspec.PodClass // those that are not refused
	Parts                []Part              // by engine class
	Seats                []Seat              // by engine group
	Daemons              []*offers.Daemon
	Pools                []*scheduling.NodePool
	Offers               *offers.OfferTable
	Nodes                []*ExistingNode
	Suits                []model.Bits // by node, the groups that its labels and taints allow there
	Open                 []model.Bits // by group, the bins that admit it
	wary                 []model.Bits // and those of them whose taints it would rather avoid
	onSale
	Model    *model.Problem
	ground   *LocationIndex // nil until asked
	Assorted *Assortment    // where rooms and columns are those of one
	// cautious books limits such that minValues hold whichever option is bought.
	Cautious bool
	// outbid says that more tied pods would be placed, were it not for launches that are left
	// with too few options for their pool's minValues.
	Outbid bool
}

// Compile builds the engine's problem from what is known of the caller's. See compiler
// for what cautious means.
func (f *Facts) Compile(cautious bool) *Compiler {
	p, s := f.Problem, f.Solver
	c := &Compiler{Facts: f, Cautious: cautious, Table: f.Readings.Resources(), onSale: onSale{Rooms: &offers.RoomTable{}, unchecked: map[string]bool{}}}
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
	c.readPods()
	c.Daemons = newDaemons(p, c.Cluster.Newest, &c.Classes.Reader)
	moved := c.Table.Sort()
	c.Classes.Sort(moved, c.TopologyTerms.Targets.Sets)
	for _, d := range c.Daemons {
		d.Requests = c.Table.Renumbered(d.Requests, moved)
	}
	c.Pools = offers.PoolOrder(p.NodePools)
	stocked()
	c.Offers = f.Memory.offers(p, s, c.Table, c.Classes.Volumes)
	c.Model = &model.Problem{
		Dims: len(c.Table.Names), BestEffort: s.MinValues == scheduling.MinValuesBestEffort,
	}
	c.buildClasses()
	c.buildAssortment()
	c.buildBins()
	c.buildLimits()
	return c
}

// PoolNamed is the NodePool of a name, nil for none.
func (c *Compiler) PoolNamed(name string) *scheduling.NodePool {
	for _, p := range c.Problem.NodePools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// buildClasses hands the classes to the engine, each as one part that may go
// wherever its group's constraints let it.
func (c *Compiler) buildClasses() {
	for g := range c.Classes.Groups {
		c.Seats = append(c.Seats, Seat{Groups: []int{g}})
	}
	for _, class := range c.Classes.Classes {
		if class.Refused != "" {
			continue
		}
		c.Parts = append(c.Parts, Part{
			Portions: []Portion{{len(c.Planned), 1}}, Seat: class.Group,
			Request: class.Requests, Count: int64(len(class.Pods)), Priority: class.Priority,
		})
		c.Planned = append(c.Planned, class)
	}
	c.AddParts()
}

// questions are what pods and daemons ask of labels.
func (c *Compiler) questions() *offers.Questions {
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
func (c *Compiler) buildTemplates(asked *offers.Questions) {
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
func (c *Compiler) WeightRank() []int32 {
	ranks := make([]int32, len(c.Pools))
	for i := 1; i < len(c.Pools); i++ {
		ranks[i] = ranks[i-1]
		if c.Solver.Weights != scheduling.WeightIgnore && c.Pools[i].Weight() != c.Pools[i-1].Weight() {
			ranks[i]++
		}
	}
	return ranks
}

// buildOptions enumerates what may be bought.
func (c *Compiler) buildOptions() {
	for _, v := range c.Templates {
		x := offers.TemplateOffers{Daemons: daemonRows(c.Offers, v, c.Daemons), Soft: model.NewBits(len(c.Classes.Groups))}
		x.Rows = c.groupRows(v, x.Daemons, x.Soft)
		c.Offered = append(c.Offered, x)
	}
	c.AddOffers()
}

// AddOffers hands the engine what may be bought for its groups.
func (c *Compiler) AddOffers() {
	ranks := c.WeightRank()
	supplies := newSupplies(c)
	c.Assorted = nil
	c.Columns = offers.NewRowTable(len(c.Seats))
	rows, softs := make([][]model.Bits, len(c.Templates)), make([]model.Bits, len(c.Templates))
	for ti := range c.Templates {
		softs[ti] = model.NewBits(len(c.Seats))
		rows[ti] = c.seatRows(ti, softs[ti])
	}
	c.dropMootPreferences(rows, softs)
	var r *relisted
	if c.Sited != nil {
		r = c.relist(rows)
	}
	for ti, v := range c.Templates {
		x := &c.Offered[ti]
		switch {
		case c.Sited != nil:
			c.addOptions(ti, r.firsts[ti], ranks[v.Number], softs[ti], supplies, r)
		default:
			x.List = c.listOffers(v, x, rows[ti])
			if !c.Tied() { // else nothing is bought before pods have their sites
				c.addOptions(ti, x.List, ranks[v.Number], softs[ti], supplies, nil)
			}
		}
	}
	c.Model.Supply = supplies.Counts
	c.thin()
	c.Model.Passes = passes(c.Model.Options)
}

// dropMootPreferences lets seats be indifferent to taints that they would rather avoid where
// every pool that they may use has some.
func (c *Compiler) dropMootPreferences(rows [][]model.Bits, softs []model.Bits) {
	for i := range c.Seats {
		moot := true
		for ti := range rows {
			moot = moot && (rows[ti][i] == nil || softs[ti].Has(i) || !rows[ti][i].Any() || !c.ChoiceIn(c.Templates[ti], rows[ti][i]))
		}
		for ti := range rows {
			if moot {
				softs[ti].Clear(i)
			}
		}
	}
}

// groupRows returns, for each group, the offers whose machines it may run on when
// they are bought for a template, and sets in softs the groups that would rather
// avoid the pool's taints.
func (c *Compiler) groupRows(v *offers.Template, daemons []model.Bits, softs model.Bits) []model.Bits {
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
func (c *Compiler) listOffers(v *offers.Template, x *offers.TemplateOffers, admits []model.Bits) []offers.TemplateOffer {
	words := len(c.Columns.Scratch)
	matrix := make([]uint64, len(c.Offers.Offers)*words)
	for g, row := range admits {
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

// addOptions hands the engine one option for each kind of some offers of a template: same
// room, same groups, same reservation, same share of limits. The first in rank
// order stands for all. Which that is r remembers, if there is one.
func (c *Compiler) addOptions(ti int, list []offers.TemplateOffer, rank int32, softs model.Bits, supplies *offers.Supplies, r *relisted) {
	v, x := c.Templates[ti], &c.Offered[ti]
	limited := LimitedResources(v.Pool)
	floors := c.addFloors(v, x)
	avoids := map[int]model.Bits{} // by column
	firsts := r.kindsOf(ti, floors[0] != floors[1], func(apart bool) []offers.TemplateOffer { return c.kinds(list, len(limited) > 0, apart, supplies) })
	c.Model.Options = slices.Grow(c.Model.Options, len(firsts))
	c.Bought = slices.Grow(c.Bought, len(firsts))
	for _, o := range firsts {
		offer := &c.Offers.Offers[o.Offer]
		floor := floors[offers.CapacityKind(offer)]
		admits := c.Columns.Rows[o.Column]
		avoid, known := avoids[o.Column]
		if !known {
			avoid = admits.Clone()
			avoid.And(softs)
			avoids[o.Column] = avoid
		}
		use := LimitUse(limited, c.Offers.Shapes[offer.Shape].Capacity)
		for _, worst := range c.worst(floor, use) {
			c.Model.Options = append(c.Model.Options, model.Option{
				Pool: model.PoolID(v.Number), Room: c.Rooms.Rooms[o.Room], Use: use, Worst: worst,
				Cost: offer.Cost, Price: int64(offer.Offering.Price), Supply: supplies.Number(offer.Offering),
				Admits: admits, Soft: avoid, Weight: rank, Floor: floor,
			})
			c.Bought = append(c.Bought, offers.Purchase{Template: ti, Offer: o.Offer})
		}
	}
}

// kinds are the first of each kind of some offers. Those with limits differ by their shapes,
// too, and those that are to be told apart by whether they are spot offers.
func (c *Compiler) kinds(list []offers.TemplateOffer, limited, apart bool, supplies *offers.Supplies) (firsts []offers.TemplateOffer) {
	type kind struct {
		room, column int
		supply       int32
		shape        int
		spot         int
	}
	seen := make(map[kind]bool, len(list))
	for _, o := range list {
		offer := &c.Offers.Offers[o.Offer]
		k := kind{room: o.Room, column: o.Column, supply: supplies.Number(offer.Offering)}
		if limited {
			k.shape = offer.Shape
		}
		if apart {
			k.spot = offers.CapacityKind(offer)
		}
		if !seen[k] {
			seen[k] = true
			firsts = append(firsts, o)
		}
	}
	return firsts
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
func (c *Compiler) buildLimits() {
	c.Model.Pools = make([]model.Pool, len(c.Pools))
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
		c.Model.Pools[i].Limits = left
	}
}
