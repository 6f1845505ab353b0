package verify

// tally counts pods by the value that their node has of a label.
type tally struct {
	key string
	// sets are whom it is about: pods that belong to every one of them.
	sets []*podSet
	// looks says at which hosts it looks, by number; nil is all.
	looks []bool
	// wanted is set where spread or affinity counts, not anti-affinity alone: that
	// matters to those it is about by way of the keepers.
	wanted bool
	counts map[string]int
	total  int
	// version changes with every pod that is counted.
	version int
	// domains is the number of values that count, fewest the least number of pods that
	// one of them has, level how many of them have a number of pods. They are kept
	// where looks is set: by topology spread.
	domains int
	fewest  int
	level   map[int]int
	// skew is the least that a constraint which counts so allows.
	skew int
}

// spreadTally counts by the values that the hosts have at which the constraint looks.
func spreadTally(r *spreadRule, hosts []*host, looks []bool) *tally {
	t := &tally{key: r.key, sets: []*podSet{r.pods}, looks: looks, wanted: true, counts: make(map[string]int), level: make(map[int]int), skew: r.maxSkew}
	for _, h := range hosts {
		if !looks[h.number] {
			continue
		}
		value, _ := h.value(r.key)
		if _, known := t.counts[value]; !known {
			t.counts[value] = 0
			t.domains++
		}
	}
	t.level[0] = t.domains
	return t
}

// means reports whether such pods belong to all of its sets.
func (t *tally) means(f *face) bool {
	for _, s := range t.sets {
		if !s.has(f) {
			return false
		}
	}
	return true
}

// looksAt reports whether pods on the host count.
func (t *tally) looksAt(h *host) bool { return len(t.looks) == 0 || t.looks[h.number] }

// add counts a pod on a host.
func (t *tally) add(h *host) {
	if !t.looksAt(h) {
		return
	}
	value, ok := h.value(t.key)
	if !ok {
		return
	}
	n := t.counts[value]
	t.counts[value] = n + 1
	t.total++
	t.version++
	if t.level == nil {
		return
	}
	t.level[n]--
	t.level[n+1]++
	for t.domains > 0 && t.level[t.fewest] == 0 {
		t.fewest++
	}
}

// least is the smallest count of any domain, or 0 where there are too few domains.
func (t *tally) least(minDomains int) int {
	if t.domains < minDomains {
		return 0
	}
	return t.fewest
}
