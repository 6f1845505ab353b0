package compile

import (
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// A rule that holds wherever its pods go, such as a spread of fewer pods than its
// maxSkew, or keeping apart from pods that are nowhere, is no reason to pin anybody to a
// site: where these pods go is left to the search for machines. Pods that have no place
// at all do not count for rules.

// Heads are the pods that wait and have to do with a rule or with a per-node limit.
type Heads struct {
	Held, Counted, both int64
}

// Add counts n pods: whether the term holds them, and whether it counts them.
func (h *Heads) Add(holds, counts bool, n int64) {
	if holds {
		h.Held += n
	}
	if counts {
		h.Counted += n
	}
	if holds && counts {
		h.both += n
	}
}

// alone reports whether there is one pod only, which is tied to itself.
func (h *Heads) alone() bool { return h.Held == 1 && h.Counted == 1 && h.both == 1 }

// Takes reports whether a spot with values on some axes could take a pod of a class.
func (l *LocationIndex) Takes(class *podspec.PodClass, need []int) bool {
	has := func(spot int) bool {
		return !slices.ContainsFunc(need, func(axis int) bool { return l.Axes[axis].At[spot] < 0 })
	}
	if l.nodeTakes(class, has) {
		return true
	}
	for ti := range l.Templates {
		if l.Offered[ti].Rows[class.Group] != nil && l.choiceAmong(ti, func(i int, o offers.TemplateOffer) bool {
			return l.Columns.Rows[o.Column].Has(class.Group) && model.Fits(l.Rooms.Rooms[o.Room], class.Requests) &&
				has(l.First[ti]+i) && l.OnOffer(ti, o.Offer)
		}) {
			return true
		}
	}
	return false
}

// nodeTakes reports whether a node that has what it takes could take a pod of a class.
func (l *LocationIndex) nodeTakes(class *podspec.PodClass, has func(spot int) bool) bool {
	if l.Model.Rooms == nil { // it takes long to look at all
		for n, bin := range l.BinOf {
			if bin >= 0 && l.open[class.Group].Has(int(bin)) && model.Fits(l.Model.Bins[bin].Room, class.Requests) && has(l.OnSale+n) {
				return true
			}
		}
		return false
	}
	found := false
	for w, word := range l.Fitting(class.Requests) {
		for word &= l.open[class.Group][w]; word != 0 && !found; word &= word - 1 {
			found = has(l.OnSale + int(l.PlaceOf[w<<6+bits.TrailingZeros64(word)]))
		}
	}
	return found
}

// Redundant reports whether a rule holds wherever the pods that wait go, as long as their
// nodes have the label.
func (r *Rule) Redundant(h *Heads) bool {
	if h.Held == 0 && r.Kind != podspec.AntiTie {
		return true
	}
	holders := int64(0)
	for _, d := range r.Domains {
		holders += d.Holders
	}
	switch r.Kind {
	case podspec.SpreadTie:
		return r.Total+h.Counted <= r.MaxSkew
	case podspec.AffinityTie:
		return r.Total == 0 && (h.alone() || r.Weight > 0 && h.Counted == 0)
	default:
		return (h.Held == 0 || r.Total == 0) && (h.Counted == 0 || holders == 0) && (h.Held == 0 || h.Counted == 0 || h.alone())
	}
}

// vacuous reports whether a rule asks for nothing.
func (b *RuleBook) vacuous(n int) bool {
	r := &b.Rules[n]
	if !r.Loose || r.Kind == podspec.AntiTie {
		return r.Loose
	}
	a := b.Locations.Axes[r.Axis]
	return a.flat && len(a.At) > 0 && a.At[0] == 0
}
