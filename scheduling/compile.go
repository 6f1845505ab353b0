package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// compiler turns a problem into the engine's tables and remembers what each of
// their numbers stands for.
type compiler struct {
	*facts
	table     *resourceTable
	classes   *classifier
	bonds     *bondReader
	keepers   []keeper
	sited     *land       // where the parts have their sites; nil where they have none
	planned   []*podClass // those that are not refused
	parts     []part      // by engine class
	seats     []seat      // by engine group
	daemons   []*daemon
	pools     []*NodePool
	offers    *offerTable
	templates []*template
	bought    []purchase // by engine option
	offered   []templateOffers
	nodes     []*existingNode
	suits     []model.Bits    // by node, the groups that its labels and taints allow there
	open      []model.Bits    // by group, the bins that admit it
	wary      []model.Bits    // and those of them whose taints it would rather avoid
	unchecked map[string]bool // well-known keys that pools require and no type defines
	rooms     *roomTable
	columns   *rowTable
	model     *model.Problem
	near      []int           // the bins that model has; nil for all
	lodging   *lodging        // what is known of these; nil where all are
	lodgers   []model.ClassID // parts that some bin takes, where not all bins are near
	ground    *land           // nil until asked
	assorted  *assortment     // where rooms and columns are those of one
	notes                     // of what is tied, and of what is proven
	// cautious books limits such that minValues hold whichever option is bought.
	cautious bool
	// outbid says that more tied pods would be placed, were it not for launches that are left
	// with too few options for their pool's minValues.
	outbid bool
}

// purchase is what an engine option stands for: the best offer of a template among
// those that have the same room and admit the same pods.
type purchase struct {
	template int
	offer    int
}

// templateOffers are the offers that may be bought for a template and that some pod
// could use, in rank order.
type templateOffers struct {
	daemons []model.Bits // by daemon, the offers it runs on
	rows    []model.Bits // by group, the offers that it may use; nil for none
	soft    model.Bits   // groups that would rather avoid the pool's taints
	list    []templateOffer
	crowded []templateOffer // offers that daemons alone would overfill: never bought
}

// templateOffer is one of them: what room it has and whom it admits.
type templateOffer struct {
	offer  int
	room   int
	column int
}

// compile builds the engine's problem from what is known of the caller's. See compiler
// for what cautious means.
func (f *facts) compile(cautious bool) *compiler {
	p, s := f.problem, f.solver
	c := &compiler{facts: f, cautious: cautious, table: f.readings.resources(), rooms: &roomTable{}, unchecked: map[string]bool{}}
	c.classes = newClassifier(c.table)
	c.classes.volumes = f.volumes(f.choice)
	c.bonds = newBondReader(f)
	stocked := f.memory.restock(p, s)
	c.readPods()
	c.daemons = newDaemons(p, c.cluster.newest, &c.classes.reader)
	moved := c.table.sort()
	c.classes.sort(moved, c.bonds.targets.sets)
	for _, d := range c.daemons {
		d.requests = c.table.renumbered(d.requests, moved)
	}
	c.pools = poolOrder(p.NodePools)
	stocked()
	c.offers = f.memory.offers(p, s, c.table, c.classes.volumes)
	c.model = &model.Problem{
		Dims: len(c.table.names), BestEffort: s.MinValues == MinValuesBestEffort,
	}
	c.buildClasses()
	c.buildAssortment()
	c.buildBins()
	c.buildLimits()
	return c
}

// pending reports whether a pod waits for a node: not bound, not ended, not being
// deleted, and nobody else's to place.
func pending(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !terminal(pod) && !ofDaemonSet(pod)
}

func (c *compiler) poolNamed(name string) *NodePool {
	for _, p := range c.problem.NodePools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// buildClasses hands the classes to the engine, each as one part that may go
// wherever its group's constraints let it.
func (c *compiler) buildClasses() {
	for g := range c.classes.groups {
		c.seats = append(c.seats, seat{groups: []int{g}})
	}
	for _, class := range c.classes.classes {
		if class.refused != "" {
			continue
		}
		c.parts = append(c.parts, part{
			portions: []portion{{len(c.planned), 1}}, seat: class.group,
			request: class.requests, count: int64(len(class.pods)), priority: class.priority,
		})
		c.planned = append(c.planned, class)
	}
	c.addParts()
}

// questions are what pods and daemons ask of labels.
func (c *compiler) questions() *questions {
	asked := newQuestions(c.classes.groups, c.daemons)
	pods := make([]int, len(c.bonds.list))
	for _, class := range c.classes.classes {
		pods[class.bonds] += len(class.pods)
	}
	for i, b := range c.bonds.list {
		asked.tell(b, pods[i])
	}
	asked.levels.survey(c.keepers, c.problem.Nodes)
	return asked
}

// buildTemplates expands the pools.
func (c *compiler) buildTemplates(asked *questions) {
	for number, p := range c.pools {
		templates, unchecked := c.offers.templates(p, number, c.problem.catalogOf(p.Name), asked)
		c.templates = append(c.templates, templates...)
		for _, key := range unchecked {
			c.unchecked[key] = true
		}
	}
}

// weightRank numbers the distinct weights, highest first; without strict weights
// all pools rank the same.
func (c *compiler) weightRank() []int32 {
	ranks := make([]int32, len(c.pools))
	for i := 1; i < len(c.pools); i++ {
		ranks[i] = ranks[i-1]
		if c.solver.Weights != WeightIgnore && c.pools[i].weight() != c.pools[i-1].weight() {
			ranks[i]++
		}
	}
	return ranks
}

// buildOptions enumerates what may be bought.
func (c *compiler) buildOptions() {
	for _, v := range c.templates {
		x := templateOffers{daemons: c.offers.daemonRows(v, c.daemons), soft: model.NewBits(len(c.classes.groups))}
		x.rows = c.groupRows(v, x.daemons, x.soft)
		c.offered = append(c.offered, x)
	}
	c.addOffers()
}

// addOffers hands the engine what may be bought for its groups.
func (c *compiler) addOffers() {
	ranks := c.weightRank()
	supplies := newSupplies(c)
	c.assorted = nil
	c.columns = newRowTable(len(c.seats))
	rows, softs := make([][]model.Bits, len(c.templates)), make([]model.Bits, len(c.templates))
	for ti := range c.templates {
		softs[ti] = model.NewBits(len(c.seats))
		rows[ti] = c.seatRows(ti, softs[ti])
	}
	c.dropVainWishes(rows, softs)
	var r *relisted
	if c.sited != nil {
		r = c.relist(rows)
	}
	for ti, v := range c.templates {
		x := &c.offered[ti]
		switch {
		case c.sited != nil:
			c.addOptions(ti, r.firsts[ti], ranks[v.number], softs[ti], supplies, r)
		default:
			x.list = c.listOffers(v, x, rows[ti])
			if !c.tied() { // else nothing is bought before pods have their sites
				c.addOptions(ti, x.list, ranks[v.number], softs[ti], supplies, nil)
			}
		}
	}
	c.model.Supply = supplies.counts
	c.thin()
	c.model.Passes = passes(c.model.Options)
}

// dropVainWishes lets seats be indifferent to taints that they would rather avoid where
// every pool that they may use has some.
func (c *compiler) dropVainWishes(rows [][]model.Bits, softs []model.Bits) {
	for i := range c.seats {
		vain := true
		for ti := range rows {
			vain = vain && (rows[ti][i] == nil || softs[ti].Has(i) || !rows[ti][i].Any() || !c.choiceIn(c.templates[ti], rows[ti][i]))
		}
		for ti := range rows {
			if vain {
				softs[ti].Clear(i)
			}
		}
	}
}

// groupRows returns, for each group, the offers whose machines it may run on when
// they are bought for a template, and sets in softs the groups that would rather
// avoid the pool's taints.
func (c *compiler) groupRows(v *template, daemons []model.Bits, softs model.Bits) []model.Bits {
	rows := make([]model.Bits, len(c.classes.groups))
	for g, group := range c.classes.groups {
		hard, soft := v.hardTaint(group)
		if hard != nil {
			continue
		}
		if soft {
			softs.Set(g)
		}
		row := c.offers.admits(v, group, false)
		for i, d := range c.daemons {
			if portsClash(group.ports, d.constraint.ports) {
				row.AndNot(daemons[i])
			}
		}
		rows[g] = row
	}
	return rows
}

// listOffers returns the offers of a template that are on sale and admit any group,
// in rank order, with what room daemons leave.
func (c *compiler) listOffers(v *template, x *templateOffers, admits []model.Bits) []templateOffer {
	words := len(c.columns.scratch)
	matrix := make([]uint64, len(c.offers.offers)*words)
	for g, row := range admits {
		if row == nil {
			continue
		}
		at, bit := g>>6, uint64(1)<<(g&63)
		row.Each(func(o int) { matrix[o*words+at] |= bit })
	}
	out := make([]templateOffer, 0, v.within.Count())
	v.within.Each(func(o int) {
		column := model.Bits(matrix[o*words : (o+1)*words])
		if !c.offers.offers[o].launchable || !column.Any() {
			return
		}
		t := templateOffer{offer: o, room: c.rooms.number(c, c.offers.offers[o].shape, x.daemons, o), column: c.columns.number(column)}
		if t.room < 0 {
			x.crowded = append(x.crowded, t)
			return
		}
		out = append(out, t)
	})
	return out
}

// addOptions hands the engine one option for each kind of some offers of a template: same
// room, same groups, same reservation, same share of limits. The first in rank
// order stands for all. Which that is r remembers, if there is one.
func (c *compiler) addOptions(ti int, list []templateOffer, rank int32, softs model.Bits, supplies *supplies, r *relisted) {
	v, x := c.templates[ti], &c.offered[ti]
	limited := limitedResources(v.pool)
	floors := c.addFloors(v, x)
	avoids := map[int]model.Bits{} // by column
	firsts := r.kindsOf(ti, floors[0] != floors[1], func(apart bool) []templateOffer { return c.kinds(list, len(limited) > 0, apart, supplies) })
	c.model.Options = slices.Grow(c.model.Options, len(firsts))
	c.bought = slices.Grow(c.bought, len(firsts))
	for _, o := range firsts {
		offer := &c.offers.offers[o.offer]
		floor := floors[capacityKind(offer)]
		admits := c.columns.rows[o.column]
		avoid, known := avoids[o.column]
		if !known {
			avoid = admits.Clone()
			avoid.And(softs)
			avoids[o.column] = avoid
		}
		use := limitUse(limited, c.offers.shapes[offer.shape].capacity)
		for _, worst := range c.worst(floor, use) {
			c.model.Options = append(c.model.Options, model.Option{
				Pool: model.PoolID(v.number), Room: c.rooms.rooms[o.room], Use: use, Worst: worst,
				Cost: offer.cost, Price: int64(offer.offering.Price), Supply: supplies.number(offer.offering),
				Admits: admits, Soft: avoid, Weight: rank, Floor: floor,
			})
			c.bought = append(c.bought, purchase{template: ti, offer: o.offer})
		}
	}
}

// kinds are the first of each kind of some offers. Those with limits differ by their shapes,
// too, and those that are to be told apart by whether they are spot offers.
func (c *compiler) kinds(list []templateOffer, limited, apart bool, supplies *supplies) (firsts []templateOffer) {
	type kind struct {
		room, column int
		supply       int32
		shape        int
		spot         int
	}
	seen := make(map[kind]bool, len(list))
	for _, o := range list {
		offer := &c.offers.offers[o.offer]
		k := kind{room: o.room, column: o.column, supply: supplies.number(offer.offering)}
		if limited {
			k.shape = offer.shape
		}
		if apart {
			k.spot = capacityKind(offer)
		}
		if !seen[k] {
			seen[k] = true
			firsts = append(firsts, o)
		}
	}
	return firsts
}

// limitedResources are the resources that a pool limits, sorted.
func limitedResources(p *NodePool) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(p.Spec.Limits))
}

// poolLimits are the limits of a pool, nothing taken.
func poolLimits(p *NodePool, limited []corev1.ResourceName) []int64 {
	limits := make([]int64, len(limited))
	for d, name := range limited {
		limits[d] = amount(name, p.Spec.Limits[name])
	}
	return limits
}

// limitUse is what one machine takes of the limits.
func limitUse(limited []corev1.ResourceName, capacity corev1.ResourceList) []int64 {
	use := make([]int64, len(limited))
	for i, name := range limited {
		if name == NodesResource {
			use[i] = 1
		} else if q, ok := capacity[name]; ok {
			use[i] = amount(name, q)
		}
	}
	return use
}

// buildLimits works out what the pools may still buy: their limits less the
// capacity of their nodes that are not being removed.
func (c *compiler) buildLimits() {
	c.model.Pools = make([]model.Pool, len(c.pools))
	for i, p := range c.pools {
		limited := limitedResources(p)
		if len(limited) == 0 {
			continue
		}
		left := poolLimits(p, limited)
		for _, node := range c.problem.Nodes {
			if node.Labels[NodePoolLabel] != p.Name || going(node) {
				continue
			}
			for d, n := range limitUse(limited, c.nodeCapacity(node)) {
				left[d] -= n
			}
		}
		c.model.Pools[i].Limits = left
	}
}
