package topology

// counts is how many pods the rules count where, kept up to date pod by pod.
type counts struct {
	t *tables
	// By flat domain: counted pods, pods that hold an Anti rule, and whether the
	// domain is one of those of which a Spread rule takes the minimum.
	count   []int64
	holders []int64
	in      []bool
	// By rule: the least count among the domains that are in, how many have it, how
	// many are in, and all counted pods of an Affinity rule.
	low  []int64
	lows []int32
	size []int32
	all  []int64
	// version counts, by rule, the events after which a pod that the rule kept out
	// may get in.
	version []int32
}

// newCounts makes room for the counts of all rules. Each rule has to be restarted.
func newCounts(t *tables) *counts {
	rules, domains := len(t.p.Rules), t.domFirst[len(t.p.Rules)]
	return &counts{
		t:     t,
		count: make([]int64, domains), holders: make([]int64, domains), in: make([]bool, domains),
		low: make([]int64, rules), lows: make([]int32, rules), size: make([]int32, rules),
		all: make([]int64, rules), version: make([]int32, rules),
	}
}

// restart sets the counts of a rule to the running pods. The domains that are in are given, by flat domain.
func (s *counts) restart(rule int32, in []bool) {
	r := &s.t.p.Rules[rule]
	from, to := s.t.domains(rule)
	copy(s.in[from:to], in[from:to])
	sum := int64(0)
	for d := range r.Domains {
		s.count[int(from)+d] = r.Domains[d].Count
		s.holders[int(from)+d] = r.Domains[d].Holders
		sum += r.Domains[d].Count
	}
	s.all[rule] = max(r.Total, sum)
	s.bump(rule)
	s.measure(rule)
}

// measure finds the least count of a rule.
func (s *counts) measure(rule int32) {
	from, to := s.t.domains(rule)
	low, lows, size := int64(many), int32(0), int32(0)
	for d := from; d < to; d++ {
		if !s.in[d] {
			continue
		}
		size++
		switch n := s.count[d]; {
		case n < low:
			low, lows = n, 1
		case n == low:
			lows++
		}
	}
	s.low[rule], s.lows[rule], s.size[rule] = low, lows, size
}

// floor is the least count of a spread rule with which the count of a domain is compared, kube-scheduler's global minimum.
func (s *counts) floor(rule, dom int32) int64 {
	size, low := int64(s.size[rule]), s.low[rule]
	if !s.in[dom] {
		size++
		low = min(low, s.count[dom])
	}
	if size < s.t.p.Rules[rule].MinDomains {
		return 0
	}
	return low
}

// bump notes that pods which a rule kept out may get in.
func (s *counts) bump(rule int32) { s.version[rule]++ }

// admits is how many pods the hard rules let into a cell now, one after the other. Opens
// says that the pod would be the first of its kind to which it has an affinity.
func (s *counts) admits(terms []term) (n int64, opens bool) {
	n = many
	for i := range terms {
		e := &terms[i]
		if e.preference {
			continue
		}
		switch e.kind {
		case Spread:
			if !e.holds {
				continue
			}
			if e.dom < 0 {
				return 0, false
			}
			room := s.t.p.Rules[e.rule].Max + s.floor(e.rule, e.dom) - s.count[e.dom] - e.adds
			if room < 0 {
				return 0, false
			}
			if e.adds > 0 {
				n = min(n, room/e.adds+1)
			}
		case Affinity:
			if !e.holds {
				continue
			}
			if e.dom < 0 {
				return 0, false
			}
			if s.count[e.dom] <= 0 && !opens {
				if s.closed(terms) {
					return 0, false
				}
				opens = true
				n = 1
			}
		case Anti:
			if e.dom < 0 {
				continue
			}
			if e.holds {
				if s.count[e.dom] > 0 {
					return 0, false
				}
				if e.adds > 0 {
					n = min(n, 1)
				}
			}
			if e.adds > 0 && s.holders[e.dom] > 0 {
				return 0, false
			}
		}
	}
	return n, opens
}

// closed reports whether an affinity keeps a pod from opening a domain for its own kind: one
// that counts pods already, here or elsewhere, or that does not count this pod.
func (s *counts) closed(terms []term) bool {
	for i := range terms {
		e := &terms[i]
		if !e.preference && e.kind == Affinity && e.holds && (e.dom < 0 || s.all[e.rule] > 0 || s.count[e.dom] <= 0 && !e.self) {
			return true
		}
	}
	return false
}

// add counts n more pods in a cell.
func (s *counts) add(terms []term, n int64) {
	for i := range terms {
		e := &terms[i]
		if e.dom < 0 {
			continue
		}
		before := s.count[e.dom]
		s.count[e.dom] = before + e.adds*n
		switch e.kind {
		case Spread:
			if !s.in[e.dom] {
				if e.holds || e.adds > 0 {
					s.in[e.dom] = true
					s.measure(e.rule)
					s.bump(e.rule)
				}
				continue
			}
			if e.adds > 0 && before == s.low[e.rule] {
				if s.lows[e.rule]--; s.lows[e.rule] == 0 {
					s.measure(e.rule)
					s.bump(e.rule)
				}
			}
		case Affinity:
			if e.adds > 0 {
				s.all[e.rule] += e.adds * n
				if before <= 0 {
					s.bump(e.rule)
				}
			}
		case Anti:
			if e.holds {
				s.holders[e.dom] += n
			}
		}
	}
}

// openCell lets machines stand in a cell: the domains exist, without a pod.
func (s *counts) openCell(terms []term) {
	for i := range terms {
		if e := &terms[i]; e.dom >= 0 && (e.holds || e.adds > 0) {
			s.in[e.dom] = true
		}
	}
}

// changes grows when a rule that a class holds may let more pods in.
func (s *counts) changes(class int32) int32 {
	n := int32(0)
	for _, link := range s.t.p.Classes[class].Links {
		if link.Holds && s.t.exists(link.Rule) {
			n += s.version[link.Rule]
		}
	}
	return n
}

// breaks reports whether one more pod would break a preference.
func (s *counts) breaks(e *term) bool {
	switch e.kind {
	case Spread:
		return e.dom < 0 ||
			s.count[e.dom]+e.adds-s.floor(e.rule, e.dom) > s.t.p.Rules[e.rule].Max
	case Affinity:
		return e.holds && (e.dom < 0 || s.count[e.dom] <= 0)
	default:
		return e.dom >= 0 && (e.holds && s.count[e.dom] > 0 || e.adds > 0 && s.holders[e.dom] > 0)
	}
}
