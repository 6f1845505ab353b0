package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Search places the pods of p. The answer is complete whatever the parameters.
//
// Of many running machines it looks at those only that the pods could need: for each
// kind of pods that fit anywhere, as many of the fullest that hold one as there are such
// pods of all kinds. Whoever would go elsewhere finds one of these that nobody uses, and
// pods that fill the fullest machine first never look further.
func Search(p *model.Problem, params Params) Outcome {
	kept := useful(p)
	if len(kept) == len(p.Bins) {
		return searchIn(p, params)
	}
	less := *p
	less.Bins = make([]model.Bin, len(kept))
	for at, i := range kept {
		less.Bins[at] = p.Bins[i]
	}
	out := searchIn(&less, params)
	rest := Rest{kept: kept, bins: len(p.Bins)}
	if out.Rest != nil {
		out.Rest.kept, out.Rest.bins = rest.kept, rest.bins
	}
	return rest.widened(out)
}

// fewBins is how many running machines are looked at without asking.
const fewBins = 64

// useful lists the bins to look at, ascending.
func useful(p *model.Problem) []int {
	every := make([]int, len(p.Bins))
	for i := range every {
		every[i] = i
	}
	if len(p.Bins) <= fewBins || len(p.Classes) == 0 {
		return every
	}
	open := roomy(p, every)
	kinds, seated := seatedKinds(p, open)
	if seated >= int64(len(open)) {
		return open
	}
	keep := make([]bool, len(p.Bins))
	for _, c := range kinds {
		fullest(p, open, c, seated, keep)
	}
	return slices.DeleteFunc(every, func(i int) bool { return !keep[i] })
}

// roomy are the bins that have as much of every resource as the least that any class
// asks for.
func roomy(p *model.Problem, every []int) []int {
	least := slices.Clone(p.Classes[0].Request)
	for c := range p.Classes {
		for d, q := range p.Classes[c].Request {
			least[d] = min(least[d], q)
		}
	}
	out := make([]int, 0, len(every))
	for _, i := range every {
		if model.Fits(p.Bins[i].Room, least) {
			out = append(out, i)
		}
	}
	return out
}

// seatedKinds lists one class of each kind of those that fit some bin, and counts the
// pods of all these classes. Classes are of one kind that differ in number and priority
// alone.
func seatedKinds(p *model.Problem, open []int) (kinds []model.ClassID, pods int64) {
	fits := map[model.ClassID]bool{}
	byGroup := map[int32][]model.ClassID{}
	for c := range p.Classes {
		class := &p.Classes[c]
		at := slices.IndexFunc(byGroup[class.Group], func(k model.ClassID) bool { return alikeOnBins(class, &p.Classes[k]) })
		if at < 0 {
			id := model.ClassID(c)
			at = len(byGroup[class.Group])
			byGroup[class.Group] = append(byGroup[class.Group], id)
			fits[id] = slices.ContainsFunc(open, func(i int) bool { return takesOne(p, i, id) })
			if fits[id] {
				kinds = append(kinds, id)
			}
		}
		if fits[byGroup[class.Group][at]] {
			pods += class.Count
		}
	}
	return kinds, pods
}

// alikeOnBins reports whether pods of two classes of one group may sit on the same bins.
func alikeOnBins(a, b *model.Class) bool {
	return slices.Equal(a.Request, b.Request) && slices.Equal(a.Crowds, b.Crowds)
}

// takesOne reports whether a bin could hold a pod of class c besides what runs there.
func takesOne(p *model.Problem, i int, c model.ClassID) bool {
	bin, class := &p.Bins[i], &p.Classes[c]
	return bin.Admits.Has(int(class.Group)) && model.Fits(bin.Room, class.Request) &&
		(len(class.Crowds) == 0 || p.Joining(nil, bin.Present, c) > 0)
}

// fullest marks the best n seats that the open bins are for pods of class c.
func fullest(p *model.Problem, open []int, c model.ClassID, n int64, keep []bool) {
	class := &p.Classes[c]
	var best []seat // a heap, the worst of them on top
	for _, i := range open {
		if !takesOne(p, i, c) {
			continue
		}
		room := p.Bins[i].Room
		x := seat{bin: i, soft: p.Bins[i].Soft.Has(int(class.Group)), left: spare(room, room, class.Request)}
		switch {
		case int64(len(best)) < n:
			best = append(best, x)
			for at := len(best) - 1; at > 0 && best[(at-1)/2].before(best[at]); at = (at - 1) / 2 {
				best[at], best[(at-1)/2] = best[(at-1)/2], best[at]
			}
		case x.before(best[0]):
			best[0] = x
			sinkWorst(best)
		}
	}
	for _, x := range best {
		keep[x.bin] = true
	}
}

// sinkWorst moves the seat on top of a heap of the worst down to where it belongs.
func sinkWorst(h []seat) {
	for i := 0; ; {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if next+1 < len(h) && h[next].before(h[next+1]) {
			next++
		}
		if !h[i].before(h[next]) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}
