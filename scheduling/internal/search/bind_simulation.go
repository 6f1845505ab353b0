package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// placedPod is a pod that the plan puts somewhere as part of an engine class.
type placedPod struct {
	namespace, name string
	priority        int32
	class           int // planned
	part            model.ClassID
	portion         int // of the part
	node            int // by place among the bins, and after these the machines
}

func (h placedPod) compare(o placedPod) int {
	if h.priority != o.priority {
		return cmp.Compare(o.priority, h.priority)
	}
	if h.namespace != o.namespace {
		return strings.Compare(h.namespace, o.namespace)
	}
	return strings.Compare(h.name, o.name)
}

// unbindable binds the pods of a plan one by one, with retries, in the order of kube-scheduler's queue, and counts by
// engine class the units that do not bind: spreads that count each other's pods can block each other in one order and not
// in another one. It asks package topology and not cluster.State, because the score of each trial needs the answer, and
// topology has the counts of the domains already.
func unbindable(d *decoder, machines []machine) map[model.ClassID]int64 {
	t := d.planner
	if t == nil || len(t.problem.Classes) == 0 {
		return nil
	}
	r := &bindSimulation{in: d.in, packing: d.packing, sites: d.planner, decoder: d, index: map[bindClass]int32{}, known: make([][]int32, len(d.packing.Parts))}
	r.problem = topology.Problem{Dims: t.problem.Dims, Rules: t.problem.Rules, Bins: t.problem.Bins}
	pods := placedPods(d, machines, func(p *instance.Part) bool { return p.Pinned })
	order := make([]int32, len(pods))
	for i := range pods {
		order[i] = r.bindClass(pods[i].part, pods[i].portion)
	}
	extra := t.domainsOf(d.locations(machines))
	if topology.Binds(&r.problem, order, extra) {
		return nil
	}
	return r.surplus(pods, extra)
}

// bindSimulation binds the pods of a plan one by one. Pods that obey the same rules and
// go to the same domains have the same bindClass; there are few.
type bindSimulation struct {
	in      *instance.Instance
	packing *instance.Packing
	sites   *SitePlanner
	decoder *decoder
	problem topology.Problem // its classes are the bindClasses
	index   map[bindClass]int32
	known   [][]int32 // by engine class and portion; nil where not known
}

// bindClass is a pod's own constraints with its site: pods that agree in both bind alike.
type bindClass struct {
	group, podTerms, among int
	of                     *instance.Partition
	site                   int
}

// placedPods lists the pods of some parts, in the order in which kube-scheduler takes them.
func placedPods(d *decoder, machines []machine, some func(*instance.Part) bool) []placedPod {
	n := 0
	for i := range d.in.Planned {
		n += len(d.in.Planned[i].Pods)
	}
	out := make([]placedPod, 0, n)
	roster := newNameAssigner(d, machines)
	add := func(items []model.Item, node int) {
		for _, it := range items {
			p := &d.packing.Parts[it.Class]
			for k, x := range p.Members {
				pods := roster.take(it.Class, x, it.N)
				if !some(p) {
					continue
				}
				for _, pod := range pods {
					out = append(out, placedPod{podspec.NamespaceOf(pod), pod.Name, d.in.Planned[x.Class].Priority, x.Class, it.Class, k, node})
				}
			}
		}
	}
	for i, items := range d.solution.Bins {
		add(items, i)
	}
	for i := range machines {
		add(machines[i].items, len(d.solution.Bins)+i)
	}
	slices.SortFunc(out, placedPod.compare)
	return out
}

// bindClass numbers the pods of a portion of a part.
func (r *bindSimulation) bindClass(part model.ClassID, portion int) int32 {
	p := &r.packing.Parts[part]
	if r.known[part] == nil {
		r.known[part] = slices.Repeat([]int32{-1}, len(p.Members))
	}
	known := &r.known[part][portion]
	if *known >= 0 {
		return *known
	}
	t, class := r.sites, r.in.Planned[p.Members[portion].Class]
	s := bindClass{class.Group, class.TopologyTerms, class.Among, t.book.List[t.book.Units[p.Unit].Signature].Part, p.Site}
	n, ok := r.index[s]
	if !ok {
		n = int32(len(r.problem.Classes))
		r.index[s] = n
		r.problem.Classes = append(r.problem.Classes, single(t, s))
	}
	*known = n
	return n
}

// single is pods of one bindClass in the planner's form.
func single(t *SitePlanner, s bindClass) topology.Class {
	own := t.book.List[t.book.Number([]units.Member{{Group: s.group, TopologyTerms: s.podTerms, Among: s.among, N: 1}}, nil)]
	if own.Part == nil {
		t.book.Link(own)
	}
	site := topology.Site{Limit: -1}
	site.Domains, site.Counted = t.domainsAt(own.Rules, s.of, s.site)
	return topology.Class{Count: 1, Links: own.Rules, Sites: []topology.Site{site}}
}

// surplus counts, by engine class, the units that do not bind, when not all do.
func (r *bindSimulation) surplus(pods []placedPod, extra [][]int32) map[model.ClassID]int64 {
	problem := r.problem
	problem.Classes = make([]topology.Class, len(pods))
	given := make([][]int64, len(pods))
	for i := range pods {
		problem.Classes[i] = r.problem.Classes[r.bindClass(pods[i].part, pods[i].portion)]
		problem.Classes[i].Priority = pods[i].priority
		given[i] = []int64{1}
	}
	out := map[model.ClassID]int64{}
	for i, n := range topology.Replay(&problem, given, extra) {
		if n[0] == 0 {
			out[pods[i].part]++
		}
	}
	inUnits(r.decoder, out)
	return out
}

// inUnits turns counts of pods by engine class into counts of units.
func inUnits(d *decoder, pods map[model.ClassID]int64) {
	for part, n := range pods {
		each := size(d.packing.Parts[part].Members)
		pods[part] = (n + each - 1) / each
	}
}
