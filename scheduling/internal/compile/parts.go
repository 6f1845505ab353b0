package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Part is what the engine takes for a class: pods, or units of several pods, that go
// to one seat.
type Part struct {
	Portions      []Portion
	Seat          int
	Request       []int64
	Count         int64
	Priority      int32
	PerNodeLimits []model.Membership
	// unit and site say, where ties pin the part down, what the planner calls it.
	Unit, Site int
	Pinned     bool
}

// Portion is so many pods of a class, by place among the planned classes.
type Portion struct {
	Class int
	N     int64
}

// Seat is a site for a topology signature: what the engine takes for a group.
type Seat struct {
	Groups []int      // whose node constraints all hold
	Part   *Partition // nil for everywhere
	Site   int
	Bins   model.Bits   // that will do; nil for all that admit the groups
	Rows   []model.Bits // by template, offers that will do; nil for all
	Sold   []model.Bits // by template, those that suit the groups, too; nil where that is not known
	NoNew  bool
}

// AddParts hands the parts to the engine, and which of them may not share a machine
// because they bind the same ports.
func (c *Compiler) AddParts() {
	c.Model.Groups = len(c.Seats)
	ports := make([][]podspec.HostPort, len(c.Seats))
	for i := range c.Seats {
		for _, g := range c.Seats[i].Groups {
			ports[i] = append(ports[i], c.Classes.Groups[g].Ports...)
		}
	}
	var ported []model.ClassID
	c.Model.Classes = slices.Grow(c.Model.Classes, len(c.Parts))
	for i := range c.Parts {
		p := &c.Parts[i]
		m := model.Class{Group: int32(p.Seat), Request: p.Request, Count: p.Count, Priority: p.Priority, PerNodeLimits: p.PerNodeLimits}
		if len(ports[p.Seat]) > 0 {
			m.PerNode = 1
			ported = append(ported, model.ClassID(i))
		}
		c.Model.Classes = append(c.Model.Classes, m)
	}
	for _, a := range ported {
		for _, b := range ported {
			if a != b && podspec.PortsClash(ports[c.Parts[a].Seat], ports[c.Parts[b].Seat]) {
				c.Model.Classes[a].Conflicts = append(c.Model.Classes[a].Conflicts, b)
			}
		}
		slices.Sort(c.Model.Classes[a].Conflicts)
	}
}

// seatRows returns, for each seat, the offers of a template that will do, and sets in
// softs the seats that would rather avoid the pool's taints.
func (c *Compiler) seatRows(ti int, softs model.Bits) []model.Bits {
	x := &c.Offered[ti]
	rows := make([]model.Bits, len(c.Seats))
	for i := range c.Seats {
		s := &c.Seats[i]
		if s.NoNew {
			continue
		}
		row, others := x.Rows[s.Groups[0]], s.Groups[1:]
		if s.Sold != nil {
			row, others = s.Sold[ti], nil
		}
		shared := true
		narrow := func(with model.Bits) {
			if row == nil || with == nil {
				row = nil
				return
			}
			if shared {
				row, shared = row.Clone(), false
			}
			row.And(with)
		}
		for _, g := range others {
			narrow(x.Rows[g])
		}
		if s.Rows != nil {
			narrow(s.Rows[ti])
		}
		if rows[i] = row; row == nil {
			continue
		}
		if slices.ContainsFunc(s.Groups, x.Soft.Has) {
			softs.Set(i)
		}
	}
	return rows
}

// PodCount is the number of pods that are planned.
func (c *Compiler) PodCount() (n int64) {
	for _, class := range c.Planned {
		n += int64(len(class.Pods))
	}
	return n
}

// Placed counts the pods of a solution by planned class.
func (c *Compiler) Placed(solution model.Solution) []int64 {
	out := make([]int64, len(c.Planned))
	for i := range c.Parts {
		for _, p := range c.Parts[i].Portions {
			out[p.Class] += (c.Parts[i].Count - solution.Unplaced[i]) * p.N
		}
	}
	return out
}

// Held is what the machines of a solution hold, by planned class, equal ones once.
func (c *Compiler) Held(solution model.Solution) [][]Portion {
	out := make([][]Portion, len(solution.Nodes))
	for i := range solution.Nodes {
		for _, it := range solution.Nodes[i].Items {
			for _, p := range c.Parts[it.Class].Portions {
				out[i] = append(out[i], Portion{p.Class, p.N * it.N})
			}
		}
	}
	return out
}

// Tied reports whether anything ties pods to each other or to what they would like.
func (c *Compiler) Tied() bool {
	return len(c.TopologyTerms.List) > 1 || len(c.ExistingAntiAffinity) > 0
}

// TiedKeys are the labels of rules between pods that pods of some planned classes have or are counted
// by, that of hosts aside; nil is all rules. With required those that are only preferred do not count.
func (c *Compiler) TiedKeys(classes []int, required bool) sets.Set[string] {
	some := func(is func(*podspec.PodClass) bool) bool {
		return classes == nil || slices.ContainsFunc(classes, func(i int) bool { return is(c.Planned[i]) })
	}
	among := func(target int) bool {
		return some(func(x *podspec.PodClass) bool { return c.TopologyTerms.Targets.Has(x.Among, target) })
	}
	out := sets.New[string]()
	for n, list := range c.TopologyTerms.List {
		for _, t := range list.Ties {
			if required && t.Weight > 0 {
				continue
			}
			if among(t.Target) || some(func(x *podspec.PodClass) bool { return x.TopologyTerms == n }) {
				out.Insert(requirements.NormalizeKey(t.Key))
			}
		}
	}
	for i := range c.ExistingAntiAffinity {
		if k := &c.ExistingAntiAffinity[i]; among(k.Tie.Target) {
			out.Insert(requirements.NormalizeKey(k.Tie.Key))
		}
	}
	return out.Delete(corev1.LabelHostname)
}

// BinsOf are the bins that will do for a seat, and those of them that its pods would rather
// avoid.
func (c *Compiler) BinsOf(s *Seat) (open, wary model.Bits) {
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

// ManyClasses is from how many classes on a search for machines takes long enough for it
// to be worth while to end one that leads nowhere.
const ManyClasses = 200

// A search that may take longer does other things first and is content at other times, so that
// it may end with a dearer plan, and a proof with a lower bound. Where the effort is above the
// default, the plan of the default is therefore made first, and what takes longer has to be better.

// Thorough reports whether the solver's effort is above the default.
func (f *Facts) Thorough() bool { return f.Solver.Effort > scheduling.EffortDefault }

// Effort is what a policy says of how hard to search, its default filled in.
func Effort(s *scheduling.Policy) int64 {
	if s.Effort == 0 {
		return int64(scheduling.EffortDefault)
	}
	return int64(s.Effort)
}

// Survey notes what running pods keep off their nodes, and which values nodes have: who
// keeps apart from what runs there needs others.
func Survey(l *offers.OpenLabelValues, keepers []ExistingAntiAffinity, nodes []*corev1.Node) {
	for i := range keepers {
		if i == 0 || keepers[i].Tie != keepers[i-1].Tie {
			l.Want([]podspec.Tie{keepers[i].Tie}, 0)
		}
	}
	for key, n := range l.Wanted {
		if n == 0 || l.Spread[key] {
			continue
		}
		var values []string
		for _, node := range nodes {
			for k, value := range node.Labels {
				if requirements.NormalizeKey(k) == key {
					values = append(values, value)
				}
			}
		}
		l.Taken[key] = podspec.Compacted(values)
	}
}
