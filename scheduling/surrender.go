package scheduling

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// A spread counts with every domain in which its pods could be, whether or not there are
// nodes. Pods that it counts and that do not hold it have not asked to be spread; where
// many of them go to one domain, the few that hold it are kept out of it for the sake of
// domains without a node. A plan may do without such domains, as long as the pods that
// do hold the spread are no further apart from each other than it allows, these domains
// counted.

// ruleDomain is a domain of a spread.
type ruleDomain struct{ rule, domain int }

// surrender lists the moves that do without domains in which nothing runs: one, or all
// but one, of one spread, or of all that are over the same label.
func (s *seeker) surrender() []move {
	axes := map[int][]int{}
	for r := range s.rules {
		if x := &s.rules[r]; x.kind == spreadTie && x.weight == 0 && !x.loose {
			axes[x.axis] = append(axes[x.axis], r)
		}
	}
	var out []move
	for _, axis := range sortedKeys(axes) {
		rules := axes[axis]
		for v := range s.land.axes[axis].values {
			for _, gone := range []func(d int) bool{func(d int) bool { return d == v }, func(d int) bool { return d != v }} {
				out = s.without(out, rules, true, gone)
				if len(rules) == 1 {
					continue
				}
				for i := range rules {
					out = s.without(out, rules[i:i+1], false, gone)
				}
			}
		}
	}
	return out
}

// without appends the move by which spreads over one label do without some domains, and
// with all others, unless that is so already. Nobody goes there if all spreads over the
// label are meant.
func (s *seeker) without(out []move, rules []int, all bool, gone func(domain int) bool) []move {
	yields, news := map[ruleDomain]bool{}, false
	for _, r := range rules {
		for d, counted := range s.promised[r] {
			if x := (ruleDomain{r, d}); counted && !s.rules[r].domains[d].Eligible {
				yields[x] = gone(d)
				news = news || gone(d) && !s.yielded[x]
			}
		}
	}
	if !news {
		return out
	}
	axis := s.rules[rules[0]].axis
	var classes []int
	for i := range s.planner.Classes {
		if all && s.partOf(i).tells(s.land.axes[axis]) || s.linked(i, rules[0]) {
			classes = append(classes, i)
		}
	}
	return append(out, move{classes, func(class, site int) int64 {
		return only(!gone(int(s.partOf(class).domain(s.land, axis, site))))
	}, yields})
}

// promise notes the domains that spreads count with.
func (s *seeker) promise() {
	s.promised = make([][]bool, len(s.rules))
	s.yielded, s.upheld = map[ruleDomain]bool{}, map[ruleDomain]bool{}
	for r := range s.rules {
		if s.rules[r].kind == spreadTie {
			s.promised[r] = s.countedDomains(r)
		}
	}
}

// yield does without some domains and with others, and returns what takes that back.
func (s *seeker) yield(domains map[ruleDomain]bool) (undo func()) {
	if len(domains) == 0 {
		return func() {}
	}
	yielded, rows, away := s.yielded, s.rows, s.away
	before := map[ruleDomain]bool{}
	s.yielded = maps.Clone(s.yielded)
	for x, gone := range domains {
		d := &s.planner.Rules[x.rule].Domains[x.domain]
		before[x] = d.Eligible
		if d.Eligible = s.upheld[x] && !gone; gone {
			s.yielded[x] = true
		} else {
			delete(s.yielded, x)
		}
	}
	s.rows, s.away = s.stayAway(), map[int]bool{}
	return func() {
		s.yielded, s.rows, s.away = yielded, rows, away
		for x, was := range before {
			s.planner.Rules[x.rule].Domains[x.domain].Eligible = was
		}
	}
}

// closed reports whether a spread does without the domain of a site.
func (s *seeker) closed(class, site int) bool {
	if len(s.yielded) == 0 {
		return false
	}
	c := &s.planner.Classes[class]
	for k, link := range c.Links {
		if d := c.Sites[site].Domains[k]; d != topology.None && s.yielded[ruleDomain{int(link.Rule), int(d)}] {
			return true
		}
	}
	return false
}

// partOf is the partition of a planner class.
func (t *ties) partOf(class int) *partition { return t.list[t.unitBook.units[t.units[class]].kin].part }

// linked reports whether a rule concerns a planner class.
func (t *ties) linked(class, rule int) bool {
	return slices.ContainsFunc(t.planner.Classes[class].Links, func(l topology.Link) bool { return int(l.Rule) == rule })
}

// yieldedName appends what spreads do without.
func (s *seeker) yieldedName(b []byte) []byte {
	for r := range s.rules {
		for d := range s.rules[r].domains {
			if s.yielded[ruleDomain{r, d}] {
				b = binary.AppendVarint(binary.AppendVarint(b, int64(r)), int64(d))
			}
		}
	}
	return append(b, 0xff)
}

// fair reports whether the pods of a trial that hold spreads are spread among themselves,
// the domains counted that these do without.
func (s *seeker) fair(x *trial) bool {
	if len(s.yielded) == 0 {
		return true
	}
	counts := x.countSites(x.placing(x.Solution))
	seen := map[int]bool{}
	for y := range s.yielded {
		if !seen[y.rule] && !s.level(y.rule, counts) {
			return false
		}
		seen[y.rule] = true
	}
	return true
}

// level reports whether the pods that hold a spread are spread among themselves.
func (s *seeker) level(rule int, counts [][]int64) bool {
	r := &s.rules[rule]
	held, has := make([]int64, len(r.domains)), model.NewBits(len(r.domains))
	for d := range r.domains {
		held[d] = r.domains[d].Count
	}
	for i := range s.planner.Classes {
		class := &s.planner.Classes[i]
		for k, link := range class.Links {
			if int(link.Rule) != rule || !link.Holds {
				continue
			}
			for at, n := range counts[i] {
				d := class.Sites[at].Domains[k]
				if n == 0 || d == topology.None {
					continue
				}
				has.Set(int(d))
				if class.Sites[at].Counted[k] {
					held[d] += n * link.Counts
				}
			}
		}
	}
	least, most := int64(-1), int64(0)
	for d, n := range held {
		if s.promised[rule][d] && (least < 0 || n < least) {
			least = n
		}
		if has.Has(d) {
			most = max(most, n)
		}
	}
	return most-max(least, 0) <= r.maxSkew
}
