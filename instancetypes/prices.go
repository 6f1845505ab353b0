package instancetypes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Prices are negotiated or current prices for [Catalog.WithPrices]. [ReadPrices] reads them from a
// file.
type Prices struct {
	// Source names their origin, for [Provenance.Source].
	Source string
	// Date is the day that they describe, as YYYY-MM-DD; empty if unknown.
	Date string
	// Changes are the changed prices. Of several that select the same offering the last counts,
	// alone: they never add up.
	Changes []PriceChange
	// Warnings name the parts of the source that were left out.
	Warnings []string
}

// PriceChange gives offerings another price. A field that is empty selects everything.
type PriceChange struct {
	// InstanceType is the name of a type, or a pattern, e.g. "m7i.*", in which * stands for any
	// text and ? for any byte. Zone is the same for zones.
	InstanceType, Zone string
	// ZoneID is the zone's id, e.g. "use1-az4". It counts instead of Zone for offerings with the
	// label topology.k8s.aws/zone-id.
	ZoneID string
	// CapacityType is on-demand, spot or reserved.
	CapacityType offerings.CapacityType
	// Price replaces or changes the price.
	Price offerings.Adjustment
}

// WithPrices returns a catalog with these prices. A price of one type in one zone under one
// capacity type, on demand or spot, adds an offering where the catalog has the type and the zone,
// but not the offering. Offerings whose price is replaced no longer name "price" as
// estimated. The catalog's provenance names the changes; older sources lose the figures that are
// replaced everywhere.
//
// It also returns the changes that select no offering. The error reports every change with an
// unknown capacity type, as [CatalogFault] values.
func (c *Catalog) WithPrices(p Prices) (priced *Catalog, unused []PriceChange, err error) {
	var fs faults
	for i, x := range p.Changes {
		if x.CapacityType == "" {
			continue
		}
		if _, err = offerings.ParseCapacityType(string(x.CapacityType)); err != nil {
			fs.add(&CatalogFault{Type: x.InstanceType, Field: fmt.Sprintf("changes[%d].capacityType", i), Value: string(x.CapacityType), Problem: reason(err), Err: err})
		}
	}
	if err = fs.err(); err != nil {
		return nil, nil, err
	}
	r := repricing{catalog: c, zones: map[string]offerings.Offering{}, made: map[offerings.Key]sale{}}
	for t := range c.All() {
		for _, o := range t.Offerings {
			if _, ok := r.zones[o.Zone]; !ok {
				r.zones[o.Zone] = o
			}
		}
	}
	for i := range p.Changes {
		if !r.change(&p.Changes[i]) {
			unused = append(unused, p.Changes[i])
		}
	}
	changes := make([]OfferingChange, 0, len(r.made))
	for key, s := range r.made {
		changes = append(changes, OfferingChange{InstanceType: key.InstanceType, Offering: s.offering})
	}
	priced, err = c.WithOfferings(changes...)
	if err != nil {
		return nil, nil, err
	}
	priced.provenance = append(r.outlived(priced), r.statement(p))
	return priced, unused, nil
}

// sale is an offering with its new price.
type sale struct {
	offering offerings.Offering
	replaced bool // its price does not depend on the one before
}

// repricing gathers the changes of prices in a catalog.
type repricing struct {
	catalog *Catalog
	zones   map[string]offerings.Offering // any offering of each zone
	made    map[offerings.Key]sale
}

// change prices the offerings that a change selects, and reports whether there is one.
func (r *repricing) change(x *PriceChange) bool {
	found := false
	for _, t := range r.matching(x.InstanceType) {
		for _, o := range t.Offerings {
			if (x.CapacityType == "" || x.CapacityType == o.CapacityType) && x.concerns(&o) {
				r.price(t, o.DeepCopy(), x)
				found = true
			}
		}
		if o, ok := r.further(t, x); ok && !found {
			r.price(t, o, x)
			found = true
		}
	}
	return found
}

// matching are the types that a pattern names.
func (r *repricing) matching(pattern string) []*InstanceType {
	if t, ok := r.catalog.Get(pattern); ok {
		return []*InstanceType{t}
	}
	if pattern != "" && !isPattern(pattern) {
		return nil
	}
	return slices.DeleteFunc(slices.Collect(r.catalog.All()), func(t *InstanceType) bool { return pattern != "" && !glob(pattern, t.Name) })
}

func isPattern(s string) bool { return strings.ContainsAny(s, "*?") }

// concerns reports whether the change is about the zone of an offering.
func (x *PriceChange) concerns(o *offerings.Offering) bool {
	if id := o.Labels[offerings.ZoneIDLabel]; x.ZoneID != "" && id != "" {
		return id == x.ZoneID
	}
	return x.Zone == "" || glob(x.Zone, o.Zone)
}

// further is the offering that a type has besides, if the change is about a single one.
func (r *repricing) further(t *InstanceType, x *PriceChange) (o offerings.Offering, ok bool) {
	single := x.InstanceType == t.Name && (x.Zone != "" && !isPattern(x.Zone) || x.ZoneID != "") &&
		(x.CapacityType == offerings.Spot || x.CapacityType == offerings.OnDemand) && x.Price.Replaces()
	if !single {
		return o, false
	}
	for _, name := range slices.Sorted(maps.Keys(r.zones)) {
		if there := r.zones[name]; x.concerns(&there) {
			o.Zone, o.Labels, ok = there.Zone, there.Labels, true
			break
		}
	}
	for i := range t.Offerings {
		// The capacity may depend on the zone, the interruption rate does not.
		if like := &t.Offerings[i]; like.Zone == o.Zone && !like.Counted() {
			o.Capacity, o.Overhead = like.Capacity, like.Overhead
		}
		if x.CapacityType == offerings.Spot {
			o.InterruptionRate = max(o.InterruptionRate, t.Offerings[i].InterruptionRate)
		}
	}
	o.CapacityType = x.CapacityType
	return o.DeepCopy(), ok
}

// price notes the new price of an offering.
func (r *repricing) price(t *InstanceType, o offerings.Offering, x *PriceChange) {
	o.Price = x.Price.Apply(o.Price)
	if x.Price.Replaces() {
		o.Estimated = slices.DeleteFunc(o.Estimated, func(field string) bool { return field == "price" })
	}
	r.made[o.Key(t.Name)] = sale{offering: o, replaced: x.Price.Replaces()}
}

// outlived are the catalog's statements without the capacity types of which every price is
// another now.
func (r *repricing) outlived(priced *Catalog) []Provenance {
	left := map[offerings.CapacityType]bool{}
	for t := range priced.All() {
		for _, o := range t.Offerings {
			left[o.CapacityType] = left[o.CapacityType] || !r.made[o.Key(t.Name)].replaced
		}
	}
	list := r.catalog.Provenance()
	gone := func(ct offerings.CapacityType) bool { return !left[ct] }
	for i := range list {
		list[i].Prices = slices.DeleteFunc(list[i].Prices, gone)
		list[i].PricesEstimated = slices.DeleteFunc(list[i].PricesEstimated, gone)
	}
	return list
}

// statement describes the changes of prices.
func (r *repricing) statement(p Prices) Provenance {
	changed := map[offerings.CapacityType]int{}
	for key := range r.made {
		changed[key.CapacityType]++
	}
	statement := Provenance{Source: p.Source, Date: p.Date, Prices: slices.Sorted(maps.Keys(changed))}
	var parts []string
	for _, ct := range statement.Prices {
		parts = append(parts, fmt.Sprintf("%d %s prices", changed[ct], ct))
	}
	statement.Covers = strings.Join(parts, ", ")
	return statement
}

// spotPrice is an entry of EC2's spot price history: the price of machines from a time on.
type spotPrice struct {
	AvailabilityZone   string
	AvailabilityZoneID string `json:"AvailabilityZoneId"`
	InstanceType       string
	ProductDescription string
	SpotPrice          string
	Timestamp          time.Time
}

// history reads a spot price history: the newest price of each type in each zone.
func (p *priceReader) history(list []spotPrice) {
	type place struct{ zone, id, instanceType string }
	newest := map[place]*spotPrice{}
	other := map[string]int{}
	for i := range list {
		s := &list[i]
		switch s.ProductDescription {
		case "Linux/UNIX", "Linux/UNIX (Amazon VPC)":
		default:
			other[s.ProductDescription]++
			continue
		}
		at := place{s.AvailabilityZone, s.AvailabilityZoneID, s.InstanceType}
		if n := newest[at]; n == nil || s.Timestamp.After(n.Timestamp) {
			newest[at] = s
		}
	}
	places := slices.SortedFunc(maps.Keys(newest), func(a, b place) int {
		return cmp.Or(strings.Compare(a.instanceType, b.instanceType), strings.Compare(a.zone, b.zone), strings.Compare(a.id, b.id))
	})
	var last time.Time
	for _, at := range places {
		s := newest[at]
		x := PriceChange{InstanceType: at.instanceType, Zone: at.zone, ZoneID: at.id, CapacityType: offerings.Spot}
		_, err := offerings.ParsePrice(s.SpotPrice)
		if err == nil {
			x.Price, err = offerings.ParseAdjustment(s.SpotPrice)
		}
		if err != nil || at.instanceType == "" || at.zone == "" && at.id == "" {
			problem := "has no zone or no instance type"
			if err != nil {
				problem = reason(err)
			}
			p.fs.add(&CatalogFault{Type: at.instanceType, Field: "SpotPriceHistory: SpotPrice in " + at.zone, Value: s.SpotPrice, Problem: problem, Err: err})
			continue
		}
		p.prices.Changes = append(p.prices.Changes, x)
		if s.Timestamp.After(last) {
			last = s.Timestamp
		}
	}
	if !last.IsZero() {
		p.prices.Date = last.UTC().Format(time.DateOnly)
	}
	if len(other) > 0 {
		var parts []string
		for _, product := range slices.Sorted(maps.Keys(other)) {
			parts = append(parts, fmt.Sprintf("%d of %q", other[product], product))
		}
		p.prices.Warnings = append(p.prices.Warnings, "left out are prices that are not of Linux: "+strings.Join(parts, ", "))
	}
	if len(list) > 0 && len(places) == 0 {
		p.fs.add(&CatalogFault{Field: "SpotPriceHistory", Problem: "has no Linux price"})
	}
}
