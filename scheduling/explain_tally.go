package scheduling

// tally counts what rules places out for a class.
type tally struct {
	*explainer
	class   *podClass
	id      int
	counts  map[Reason]int
	bars    map[bar]int
	shared  map[*bar]int // by what keeps the class from a site
	rooms   []int        // by number of a room that is too small
	blocked []int        // by place among the blocks
}

func newTally(e *explainer, class *podClass, id int) *tally {
	return &tally{explainer: e, class: class, id: id, counts: map[Reason]int{}, bars: map[bar]int{}, shared: map[*bar]int{}}
}

// offers counts what rules out the offers of a template.
func (t *tally) offers(ti int, s screened) {
	for r, n := range s.counts {
		t.counts[r] += n
	}
	minValues := len(floorKeys(t.templates[ti].set)) > 0
	overfull, open, spots := 0, 0, 0
	s.admitted.Each(func(o int) {
		n := t.roomNumber(ti, o)
		switch k := t.block(ti, o); {
		case n < 0:
			overfull++
		case !t.fitsRoom(t.class, n):
			t.rooms = counted(t.rooms, n)
		case k > 0:
			t.blocked = counted(t.blocked, k-1)
		default:
			if bars := t.offerBars(t.id, ti, o); len(bars) > 0 {
				t.shared[&bars[0]]++
			} else {
				open++
				spots += capacityKind(&t.explainer.offers.offers[o])
			}
		}
	})
	if overfull > 0 {
		t.counts[Reason{Code: ReasonResources, Detail: "daemons alone do not fit"}] += overfull
	}
	if spots > 0 && !t.lenient && !t.choosable(ti, t.spotsOf(s.admitted), t.class.requests) {
		t.counts[t.solver.flexibilityReason()] += spots
		open -= spots
	}
	switch pool := "node pool " + t.templates[ti].pool.Name; {
	case open == 0 || t.lenient:
	case minValues:
		t.counts[Reason{Code: ReasonMinValues, Detail: "too few choices remain for the minValues of " + pool}] += open
	default:
		t.counts[t.unplanned(t.id, pool)] += open
	}
}

func counted(counts []int, at int) []int {
	for len(counts) <= at {
		counts = append(counts, 0)
	}
	counts[at]++
	return counts
}

// node counts what rules out a node.
func (t *tally) node(bin int) {
	switch r, b := t.nodeReason(t.class, t.id, bin); {
	case b.kind != noBar:
		t.bars[b]++
	case !t.lenient || r.Code != ReasonSearch:
		t.counts[r]++
	}
}

// reasons words what was counted.
func (t *tally) reasons() []Reason {
	for n, count := range t.rooms {
		if count > 0 {
			t.counts[t.resourceReason(t.lacking(t.compiler.rooms.rooms[n], t.class.requests))] += count
		}
	}
	for k, count := range t.blocked {
		if count > 0 {
			t.counts[t.sizes.blocks[k]] += count
		}
	}
	for b, n := range t.shared {
		t.bars[*b] += n
	}
	if t.tied != nil {
		t.tied.word(t.class, t.bars, t.counts)
	}
	return sortedReasons(t.counts)
}
