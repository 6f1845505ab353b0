package pack

import (
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// rounds is how many constructions with corrected worths are tried, trackRounds how many
// where two tracks are followed side by side.
const rounds, trackRounds = 12, 16

// correction is how far worths move to what classes really cost, fullCorrection how
// far on a second track.
const correction, fullCorrection = 0.8, 1

// closeEnough is how many times what pods in pieces would cost is good enough at first,
// manyFillings the number of options times sizes from which on that will do.
const closeEnough, manyFillings = 1.01, 8192

// worthImproving is how many times the cost of the best answer another one may have that
// is improved, too.
const worthImproving = 1.01

// crowdedFew is how many times the machines that crowded pods need there must be for them
// not to matter much.
const crowdedFew = 3

// Fillings are mixed where machines hold so many pods on average: fewPods at the least
// work, else somePods.
const fewPods, somePods = 32, 256

// begin makes the first attempt. Where there is much to weigh, that is one in bulk if it
// comes close to what pods in pieces would cost; near says so.
func (s *search) begin(values []float64) (best *attempt, near bool) {
	if !s.fill.pace.idle {
		return s.try(values, false), false
	}
	best = s.tryInBulk(values)
	none := !slices.ContainsFunc(best.unplaced, func(n int64) bool { return n > 0 })
	many := len(s.p.Options)*len(s.fill.requests) > manyFillings
	if many && none && s.ideal > 0 && float64(best.cost) <= closeEnough*s.ideal {
		return best, true
	}
	if none && s.overdue() {
		return best, false
	}
	a := s.try(values, false)
	s.starts = append(s.starts, a)
	if a.better(best) {
		return a, false
	}
	return best, false
}

// overdue reports whether the deadline has passed.
func (s *search) overdue() bool {
	if s.params.Late != nil && s.params.Late() {
		s.late = true
	}
	return s.late
}

// tryInBulk makes an attempt that buys machines in bulk where it can, and notes in s.ideal
// what they would cost if pods came in pieces, 0 where it does not know.
func (s *search) tryInBulk(values []float64) *attempt {
	s.bulky, s.ideal = true, 0
	a := s.try(values, false)
	s.bulky = false
	s.starts = append(s.starts, a)
	return a
}

// tryKeeping makes another attempt in bulk that leaves more for the tail, and takes no more
// work for that than all attempts may take.
func (s *search) tryKeeping(best *attempt, values []float64) *attempt {
	s.keeping, s.keptUntil = true, s.fill.work+s.budget
	a := s.tryInBulk(values)
	s.keeping = false
	if a.better(best) {
		return a
	}
	return best
}

// columnsPay reports whether machines of an answer hold so few pods that it matters which,
// or there is work enough to find out.
func (s *search) columnsPay(a *attempt) bool {
	placed := int64(0)
	for _, nodes := range a.bought {
		placed += pods(nodes)
	}
	most := int64(fewPods)
	if s.params.Work > 0 {
		most = somePods
	}
	return a.cost > 0 && s.fill.pace.idle && placed <= most*a.nodes && !s.over()
}

// tryInColumns makes an attempt that mixes fillings, those of the best among them.
func (s *search) tryInColumns(best *attempt, values []float64) *attempt {
	s.known, s.bulky = best.bought, true
	a := s.try(values, false)
	s.known, s.bulky = nil, false
	s.starts = append(s.starts, a)
	if a.better(best) {
		return a
	}
	return best
}

// attempts looks for better answers than the first, one in bulk and others with corrected
// worths, and returns the worths of the best with it.
func (s *search) attempts(best *attempt, values []float64) (*attempt, []float64) {
	bestValues, last := values, best
	// Where crowded pods decide how many machines there are, bulk is of no use.
	if best.cost > 0 && s.params.Work > 0 && !s.fill.pace.idle && !s.content(best) && crowdedFew*s.fill.pace.fewest <= float64(best.nodes) {
		if a := s.tryInBulk(values); a.better(best) {
			best = a
		}
	}
	tracks := []*track{{search: s, paced: true, values: values, last: last, step: correction}}
	if !s.fill.pace.idle && float64(best.nodes) >= unpacedMore*s.fill.pace.fewest {
		tracks = append(tracks, &track{search: s, values: values, step: correction})
	}
	tries := rounds
	if len(s.p.Classes) >= manySteps {
		tries = trackRounds
	}
	for done := 0; done < tries && best.cost > 0 && !s.content(best) && !stuck(tracks) && !s.over(); {
		now := tracks[(done+1)%len(tracks):][:1]
		switch {
		case done == 0 && len(tracks) > 1: // the other one shows whether it is worth while
		case len(s.p.Classes) >= manySteps:
			tracks = s.twoTracks(tracks)
			now = tracks[:min(len(tracks), tries-done)]
		}
		before := s.fill.work
		s.follow(now)
		for _, t := range now {
			if t.last.better(best) {
				best, bestValues = t.last, t.values
				s.starts = append(s.starts, best)
			}
		}
		if done += len(now); done == 1 && !now[0].paced {
			if tracks = promising(tracks); !slices.Contains(tracks, now[0]) {
				s.start += s.fill.work - before // in vain, and not for others to pay
			}
		}
	}
	s.fill.pace.on = true
	return best, bestValues
}

// improveOthers improves attempts that were not the best, while there is work to do: what
// was dearer at first may end cheaper. What was bought like one that was improved already
// would end as that did.
func (s *search) improveOthers(best *attempt, values []float64) *attempt {
	tried := best
	for i := len(s.starts) - 1; i >= 0; i-- {
		a := s.starts[i]
		if a == tried || s.improved(a) || float64(a.cost) > worthImproving*float64(best.cost) || slices.Compare(a.placed, best.placed) != 0 {
			continue
		}
		if s.over() {
			break
		}
		s.remember(a)
		if s.improve(a, values, 0); a.better(best) {
			best = a
		}
	}
	return best
}

// remember notes what is bought by an attempt that is about to be improved.
func (s *search) remember(a *attempt) {
	var bought [][]model.Node
	for _, nodes := range a.bought {
		bought = append(bought, cloneNodes(nodes))
	}
	s.done = append(s.done, bought)
}

// improved reports whether an attempt, or another that bought the same, was improved.
func (s *search) improved(a *attempt) bool {
	return slices.ContainsFunc(s.done, func(bought [][]model.Node) bool {
		return a.boughtLike(bought)
	})
}

// boughtLike reports whether an attempt has bought the same.
func (a *attempt) boughtLike(bought [][]model.Node) bool {
	return slices.EqualFunc(a.bought, bought, func(x, y []model.Node) bool { return slices.EqualFunc(x, y, sameNode) })
}

// sameNode reports whether machines are bought as often, with the same pods.
func sameNode(a, b model.Node) bool {
	return a.Option == b.Option && a.N == b.N && slices.Equal(a.Items, b.Items)
}

// track is attempts of which each is made with the worths that the last one has corrected.
type track struct {
	*search
	paced  bool
	values []float64
	last   *attempt // nil before the first
	step   float64  // how far worths are corrected
	still  int      // attempts in a row that bought what the one before did
}

// stillMost is after how many attempts that buy the same the worths have settled.
const stillMost = 2

// stuck reports whether more attempts would buy the same again.
func stuck(tracks []*track) bool {
	return !slices.ContainsFunc(tracks, func(t *track) bool { return t.still < stillMost })
}

// next makes the next attempt.
func (t *track) next() {
	t.fill.pace.on = t.paced
	if t.last != nil {
		t.values = correct(t.p, t.last, t.values, t.step)
	}
	before := t.last
	if t.last = t.try(t.values, false); before != nil && t.last.boughtLike(before.bought) {
		t.still++
	} else {
		t.still = 0
	}
}

// From so many classes on, attempts are made on two tracks side by side.
const manySteps = 256

// twoTracks are tracks that can be followed side by side. Where there is one, another goes
// on from where it stands and corrects more.
func (s *search) twoTracks(tracks []*track) []*track {
	if len(tracks) == 1 {
		other := *tracks[0]
		other.step = fullCorrection
		tracks = append(tracks, &other)
	}
	if tracks[1].search == s {
		tracks[1].search = s.twin()
	}
	return tracks
}

// follow makes the next attempt on each track.
func (s *search) follow(tracks []*track) {
	var others sync.WaitGroup
	for _, t := range tracks[1:] {
		others.Go(t.next)
	}
	tracks[0].next()
	others.Wait()
	for _, t := range tracks[1:] {
		s.fill.work, t.fill.work = s.fill.work+t.fill.work, 0
	}
	s.order, s.worths = nil, tracks[len(tracks)-1].values
}

// unpacedMore is how many times the machines that crowded pods need an attempt must have for
// another to be made without the pace: that takes long where all machines are small.
const unpacedMore = 1.1

// How many times the cost of paced attempts others may have that are gone on with, and up
// to how many times they are gone on with alone.
const unpacedDear, unpacedCheap = 0.995, 0.95

// promising leaves out one of two tracks, paced and not, where the other begins much better.
func promising(tracks []*track) []*track {
	paced, other := tracks[0].last, tracks[1].last
	ratio := float64(other.cost) / float64(paced.cost)
	switch c := slices.Compare(other.placed, paced.placed); {
	case c < 0 || c == 0 && ratio > unpacedDear:
		return tracks[:1]
	case c > 0 || ratio < unpacedCheap:
		return tracks[1:]
	}
	return tracks
}
