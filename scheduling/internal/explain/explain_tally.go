package explain

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// tally counts what rules places out for a class.
type tally struct {
	*Explainer
	class   *podspec.PodClass
	id      int
	counts  map[scheduling.Reason]int
	bars    map[Bar]int
	shared  map[*Bar]int // by what keeps the class from a site
	rooms   []int        // by number of a room that is too small
	blocked []int        // by place among the blocks
}

func newTally(e *Explainer, class *podspec.PodClass, id int) *tally {
	return &tally{Explainer: e, class: class, id: id, counts: map[scheduling.Reason]int{}, bars: map[Bar]int{}, shared: map[*Bar]int{}}
}

// offers counts what rules out the offers of a template.
func (t *tally) offers(ti int, s screened) {
	for r, n := range s.counts {
		t.counts[r] += n
	}
	minValues := len(offers.FloorKeys(t.Templates[ti].Set)) > 0
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
				spots += offers.CapacityKind(&t.Explainer.Offers.Offers[o])
			}
		}
	})
	if overfull > 0 {
		t.counts[scheduling.Reason{Code: scheduling.ReasonResources, Detail: "daemons alone do not fit"}] += overfull
	}
	if spots > 0 && !t.Lenient && !t.choosable(ti, t.spotsOf(s.admitted), t.class.Requests) {
		t.counts[offers.FlexibilityReason(t.Solver)] += spots
		open -= spots
	}
	switch pool := "node pool " + t.Templates[ti].Pool.Name; {
	case open == 0 || t.Lenient:
	case minValues:
		t.counts[scheduling.Reason{Code: scheduling.ReasonMinValues, Detail: "too few choices remain for the minValues of " + pool}] += open
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
	switch r, b := t.NodeReason(t.class, t.id, bin); {
	case b.Kind != NoBar:
		t.bars[b]++
	case !t.Lenient || r.Code != scheduling.ReasonSearch:
		t.counts[r]++
	}
}

// reasons words what was counted.
func (t *tally) reasons() []scheduling.Reason {
	for n, count := range t.rooms {
		if count > 0 {
			t.counts[t.resourceReason(t.lacking(t.Compiler.Rooms.Rooms[n], t.class.Requests))] += count
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
	if t.Tied != nil {
		t.Tied.word(t.class, t.bars, t.counts)
	}
	return sortedReasons(t.counts)
}
