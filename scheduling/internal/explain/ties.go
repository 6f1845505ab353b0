package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// tied counts pods by domain for the topology terms of pods without a place, once a plan is carried out. It judges one more
// pod as kube-scheduler would.
type tied struct {
	book    *units.RuleBook
	in      *instance.Instance
	state   *PlanState
	spots   []int                         // by launch, its spot, or -1
	nodeOf  []int                         // by bin, its node of the locations
	holds   [][]duty                      // by planned class, its own constraints; filled for those left out
	left    map[int]bool                  // planned classes of which pods were left out
	hosts   map[int]*targetHosts          // by target of ties per host
	least   map[int]minimum               // by spread rule
	seen    map[int][]foreignAntiAffinity // memo, by planned class
	memo    siteBars
	spotsOf map[string]int // by name of a placed pod; filled when asked
}

// duty is a constraint of a class that has to hold.
type duty struct {
	tie  podspec.Tie
	rule int // -1 where the domains are single nodes
}

// targetHosts is where pods of a target are.
type targetHosts struct {
	nodes                []int64 // by node of the locations, then by launch
	named                int64   // anywhere, nodes without a host name excepted
	existingAntiAffinity []bool  // likewise: a pod there keeps the target off that one node
}

// minimum is the least number of pods in a domain of a spread, kube-scheduler's global minimum.
type minimum struct {
	count   int64
	domain  int32
	domains int64
}

// newTied returns nil where nothing ties the pods that a plan leaves out.
func newTied(s *PlanState) *tied {
	t := &tied{
		book: units.NewRuleBook(instance.NewLocationIndex(s.in)), in: s.in, state: s, holds: make([][]duty, len(s.in.Planned)),
		left: map[int]bool{}, hosts: map[int]*targetHosts{}, least: map[int]minimum{}, seen: map[int][]foreignAntiAffinity{},
	}
	for id, class := range s.in.Planned {
		if len(s.Unplaced(id)) > 0 && (class.TopologyTerms != 0 || len(s.in.TopologyTerms.Targets.Sets[class.Among]) > 0) {
			t.left[id] = true
		}
	}
	if len(t.left) == 0 {
		return nil
	}
	t.nodeOf = make([]int, len(s.in.Nodes))
	for bin, n := range t.book.Locations.PlaceOf {
		t.nodeOf[bin] = int(n)
	}
	t.enter()
	t.book.Keep()
	t.book.Count()
	t.countHosts()
	t.carryOut()
	t.open()
	return t
}

// hard calls f with every constraint of a class that has to hold.
func (t *tied) hard(id int, f func(podspec.Tie)) {
	for _, x := range t.in.TopologyTerms.List[t.in.Planned[id].TopologyTerms].Ties {
		if x.Weight == 0 {
			f(x)
		}
	}
}

// enter numbers the rules of the classes that were left out, and those that may keep
// their pods away.
func (t *tied) enter() {
	wanted := map[int]bool{}
	for _, id := range slices.Sorted(maps.Keys(t.left)) {
		class := t.in.Planned[id]
		t.hard(id, func(x podspec.Tie) {
			b := duty{tie: x, rule: -1}
			if x.PerHost() {
				t.host(x.Target)
			} else {
				b.rule = t.book.Rule(x, class.Group, t.in.TopologyTerms.List[class.TopologyTerms])
			}
			if !slices.Contains(t.holds[id], b) {
				t.holds[id] = append(t.holds[id], b)
			}
		})
		slices.SortFunc(t.holds[id], compareDuties)
		for _, target := range t.in.TopologyTerms.Targets.Sets[class.Among] {
			wanted[int(target)] = true
		}
	}
	for id := range t.in.Planned {
		t.hard(id, func(x podspec.Tie) {
			switch {
			case x.Kind != podspec.AntiTie || !wanted[x.Target]:
			case x.PerHost():
				t.host(x.Target)
			default:
				t.book.Rule(x, -1, nil)
			}
		})
	}
}

// compareDuties orders constraints so that the order in which pods state them does not
// show.
func compareDuties(a, b duty) int {
	return cmp.Or(
		cmp.Compare(a.tie.Kind, b.tie.Kind), strings.Compare(a.tie.Key, b.tie.Key), cmp.Compare(a.tie.Target, b.tie.Target),
		cmp.Compare(a.tie.MaxSkew, b.tie.MaxSkew), cmp.Compare(a.tie.MinDomains, b.tie.MinDomains), cmp.Compare(a.rule, b.rule),
	)
}

// host returns where pods of a target are, node by node.
func (t *tied) host(target int) *targetHosts {
	if t.hosts[target] == nil {
		n := len(t.book.Locations.Places) + len(t.state.Machines)
		t.hosts[target] = &targetHosts{nodes: make([]int64, n), existingAntiAffinity: make([]bool, n)}
	}
	return t.hosts[target]
}

// countHosts counts the running pods node by node.
func (t *tied) countHosts() {
	for k, node := range t.book.Locations.Kept() {
		if k.Tie.PerHost() {
			t.host(k.Tie.Target).existingAntiAffinity[node] = true
		}
	}
	t.book.Locations.RunningSets(func(_ *corev1.Pod, node int, among []int32) {
		_, named := t.book.Locations.Places[node].Labels[corev1.LabelHostname]
		for _, target := range among {
			if c := t.hosts[int(target)]; c != nil {
				c.nodes[node]++
				if named {
					c.named++
				}
			}
		}
	})
}

// carryOut counts the pods of the plan.
func (t *tied) carryOut() {
	for i := range t.state.Machines {
		m := &t.state.Machines[i]
		spot := -1
		if m.Template >= 0 {
			spot = t.book.Locations.Spot(m.Template, m.Offer)
		}
		t.spots = append(t.spots, spot)
		if spot < 0 {
			continue
		}
		for r := range t.book.Rules {
			if x := &t.book.Rules[r]; x.Tie.Kind == podspec.SpreadTie && t.book.Locations.Axes[x.Filter].At[spot] == 1 {
				if at := t.book.Locations.Axes[x.Axis].At[spot]; at >= 0 {
					x.Domains[at].Eligible = true
				}
			}
		}
		t.add(m.Items, spot, len(t.book.Locations.Places)+i)
	}
	for n, bin := range t.book.Locations.BinOf {
		if bin >= 0 {
			t.add(t.state.Bins[bin].Items, t.book.Locations.OnSale+n, n)
		}
	}
}

// add counts pods at a spot, on a node or a machine of the plan.
func (t *tied) add(items []instance.Portion, spot, node int) {
	for _, it := range items {
		for _, target := range t.in.TopologyTerms.Targets.Sets[t.in.Planned[it.Class].Among] {
			for _, r := range t.book.ByTarget[int(target)] {
				x := &t.book.Rules[r]
				at := t.book.Locations.Axes[x.Axis].At[spot]
				if at < 0 || x.Tie.Kind == podspec.SpreadTie && t.book.Locations.Axes[x.Filter].At[spot] != 1 {
					continue
				}
				x.Domains[at].Count += it.N
				x.Total += it.N
			}
			if c := t.hosts[int(target)]; c != nil {
				c.named += it.N
				c.nodes[node] += it.N
			}
		}
		t.hard(it.Class, func(x podspec.Tie) {
			if x.Kind != podspec.AntiTie {
				return
			}
			if x.PerHost() {
				if c := t.hosts[x.Target]; c != nil {
					c.existingAntiAffinity[node] = true
				}
				return
			}
			if r, ok := t.book.RuleOf[units.RuleKey{Tie: x, Filter: -1}]; ok {
				if at := t.book.Locations.Axes[t.book.Rules[r].Axis].At[spot]; at >= 0 {
					t.book.Rules[r].Domains[at].Holders += it.N
				}
			}
		})
	}
}

// open lets the domains count that pods of a spread could go to, though nothing
// stands there: a plan spreads over them too.
func (t *tied) open() {
	shared := map[int]bool{}
	for id := range t.left {
		shared[t.in.Planned[id].TopologyTerms] = true
	}
	for id, class := range t.in.Planned {
		if !shared[class.TopologyTerms] {
			continue
		}
		bonds := t.in.TopologyTerms.List[class.TopologyTerms]
		var rules []int
		t.hard(id, func(x podspec.Tie) {
			if x.Kind == podspec.SpreadTie && !x.PerHost() {
				rules = append(rules, t.book.Rule(x, class.Group, bonds))
			}
		})
		if len(rules) > 0 {
			t.openFor(class, rules)
		}
	}
}

func (t *tied) openFor(class *podspec.PodClass, rules []int) {
	l := t.book.Locations
	fits := map[int]bool{}
	for ti := range l.In.Templates {
		row := l.In.Offered[ti].Rows[class.Group]
		if row == nil {
			continue
		}
		for i, o := range l.In.Offered[ti].List {
			if !row.Has(o.Offer) {
				continue
			}
			ok, known := fits[o.Room]
			if !known {
				ok = model.Fits(l.In.Rooms.Rooms[o.Room], class.Requests)
				fits[o.Room] = ok
			}
			if !ok {
				continue
			}
			for _, r := range rules {
				x := &t.book.Rules[r]
				if at := l.Axes[x.Axis].At[l.First[ti]+i]; at >= 0 && l.Axes[x.Filter].At[l.First[ti]+i] == 1 {
					x.Domains[at].Eligible = true
				}
			}
		}
	}
}

// minimum returns the global minimum of a spread.
func (t *tied) minimum(rule int) minimum {
	if m, ok := t.least[rule]; ok {
		return m
	}
	m := minimum{domain: -1}
	r := &t.book.Rules[rule]
	for i := range r.Domains {
		d := &r.Domains[i]
		if !d.Eligible {
			continue
		}
		if m.domains == 0 || d.Count < m.count {
			m.count, m.domain = d.Count, int32(i)
		}
		m.domains++
	}
	if m.domains < r.Tie.MinDomains {
		m.count, m.domain = 0, -1
	}
	t.least[rule] = m
	return m
}
