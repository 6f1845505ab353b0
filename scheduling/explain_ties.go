package scheduling

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// tied is what ties of pods that found no place look at, once a plan is carried out.
// It is judged as kube-scheduler would judge one more pod.
type tied struct {
	*ruleBook
	scene   *scene
	spots   []int            // by launch, its spot, or -1
	nodeOf  []int            // by bin, its node of the land
	holds   [][]duty         // by planned class, its own constraints; filled for those left out
	left    map[int]bool     // planned classes of which pods were left out
	hosts   map[int]*company // by target of ties per host
	least   map[int]minimum  // by spread rule
	seen    map[int][]shun   // memo of shuns, by planned class
	memo    siteBars
	spotsOf map[string]int // by name of a placed pod; filled when asked
}

// duty is a constraint of a class that has to hold.
type duty struct {
	tie
	rule int // -1 where the domains are single nodes
}

// company is where pods of a target are.
type company struct {
	nodes    []int64 // by node of the land
	machines int64   // on planned ones
	named    int64   // anywhere, nodes without a host name excepted
	keepers  []bool  // by node: a pod there keeps the target off that one node
}

// minimum is what a spread measures domains by.
type minimum struct {
	count   int64
	domain  int32
	domains int64
}

// newTied returns nil where nothing ties the pods that a plan leaves out.
func newTied(s *scene) *tied {
	t := &tied{
		ruleBook: newRuleBook(newLand(s.compiler)), scene: s, holds: make([][]duty, len(s.planned)),
		left: map[int]bool{}, hosts: map[int]*company{}, least: map[int]minimum{}, seen: map[int][]shun{},
	}
	for id, class := range s.planned {
		if len(s.unplaced(id)) > 0 && (class.bonds != 0 || len(s.bonds.targets.sets[class.among]) > 0) {
			t.left[id] = true
		}
	}
	if len(t.left) == 0 {
		return nil
	}
	t.nodeOf = make([]int, len(s.nodes))
	for bin, n := range t.land.placeOf {
		t.nodeOf[bin] = int(n)
	}
	t.enter()
	t.keep()
	t.count()
	t.countHosts()
	t.carryOut()
	t.open()
	return t
}

// hard calls f with every constraint of a class that has to hold.
func (t *tied) hard(id int, f func(tie)) {
	for _, x := range t.scene.bonds.list[t.scene.planned[id].bonds].ties {
		if x.weight == 0 {
			f(x)
		}
	}
}

// enter numbers the rules of the classes that were left out, and those that may keep
// their pods away.
func (t *tied) enter() {
	wanted := map[int]bool{}
	for _, id := range slices.Sorted(maps.Keys(t.left)) {
		class := t.scene.planned[id]
		t.hard(id, func(x tie) {
			b := duty{tie: x, rule: -1}
			if x.perHost() {
				t.host(x.target)
			} else {
				b.rule = t.rule(x, class.group, t.scene.bonds.list[class.bonds])
			}
			if !slices.Contains(t.holds[id], b) {
				t.holds[id] = append(t.holds[id], b)
			}
		})
		slices.SortFunc(t.holds[id], compareDuties)
		for _, target := range t.scene.bonds.targets.sets[class.among] {
			wanted[int(target)] = true
		}
	}
	for id := range t.scene.planned {
		t.hard(id, func(x tie) {
			switch {
			case x.kind != antiTie || !wanted[x.target]:
			case x.perHost():
				t.host(x.target)
			default:
				t.rule(x, -1, nil)
			}
		})
	}
}

// compareDuties orders constraints so that the order in which pods state them does not
// show.
func compareDuties(a, b duty) int {
	return cmp.Or(
		cmp.Compare(a.kind, b.kind), strings.Compare(a.key, b.key), cmp.Compare(a.target, b.target),
		cmp.Compare(a.maxSkew, b.maxSkew), cmp.Compare(a.minDomains, b.minDomains), cmp.Compare(a.rule, b.rule),
	)
}

// host returns where pods of a target are, node by node.
func (t *tied) host(target int) *company {
	if t.hosts[target] == nil {
		t.hosts[target] = &company{nodes: make([]int64, len(t.land.places)), keepers: make([]bool, len(t.land.places))}
	}
	return t.hosts[target]
}

// countHosts counts the running pods node by node.
func (t *tied) countHosts() {
	for k, node := range t.land.kept() {
		if k.perHost() {
			t.host(k.target).keepers[node] = true
		}
	}
	t.land.runningSets(func(_ *corev1.Pod, node int, among []int32) {
		_, named := t.land.places[node].labels[corev1.LabelHostname]
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
	for i := range t.scene.machines {
		m := &t.scene.machines[i]
		spot := -1
		if m.template >= 0 {
			spot = t.land.spot(m.template, m.offer)
		}
		t.spots = append(t.spots, spot)
		if spot < 0 {
			continue
		}
		for r := range t.rules {
			if x := &t.rules[r]; x.kind == spreadTie && t.land.axes[x.filter].at[spot] == 1 {
				if at := t.land.axes[x.axis].at[spot]; at >= 0 {
					x.domains[at].Eligible = true
				}
			}
		}
		t.add(m.items, spot, -1)
	}
	for n, bin := range t.land.binOf {
		if bin >= 0 {
			t.add(t.scene.bins[bin].items, t.land.onSale+n, n)
		}
	}
}

// add counts pods at a spot; node is -1 on a machine of the plan.
func (t *tied) add(items []portion, spot, node int) {
	for _, it := range items {
		for _, target := range t.scene.bonds.targets.sets[t.scene.planned[it.class].among] {
			for _, r := range t.byTarget[int(target)] {
				x := &t.rules[r]
				at := t.land.axes[x.axis].at[spot]
				if at < 0 || x.kind == spreadTie && t.land.axes[x.filter].at[spot] != 1 {
					continue
				}
				x.domains[at].Count += it.n
				x.total += it.n
			}
			if c := t.hosts[int(target)]; c != nil {
				c.named += it.n
				if node >= 0 {
					c.nodes[node] += it.n
				} else {
					c.machines += it.n
				}
			}
		}
		t.hard(it.class, func(x tie) {
			if x.kind != antiTie {
				return
			}
			if x.perHost() {
				if c := t.hosts[x.target]; c != nil && node >= 0 {
					c.keepers[node] = true
				}
				return
			}
			if r, ok := t.ruleOf[ruleKey{tie: x, filter: -1}]; ok {
				if at := t.land.axes[t.rules[r].axis].at[spot]; at >= 0 {
					t.rules[r].domains[at].Holders += it.n
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
		shared[t.scene.planned[id].bonds] = true
	}
	for id, class := range t.scene.planned {
		if !shared[class.bonds] {
			continue
		}
		bonds := t.scene.bonds.list[class.bonds]
		var rules []int
		t.hard(id, func(x tie) {
			if x.kind == spreadTie && !x.perHost() {
				rules = append(rules, t.rule(x, class.group, bonds))
			}
		})
		if len(rules) > 0 {
			t.openFor(class, rules)
		}
	}
}

func (t *tied) openFor(class *podClass, rules []int) {
	l := t.land
	fits := map[int]bool{}
	for ti := range l.templates {
		row := l.offered[ti].rows[class.group]
		if row == nil {
			continue
		}
		for i, o := range l.offered[ti].list {
			if !row.Has(o.offer) {
				continue
			}
			ok, known := fits[o.room]
			if !known {
				ok = model.Fits(l.compiler.rooms.rooms[o.room], class.requests)
				fits[o.room] = ok
			}
			if !ok {
				continue
			}
			for _, r := range rules {
				x := &t.rules[r]
				if at := l.axes[x.axis].at[l.first[ti]+i]; at >= 0 && l.axes[x.filter].at[l.first[ti]+i] == 1 {
					x.domains[at].Eligible = true
				}
			}
		}
	}
}

// minimum returns what the domains of a spread are measured by.
func (t *tied) minimum(rule int) minimum {
	if m, ok := t.least[rule]; ok {
		return m
	}
	m := minimum{domain: -1}
	r := &t.rules[rule]
	for i := range r.domains {
		d := &r.domains[i]
		if !d.Eligible {
			continue
		}
		if m.domains == 0 || d.Count < m.count {
			m.count, m.domain = d.Count, int32(i)
		}
		m.domains++
	}
	if m.domains < r.minDomains {
		m.count, m.domain = 0, -1
	}
	t.least[rule] = m
	return m
}
