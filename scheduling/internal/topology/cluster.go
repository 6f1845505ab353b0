package topology

import (
	"cmp"
	"slices"
)

// cluster is classes with all rules that are linked to them, and no other class is
// linked to these. Classes are in the order in which they bind.
type cluster struct {
	t       *tables
	classes []int32
	rules   []int32
}

// newCluster is all classes and rules.
func newCluster(t *tables) *cluster {
	all := &cluster{t: t, classes: make([]int32, len(t.p.Classes)), rules: make([]int32, len(t.p.Rules))}
	for c := range all.classes {
		all.classes[c] = int32(c)
	}
	for r := range all.rules {
		all.rules[r] = int32(r)
	}
	slices.SortStableFunc(all.classes, func(a, b int32) int {
		return cmp.Compare(t.p.Classes[b].Priority, t.p.Classes[a].Priority)
	})
	return all
}

// clusters are the classes that rules tie together, each group in the order in which
// pods bind. Classes without links are left out.
func clusters(t *tables) []*cluster {
	parent := make([]int32, len(t.p.Rules))
	for r := range parent {
		parent[r] = int32(r)
	}
	root := func(r int32) int32 {
		for parent[r] != r {
			parent[r] = parent[parent[r]]
			r = parent[r]
		}
		return r
	}
	firstRule := make([]int32, len(t.p.Classes))
	for c := range t.p.Classes {
		firstRule[c] = -1
		for _, link := range t.p.Classes[c].Links {
			if !t.exists(link.Rule) {
				continue
			}
			if firstRule[c] < 0 {
				firstRule[c] = link.Rule
			}
			parent[root(link.Rule)] = root(firstRule[c])
		}
	}
	var found []*cluster
	byRoot := make([]*cluster, len(t.p.Rules))
	all := newCluster(t)
	for _, c := range all.classes {
		if firstRule[c] < 0 {
			continue
		}
		r := root(firstRule[c])
		if byRoot[r] == nil {
			byRoot[r] = &cluster{t: t}
			found = append(found, byRoot[r])
		}
		byRoot[r].classes = append(byRoot[r].classes, c)
	}
	for _, rule := range all.rules {
		if cl := byRoot[root(rule)]; cl != nil {
			cl.rules = append(cl.rules, rule)
		}
	}
	return found
}

// work is the effort of planning a cluster once.
func (cl *cluster) work() (n int64) {
	for _, c := range cl.classes {
		n += max(cl.t.p.Classes[c].Count, 0) + int64(cl.t.first[c+1]-cl.t.first[c]) + 1
	}
	return n
}

// priced reports whether two drafts that place as many pods differ by the costs of their sites alone, because no running node
// could take in pods and no pod has preferences.
func (cl *cluster) priced() bool {
	for _, c := range cl.classes {
		cells, _ := cl.t.of(c)
		for k := range cells {
			if site := cells[k].source(cl.t); len(site.Bins) > 0 || site.Penalty > 0 {
				return false
			}
			if slices.ContainsFunc(cells[k].terms, func(e term) bool { return e.preference && e.holds }) {
				return false
			}
		}
	}
	return true
}

// crossed says, by class, whether spreads tie it to other classes both ways: it holds a spread that does not count it, and is
// counted by a second spread, which it does not hold, and which pods the second admits decides, directly or through further
// spreads, which pods the first admits. Only pods of such classes may wait for each other for ever, and may all be in one
// domain as well. All other pods can be proven to bind one spread after the other, or have a spread that counts themselves.
func (cl *cluster) crossed() []bool {
	next := make([][]int32, len(cl.t.p.Rules)) // the spreads on which the counts of a spread depend
	for _, c := range cl.classes {
		cl.t.eachPair(c, func(counts, holds *term) {
			if !slices.Contains(next[counts.rule], holds.rule) {
				next[counts.rule] = append(next[counts.rule], holds.rule)
			}
		})
	}
	component := components(cl.rules, next)
	cross := make([]bool, len(cl.t.p.Classes))
	for _, c := range cl.classes {
		cl.t.eachPair(c, func(counts, holds *term) {
			cross[c] = cross[c] || !holds.self && component[counts.rule] == component[holds.rule]
		})
	}
	return cross
}

// trials is the number of orders in which the plan of a cluster is tried. A few say too
// little, and many take too long where there are many pods.
func (cl *cluster) trials() int64 {
	pods := int64(1)
	for _, c := range cl.classes {
		pods += max(cl.t.p.Classes[c].Count, 0)
	}
	if n := min(trialsMost, trialPods/pods); n >= trialsLeast {
		return n
	}
	return 0
}

// How often a plan is tried that is not known to bind in any order, and how many pods
// are bound in all of these trials together.
const (
	trialsLeast = 4
	trialsMost  = 16
	trialPods   = 8_000
)
