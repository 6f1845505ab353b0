package greedy

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// shortlistValid reports whether there is a shortlist and the room is about as it was then.
func (f *machineFill) shortlistValid() bool {
	if len(f.shortlisted) == 0 {
		return false
	}
	for d, q := range f.left {
		if float64(q) < shortFor*float64(f.before[d]) {
			return false
		}
	}
	return true
}

// bestOfShortlist is best on the shortlist.
func (f *machineFill) bestOfShortlist(remaining []int64, values []float64) *cursor {
	best, kept := f.best(f.shortlisted, remaining, values)
	f.shortlisted = f.shortlisted[:kept]
	return best
}

// shortlist drops the cursors that no longer fit and lists the best ones for the next steps.
func (f *machineFill) shortlist() {
	*f.work += int64(len(f.open))
	f.shortlisted, f.scores, f.before = f.shortlisted[:0], f.scores[:0], append(f.before[:0], f.left...)
	kept := 0
	for _, i := range f.open {
		x := &f.cursors[i]
		share := f.share(x.size)
		if x.value < 0 || share > 1 && !model.Fits(f.left, f.sizes.requests[x.size]) {
			continue
		}
		f.open[kept] = i
		kept++
		if n := len(f.shortlisted); n < shortMost || x.beats(f.scores[n-1], share) {
			f.list(i, x.value*density(share))
		}
	}
	f.open = f.open[:kept]
}

// list inserts a cursor into the shortlist by its score.
func (f *machineFill) list(i int32, score float64) {
	if len(f.shortlisted) < shortMost {
		f.shortlisted, f.scores = append(f.shortlisted, i), append(f.scores, score)
	}
	at := len(f.shortlisted) - 1
	for ; at > 0 && f.scores[at-1] < score; at-- {
		f.shortlisted[at], f.scores[at] = f.shortlisted[at-1], f.scores[at-1]
	}
	f.shortlisted[at], f.scores[at] = i, score
}
