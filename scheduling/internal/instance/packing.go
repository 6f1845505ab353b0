package instance

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Packing is a bin packing problem for the engine: each part of a class has a feasible set, i.e. the domains of its pods are
// chosen, and options and bins are the offers and nodes of feasible sets. It is not changed after it is made.
type Packing struct {
	In           *Instance                // the problem whose pods are packed
	Locations    *LocationIndex           // the locations that sites refer to; nil where no part has a site
	Parts        []Part                   // by engine class
	FeasibleSets []FeasibleSet            // by engine group
	Lists        [][]offers.TemplateOffer // by template, the offers in some feasible set, in rank order
	Columns      *offers.RowTable         // by column of an offer, the feasible sets that have it
	Bought       []offers.OfferRef        // by engine option
	Model        *model.Problem           // the engine's input
}

// Part is a class of the engine: Count equal pods, or colocation groups of several pods, that share a feasible set. Request is
// that of one of them.
type Part struct {
	Members       []Member
	FeasibleSet   int
	Request       []int64
	Count         int64
	Priority      int32
	PerNodeLimits []model.Membership
	// Unit and Site are numbers of the search for domains. Pinned says that topology terms fix the part's site.
	Unit, Site int
	Pinned     bool
}

// Member is N pods of a planned class.
type Member struct {
	Class int
	N     int64
}

// FeasibleSet is a group of the engine: the node constraints of some groups, at one site.
type FeasibleSet struct {
	Groups []int      // all of their node constraints must hold
	Part   *Partition // the partition that Site belongs to; nil for every location
	Site   int
	Bins   model.Bits   // bins that it may use; nil for all that admit the groups
	Rows   []model.Bits // by template, offers that it may use; nil for all
	Sold   []model.Bits // by template, offers at the site that also admit the groups; nil if not known
	// NoNew says that it may use no offer, only bins.
	NoNew bool
}

// Sites is a choice of domains: the number of pods of each colocation group at each site.
type Sites struct {
	Parts        []Part        // pods at one site each, or at any site
	FeasibleSets []FeasibleSet // by number of [Part]
	// PerNodeLimits are the limits to which memberships of parts refer by number. Present are, by node, the running
	// pods that count for them.
	PerNodeLimits []model.PerNodeLimit
	Present       [][]model.Presence
}

// newPacking is a packing of parts, still without options and bins.
func newPacking(c *Instance, parts []Part, sets []FeasibleSet) *Packing {
	p := &Packing{In: c, Parts: parts, FeasibleSets: sets, Model: &model.Problem{
		Dims: c.Dims(), BestEffort: c.Facts.Solver.MinValues == scheduling.MinValuesBestEffort, Pools: c.Limits,
	}}
	p.addParts()
	return p
}

// newUnsited is the packing of [Instance.Unsited]. known are its options from an offer cache; nil builds them.
func newUnsited(c *Instance, known *engineOptions) *Packing {
	sets := make([]FeasibleSet, len(c.Classes.Groups))
	for g := range sets {
		sets[g].Groups = []int{g}
	}
	parts := make([]Part, len(c.Planned))
	for i, class := range c.Planned {
		parts[i] = Part{
			Members: []Member{{i, 1}}, FeasibleSet: class.Group,
			Request: class.Requests, Count: int64(len(class.Pods)), Priority: class.Priority,
		}
	}
	p := newPacking(c, parts, sets)
	p.Columns = c.Columns
	rows := make([][]model.Bits, len(c.Offered))
	for ti := range c.Offered {
		p.Lists, rows[ti] = append(p.Lists, c.Offered[ti].List), c.Offered[ti].Rows
	}
	p.Model.Bins, p.Model.Rooms, p.Model.Open = c.Bins, c.NodeRooms, c.Open
	switch {
	case known != nil:
		p.setOptions(known)
	case !c.HasTopologyTerms():
		softs := make([]model.Bits, len(c.Offered))
		for ti := range c.Offered {
			softs[ti] = c.Offered[ti].Soft.Clone()
		}
		p.setOptions(newOptionReader(p, rows, softs, nil).read())
	}
	return p
}

// NewPacking is the packing of pods at the sites of s, with the options and bins of its feasible sets.
func NewPacking(l *LocationIndex, s *Sites) *Packing {
	p := newPacking(l.In, s.Parts, s.FeasibleSets)
	p.Locations, p.Columns, p.Model.PerNodeLimits = l, offers.NewRowTable(len(s.FeasibleSets)), s.PerNodeLimits
	rows, softs := feasibleRows(l.In, s.FeasibleSets)
	r := relist(l, p.Columns, rows)
	p.Lists = r.lists
	p.setOptions(newOptionReader(p, rows, softs, r).read())
	p.setBins(s.Present)
	return p
}

// Buying is a copy in which the engine's option i stands for offer i.
func (p *Packing) Buying(list []offers.OfferRef) *Packing {
	out := *p
	out.Bought = list
	return &out
}

// addParts adds the parts as classes of the engine. Parts that bind the same host port conflict, so no node may hold
// both.
func (p *Packing) addParts() {
	p.Model.Groups = len(p.FeasibleSets)
	ports := make([][]podspec.HostPort, len(p.FeasibleSets))
	for i := range p.FeasibleSets {
		for _, g := range p.FeasibleSets[i].Groups {
			ports[i] = append(ports[i], p.In.Classes.Groups[g].Ports...)
		}
	}
	var ported []model.ClassID
	classes := make([]model.Class, 0, len(p.Parts))
	for i := range p.Parts {
		x := &p.Parts[i]
		m := model.Class{Group: int32(x.FeasibleSet), Request: x.Request, Count: x.Count, Priority: x.Priority, PerNodeLimits: x.PerNodeLimits}
		if len(ports[x.FeasibleSet]) > 0 {
			m.PerNode = 1
			ported = append(ported, model.ClassID(i))
		}
		classes = append(classes, m)
	}
	for _, a := range ported {
		for _, b := range ported {
			if a != b && podspec.PortsClash(ports[p.Parts[a].FeasibleSet], ports[p.Parts[b].FeasibleSet]) {
				classes[a].Conflicts = append(classes[a].Conflicts, b)
			}
		}
		slices.Sort(classes[a].Conflicts)
	}
	p.Model.Classes = classes
}

// setOptions sets the engine's options and the tables that they refer to.
func (p *Packing) setOptions(x *engineOptions) {
	p.Bought = x.bought
	p.Model.Options, p.Model.Floors, p.Model.Supply, p.Model.Passes = x.options, x.floors, x.supply, x.passes
}

// setBins sets the engine's bins. present are, by bin, the running pods that count for per-node limits.
func (p *Packing) setBins(present [][]model.Presence) {
	bins := make([]model.Bin, len(p.In.Bins))
	words := len(model.NewBits(len(p.FeasibleSets)))
	rows := make([]uint64, 2*words*len(bins))
	for i := range bins {
		row := rows[2*words*i : 2*words*(i+1)]
		bins[i] = model.Bin{Room: p.In.Bins[i].Room, Admits: row[:words:words], Soft: row[words:], Present: present[i]}
	}
	opens := make([]model.Bits, len(p.FeasibleSets))
	for i := range p.FeasibleSets {
		open, wary := binsOf(p.In, &p.FeasibleSets[i])
		opens[i] = open
		open.Each(func(at int) { bins[at].Admits.Set(i) })
		wary.Each(func(at int) { bins[at].Soft.Set(i) })
	}
	p.Model.Bins, p.Model.Rooms, p.Model.Open = bins, p.In.NodeRooms, opens
}

// binsOf is the nodes of a feasible set, and of these the nodes with a PreferNoSchedule taint that one of its
// groups does not tolerate.
func binsOf(c *Instance, s *FeasibleSet) (open, wary model.Bits) {
	open, wary = model.NewBits(len(c.Nodes)), model.NewBits(len(c.Nodes))
	switch {
	case s.Bins != nil:
		open.Or(s.Bins)
	case len(s.Groups) > 0:
		open.Or(c.Open[s.Groups[0]])
	}
	for _, g := range s.Groups {
		open.And(c.Open[g])
		wary.Or(c.wary[g])
	}
	wary.And(open)
	return open, wary
}

// Placed is the number of placed pods of a solution by planned class.
func (p *Packing) Placed(solution model.Solution) []int64 {
	out := make([]int64, len(p.In.Planned))
	for i := range p.Parts {
		for _, x := range p.Parts[i].Members {
			out[x.Class] += (p.Parts[i].Count - solution.Unplaced[i]) * x.N
		}
	}
	return out
}

// Held is, by node of a solution, the pods on each machine like it, as portions of planned classes.
func (p *Packing) Held(solution model.Solution) [][]Member {
	out := make([][]Member, len(solution.Nodes))
	for i := range solution.Nodes {
		out[i] = p.Portions(solution.Nodes[i].Items)
	}
	return out
}

// Portions is the pods on a machine as portions of planned classes.
func (p *Packing) Portions(items []model.Item) (out []Member) {
	for _, it := range items {
		for _, x := range p.Parts[it.Class].Members {
			out = append(out, Member{x.Class, x.N * it.N})
		}
	}
	return out
}
