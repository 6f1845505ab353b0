package instance

import (
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Takes reports whether a spot with values on some axes could take a pod of a class.
func (l *LocationIndex) Takes(class *podspec.PodClass, need []int) bool {
	has := func(spot int) bool {
		return !slices.ContainsFunc(need, func(axis int) bool { return l.Axes[axis].At[spot] < 0 })
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

// nodeTakes reports whether a node that has what it takes could take a pod of a class.
func nodeTakes(l *LocationIndex, class *podspec.PodClass, has func(spot int) bool) bool {
	if l.In.NodeRooms == nil { // it takes long to look at all
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
