package greedy

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// fresh reports whether there is a shortlist and the room left is about as it was then.
func (f *Filler) fresh() bool {
	if len(f.short) == 0 {
		return false
	}
	for d, q := range f.left {
		if float64(q) < shortFor*float64(f.before[d]) {
			return false
		}
	}
	return true
}

// bestOfShortlist looks at the shortlist only.
func (f *Filler) bestOfShortlist(remaining []int64, values []float64) *cursor {
	best, kept := f.best(f.short, remaining, values)
	f.short = f.short[:kept]
	return best
}

// shortlist drops the cursors that no longer fit and lists the best of the others for the
// next few choices.
func (f *Filler) shortlist() {
	f.Work += int64(len(f.open))
	f.short, f.scores, f.before = f.short[:0], f.scores[:0], append(f.before[:0], f.left...)
	kept := 0
	for _, i := range f.open {
		x := &f.cursors[i]
		share := f.share(x.size)
		if x.worth < 0 || share > 1 && !model.Fits(f.left, f.requests[x.size]) {
			continue
		}
		f.open[kept] = i
		kept++
		if n := len(f.short); n < shortMost || x.beats(f.scores[n-1], share) {
			f.list(i, x.worth*density(share))
		}
	}
	f.open = f.open[:kept]
}

// list puts a cursor where its score belongs on the shortlist.
func (f *Filler) list(i int32, score float64) {
	if len(f.short) < shortMost {
		f.short, f.scores = append(f.short, i), append(f.scores, score)
	}
	at := len(f.short) - 1
	for ; at > 0 && f.scores[at-1] < score; at-- {
		f.short[at], f.scores[at] = f.short[at-1], f.scores[at-1]
	}
	f.short[at], f.scores[at] = i, score
}
