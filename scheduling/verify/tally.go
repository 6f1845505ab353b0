package verify

// tally counts pods by the value that their node has of a label.
type tally struct {
	key string
	// sets are whom it is about: pods that belong to every one of them.
	sets []*podSet
	// view is the hosts at which it looks; nil is all.
	view *view
	// wanted is set where spread or affinity counts, not anti-affinity alone: that
	// matters to those it is about by way of the keepers.
	wanted bool
	counts map[string]int
	total  int
	// version changes with every pod that is counted.
	version int
	// domains is the number of values that count, fewest the least number of pods that
	// one of them has, level how many of them have a number of pods. They are kept
	// where view is set: by topology spread.
	domains int
	fewest  int
	level   map[int]int
	// skew is the least that a constraint which counts so allows.
	skew int
}

// spreadTally counts by the values that the hosts have at which the constraint looks.
func spreadTally(r *spreadRule, v *view) *tally {
	n := len(v.hosts)
	return &tally{
		key: r.key, sets: []*podSet{r.pods}, view: v, wanted: true, skew: r.maxSkew,
		counts: make(map[string]int), domains: n, level: map[int]int{0: n},
	}
}

// means reports whether such pods belong to all of its sets.
func (t *tally) means(f *face) bool { return belongs(f, t.sets) }

// looksAt reports whether pods on the host count.
func (t *tally) looksAt(h *host) bool { return t.view == nil || t.view.nodes.passes(h.place) }

// add counts pods on a host.
func (t *tally) add(h *host, pods int) {
	value, ok := h.value(t.key)
	if !ok || !t.looksAt(h) {
		return
	}
	n := t.counts[value]
	t.counts[value] = n + pods
	t.total += pods
	t.version++
	if t.level == nil {
		return
	}
	t.level[n]--
	t.level[n+pods]++
	for t.domains > 0 && t.level[t.fewest] == 0 {
		t.fewest++
	}
}

// settle counts the pods of flocks, each as often as it is listed.
func (t *tally) settle(c *crowd, flocks []*flock) {
	for _, k := range flocks {
		for h, n := range k.on {
			if c.hosts[h] {
				t.add(h, n)
			}
		}
	}
}

// least is the smallest count of any domain, or 0 where there are too few domains.
func (t *tally) least(minDomains int) int {
	if t.domains < minDomains {
		return 0
	}
	return t.fewest
}
