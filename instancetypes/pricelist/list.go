package pricelist

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// list gathers the prices of a price list.
type list struct {
	name    string // PriceChange.PriceList of its prices
	prices  map[place]found
	several map[place]bool // places of several equally good prices
	leftOut map[string]int // by reason
	newest  string         // day of the prices that have none
	faults  []error
}

// place is where a price applies.
type place struct {
	region, zone, zoneID, instanceType string
	by                                 offerings.CapacityType
}

// found is a price with its day, as YYYY-MM-DD, or "" if it is not known. Of several prices of a place the one of the highest
// rank counts, of these the lowest.
type found struct {
	price offerings.Price
	date  string
	rank  string
}

func newList(name string) *list {
	return &list{name: name, prices: map[place]found{}, several: map[place]bool{}, leftOut: map[string]int{}}
}

// add takes a price.
func (l *list) add(at place, f found) {
	known, ok := l.prices[at]
	switch {
	case !ok || f.rank > known.rank:
		delete(l.several, at)
	case f.rank < known.rank || f.price == known.price:
		return
	default:
		l.several[at] = true
		if f.price > known.price {
			return
		}
	}
	l.prices[at] = f
}

// leaveOut counts something that is not read, by its reason.
func (l *list) leaveOut(reason string) { l.leftOut[reason]++ }

// mostFaults is how many faults of a list an error states.
const mostFaults = 25

// fault reports a value that cannot be read. Type is the instance type, if it is known.
func (l *list) fault(instanceType, field, value string, err error) {
	text := err.Error()
	if i := strings.LastIndex(text, `": `); i >= 0 {
		text = text[i+len(`": `):] // without the value, which the fault has
	}
	l.faults = append(l.faults, &instancetypes.CatalogFault{Type: instanceType, Field: field, Value: value, Problem: text, Err: err})
}

// result returns the prices in order, with the warnings, or all faults.
func (l *list) result() (p instancetypes.Prices, err error) {
	if n := len(l.faults); n > mostFaults {
		l.faults = append(l.faults[:mostFaults:mostFaults], fmt.Errorf("and %d more faults", n-mostFaults))
	}
	if err := errors.Join(l.faults...); err != nil {
		return p, err
	}
	p.Warnings = l.warnings()
	if len(l.prices) == 0 {
		return p, errors.New(strings.Join(append([]string{"the " + l.name + " has no price of a Linux node"}, p.Warnings...), "; "))
	}
	for _, at := range slices.SortedFunc(maps.Keys(l.prices), compare) {
		f := l.prices[at]
		price, err := offerings.ParseAdjustment(f.price.String())
		if err != nil {
			return p, err
		}
		p.Changes = append(p.Changes, instancetypes.PriceChange{
			Region: at.region, InstanceType: at.instanceType, Zone: at.zone, ZoneID: at.zoneID, CapacityType: at.by, Price: price,
			Date: cmp.Or(f.date, l.newest), PriceList: l.name,
		})
	}
	return p, nil
}

// warnings count the parts of the list that were not read.
func (l *list) warnings() (warnings []string) {
	if len(l.leftOut) > 0 {
		var parts []string
		for _, reason := range slices.Sorted(maps.Keys(l.leftOut)) {
			parts = append(parts, fmt.Sprintf("%s (%d)", reason, l.leftOut[reason]))
		}
		warnings = append(warnings, "left out of the "+l.name+": "+strings.Join(parts, ", "))
	}
	if len(l.several) > 0 {
		first := slices.SortedFunc(maps.Keys(l.several), compare)[0]
		warnings = append(warnings, fmt.Sprintf("%d of the %d prices in the %s have another, higher price beside them, such as %s in %s",
			len(l.several), len(l.prices), l.name, first.instanceType, strings.TrimSpace(first.region+" "+first.zone)))
	}
	return warnings
}

// compare orders places.
func compare(a, b place) int {
	return slices.Compare(
		[]string{a.region, a.instanceType, string(a.by), a.zone, a.zoneID}, []string{b.region, b.instanceType, string(b.by), b.zone, b.zoneID})
}

// dayOf is the day of a time as clouds write it, e.g. 2026-11-20T06:16:23Z; "" if it is none.
func dayOf(text string) string {
	day, _, _ := strings.Cut(text, "T")
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return ""
	}
	return day
}
