package pricelists

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Join joins prices: of several that select the same offerings the newest counts, of equally old ones the last. Each has its day.
func Join(lists []instancetypes.Prices) (joined instancetypes.Prices) {
	at := map[instancetypes.PriceChange]int{} // the place of a change, by the offerings that it selects
	for i := range lists {
		for _, x := range lists[i].Changes {
			x.Date = cmp.Or(x.Date, lists[i].Date)
			selected := instancetypes.PriceChange{Region: x.Region, InstanceType: x.InstanceType, Zone: x.Zone, ZoneID: x.ZoneID, CapacityType: x.CapacityType}
			known, ok := at[selected]
			switch {
			case !ok:
				at[selected] = len(joined.Changes)
				joined.Changes = append(joined.Changes, x)
			case x.Date >= joined.Changes[known].Date:
				joined.Changes[known] = x
			}
		}
	}
	return joined
}

// Summary counts prices, a line for each price list, capacity type and day.
func Summary(p *instancetypes.Prices) []string {
	type group struct {
		list, date string
		by         offerings.CapacityType
	}
	counts, regions := map[group]int{}, map[group]map[string]bool{}
	for _, x := range p.Changes {
		g := group{x.PriceList, cmp.Or(x.Date, p.Date), x.CapacityType}
		if regions[g] == nil {
			regions[g] = map[string]bool{}
		}
		counts[g]++
		if place := cmp.Or(x.Region, x.Zone, x.ZoneID); place != "" {
			regions[g][place] = true
		}
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b group) int {
		return cmp.Or(strings.Compare(a.list, b.list), strings.Compare(string(a.by), string(b.by)), strings.Compare(a.date, b.date))
	})
	lines := make([]string, 0, len(order))
	for _, g := range order {
		text := figures.Count(counts[g], string(g.by)+" price")
		if places := slices.Sorted(maps.Keys(regions[g])); len(places) > 0 {
			text += " in " + figures.Names(places, 3)
		}
		if g.date != "" {
			text += " as of " + g.date
		}
		if g.list != "" {
			text += fmt.Sprintf(" (%s)", g.list)
		}
		lines = append(lines, text)
	}
	return lines
}
