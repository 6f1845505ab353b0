package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// naive is the rules read aloud: it keeps nothing but the pods, and counts them anew
// for every question.
type naive struct {
	p      *Problem
	stands [][]int64 // machines are where these pods are to go
	pods   []naivePod
}

type naivePod struct{ class, site int }

func newNaive(p *Problem, stands [][]int64) *naive {
	return &naive{p: p, stands: stands}
}

func (n *naive) bindAll(counts [][]int64) {
	for c := range counts {
		for s := range counts[c] {
			for range counts[c][s] {
				n.pods = append(n.pods, naivePod{c, s})
			}
		}
	}
}

// counted is how much the pods of the plan count for a rule in a domain, holding how
// many of them hold it there.
func (n *naive) counted(rule, domain int32) (counted, holding int64) {
	for _, pod := range n.pods {
		class := &n.p.Classes[pod.class]
		for l, link := range class.Links {
			site := &class.Sites[pod.site]
			if link.Rule != rule || site.Domains[l] != domain {
				continue
			}
			if site.Counted[l] {
				counted += link.Counts
			}
			if link.Holds {
				holding++
			}
		}
	}
	return counted, holding
}

// exists reports whether a domain of a spread rule has nodes that are eligible.
func (n *naive) exists(rule, domain int32) bool {
	if n.p.Rules[rule].Domains[domain].Eligible {
		return true
	}
	for c := range n.stands {
		class := &n.p.Classes[c]
		for l, link := range class.Links {
			for s := range n.stands[c] {
				eligible := link.Holds || site(class, s).Counted[l] && link.Counts > 0
				if n.stands[c][s] > 0 && link.Rule == rule && site(class, s).Domains[l] == domain && eligible {
					return true
				}
			}
		}
	}
	return false
}

func site(c *Class, s int) *Site { return &c.Sites[s] }

// allows reports whether one more pod of a class violates nothing at a site.
func (n *naive) allows(c, s int) bool {
	class := &n.p.Classes[c]
	closed, mayOpen := false, true
	for l, link := range class.Links {
		rule := &n.p.Rules[link.Rule]
		domain := site(class, s).Domains[l]
		adds := int64(0)
		if site(class, s).Counted[l] {
			adds = link.Counts
		}
		if rule.Weight > 0 {
			continue
		}
		var here, holding int64
		if domain != None {
			here, holding = n.counted(link.Rule, domain)
			here += rule.Domains[domain].Count
			holding += rule.Domains[domain].Holders
		}
		switch rule.Kind {
		case Spread:
			if link.Holds && (domain == None || here+adds-n.least(link.Rule) > rule.Max) {
				return false
			}
		case Affinity:
			if !link.Holds {
				continue
			}
			if domain == None {
				return false
			}
			closed = closed || here == 0
			mayOpen = mayOpen && link.Counts > 0 && n.everywhere(link.Rule) == 0
		case Anti:
			if domain != None && (link.Holds && here > 0 || adds > 0 && holding > 0) {
				return false
			}
		}
	}
	return !closed || mayOpen
}

// least is the global minimum of a spread rule.
func (n *naive) least(rule int32) int64 {
	low, domains := int64(-1), int64(0)
	for d := range n.p.Rules[rule].Domains {
		if !n.exists(rule, int32(d)) {
			continue
		}
		domains++
		here, _ := n.counted(rule, int32(d))
		if here += n.p.Rules[rule].Domains[d].Count; low < 0 || here < low {
			low = here
		}
	}
	if domains < n.p.Rules[rule].MinDomains {
		return 0
	}
	return low
}

func (n *naive) everywhere(rule int32) int64 {
	all := n.p.Rules[rule].Total
	for d := range n.p.Rules[rule].Domains {
		here, _ := n.counted(rule, int32(d))
		all += here
	}
	return all
}

// bindClass binds what it can of a class, one pod at each site in turn, and reports
// whether it was any.
func (n *naive) bindClass(c int, left []int64) bool {
	before := len(n.pods)
	for more := true; more; {
		more = false
		for s := range left {
			if left[s] > 0 && n.allows(c, s) {
				left[s]--
				n.pods = append(n.pods, naivePod{c, s})
				more = true
			}
		}
	}
	return len(n.pods) > before
}

// TestPlanBindsNaively binds plans pod by pod, by a reading of the rules that shares no
// code with the planner.
func TestPlanBindsNaively(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for round := range 3000 {
		p := randomProblem(rng, shape{pods: 12, classes: 5, places: 4, rules: 4, bins: 2, preferences: true})
		got := Plan(p)
		n := newNaive(p, got.Counts)
		left := clone(got.Counts)
		for again := true; again; {
			again = false
			for _, priority := range []int32{1, 0} {
				for c := range left {
					again = p.Classes[c].Priority == priority && n.bindClass(c, left[c]) || again
				}
			}
		}
		for c := range left {
			for s := range left[c] {
				require.Zero(t, left[c][s], "round %d: class %d at site %d\n%+v\n%v", round, c, s, p, got.Counts)
			}
		}
	}
}
