package instance

import (
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Takes reports whether there is an offer or node that admits a pod of a class, has room for it, and has a value on each
// axis of need.
func (l *LocationIndex) Takes(class *podspec.PodClass, need []int) bool {
	has := func(location int) bool {
		return !slices.ContainsFunc(need, func(axis int) bool { return l.Axes[axis].At[location] < 0 })
	}
	if nodeTakes(l, class, has) {
		return true
	}
	for ti := range l.In.Templates {
		if l.In.Offered[ti].Rows[class.Group] != nil && l.ChoiceAmong(ti, func(i int, o offers.TemplateOffer) bool {
			return l.In.Columns.Rows[o.Column].Has(class.Group) && model.Fits(l.In.Rooms.Rooms[o.Room], class.Requests) &&
				has(l.First[ti]+i) && l.OnOffer(ti, o.Offer)
		}) {
			return true
		}
	}
	return false
}

// nodeTakes is [LocationIndex.Takes] for nodes whose locations satisfy has.
func nodeTakes(l *LocationIndex, class *podspec.PodClass, has func(location int) bool) bool {
	if l.In.NodeRooms == nil { // because there is no index by room yet
		for n, bin := range l.BinOf {
			if bin >= 0 && l.In.Open[class.Group].Has(int(bin)) && model.Fits(l.In.Bins[bin].Room, class.Requests) && has(l.OnSale+n) {
				return true
			}
		}
		return false
	}
	found := false
	for w, word := range l.Fitting(class.Requests) {
		for word &= l.In.Open[class.Group][w]; word != 0 && !found; word &= word - 1 {
			found = has(l.OnSale + int(l.PlaceOf[w<<6+bits.TrailingZeros64(word)]))
		}
	}
	return found
}
