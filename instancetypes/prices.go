package instancetypes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Prices are negotiated or current prices for [Catalog.WithPrices]. [ReadPrices] reads them from a
// file, package pricelist from the price lists of clouds.
type Prices struct {
	// Source names their origin, for [Provenance.Source], e.g. a file.
	Source string
	// Date is the day of those changes that state none, as YYYY-MM-DD; empty if unknown.
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
	// Region is the name of a region, e.g. "eu-west-1". Types with another one in the label
	// topology.kubernetes.io/region are not selected; those without the label are.
	Region string
	// ZoneID is the zone's id, e.g. "use1-az4". It counts instead of Zone for offerings with the
	// label topology.k8s.aws/zone-id.
	ZoneID string
	// CapacityType is on-demand, spot or reserved.
	CapacityType offerings.CapacityType
	// Price replaces or changes the price.
	Price offerings.Adjustment
	// Date is the day of the price, as YYYY-MM-DD; where it is empty, Prices.Date counts. PriceList names the price list
	// that it stands in, e.g. "EC2 spot price history"; it follows Prices.Source in provenances.
	Date, PriceList string
}

// WithPrices returns a catalog with these prices. A price of one type under one capacity type, on
// demand or spot, adds the offerings that the catalog lacks: in the zone of the price if it has one
// that the catalog knows, otherwise in all zones of the type. Offerings whose price is replaced no longer name "price" as
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
	r := repricing{catalog: c, zones: map[string]map[offerings.CapacityType]offerings.Offering{}, made: map[offerings.Key]sale{}}
	for t := range c.All() {
		for _, o := range t.Offerings {
			if r.zones[o.Zone] == nil {
				r.zones[o.Zone] = map[offerings.CapacityType]offerings.Offering{}
			}
			if _, ok := r.zones[o.Zone][o.CapacityType]; !ok {
				r.zones[o.Zone][o.CapacityType] = o
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
	priced.provenance = append(r.outlived(priced), r.statements(p)...)
	return priced, unused, nil
}

// sale is an offering with its new price.
type sale struct {
	offering offerings.Offering
	change   *PriceChange // the last one that selects it
}

// repricing gathers the changes of prices in a catalog.
type repricing struct {
	catalog *Catalog
	zones   map[string]map[offerings.CapacityType]offerings.Offering // any offering of each zone and capacity type
	made    map[offerings.Key]sale
}

// change prices the offerings that a change selects, and reports whether there is one.
func (r *repricing) change(x *PriceChange) bool {
	found := false
	for _, t := range r.matching(x.InstanceType) {
		if region := t.Labels[corev1.LabelTopologyRegion]; x.Region != "" && region != "" && region != x.Region {
			continue
		}
		for _, o := range t.Offerings {
			if (x.CapacityType == "" || x.CapacityType == o.CapacityType) && x.concerns(&o) {
				r.price(t, o.DeepCopy(), x)
				found = true
			}
		}
		if found {
			continue
		}
		for _, o := range r.further(t, x) {
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

// further are the offerings that a type lacks, if the change is a price of a single type under a single capacity type: one
// in the zone of the change, or one in each zone of the type.
func (r *repricing) further(t *InstanceType, x *PriceChange) (list []offerings.Offering) {
	if x.InstanceType != t.Name || isPattern(x.Zone) || !x.Price.Replaces() || x.CapacityType != offerings.Spot && x.CapacityType != offerings.OnDemand {
		return nil
	}
	if x.Zone == "" && x.ZoneID == "" {
		for _, zone := range lo.Uniq(lo.Map(t.Offerings, func(o offerings.Offering, _ int) string { return o.Zone })) {
			list = append(list, r.sold(t, zone, x.CapacityType))
		}
		return list
	}
	for _, zone := range slices.Sorted(maps.Keys(r.zones)) {
		if o := r.sold(t, zone, x.CapacityType); x.concerns(&o) {
			return append(list, o)
		}
	}
	return nil
}

// sold is an offering of a type by a capacity type in a zone, without a price. Its labels are those of other types by this
// capacity type there, because they may depend on it, e.g. cloud.google.com/gke-spot; by another capacity type if there are none.
func (r *repricing) sold(t *InstanceType, zone string, by offerings.CapacityType) offerings.Offering {
	known := r.zones[zone]
	like, ok := known[by]
	if !ok {
		like = known[slices.Min(slices.Collect(maps.Keys(known)))]
	}
	o := offerings.Offering{Zone: zone, Labels: like.Labels, CapacityType: by}
	for i := range t.Offerings {
		// The capacity may depend on the zone, the interruption rate does not.
		if like := &t.Offerings[i]; like.Zone == o.Zone && !like.Counted() {
			o.Capacity, o.Overhead = like.Capacity, like.Overhead
		}
		if by == offerings.Spot {
			o.InterruptionRate = max(o.InterruptionRate, t.Offerings[i].InterruptionRate)
		}
	}
	return o.DeepCopy()
}

// price notes the new price of an offering.
func (r *repricing) price(t *InstanceType, o offerings.Offering, x *PriceChange) {
	o.Price = x.Price.Apply(o.Price)
	if x.Price.Replaces() {
		o.Estimated = slices.DeleteFunc(o.Estimated, func(field string) bool { return field == "price" })
	}
	r.made[o.Key(t.Name)] = sale{offering: o, change: x}
}

// outlived are the catalog's statements without the capacity types of which every price is
// another now.
func (r *repricing) outlived(priced *Catalog) []Provenance {
	left := map[offerings.CapacityType]bool{}
	for t := range priced.All() {
		for _, o := range t.Offerings {
			made, ok := r.made[o.Key(t.Name)]
			left[o.CapacityType] = left[o.CapacityType] || !ok || !made.change.Price.Replaces()
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

// statements describe the changes of prices, one for each price list and day; one that changes nothing if there are none.
func (r *repricing) statements(p Prices) []Provenance {
	type origin struct{ list, date string }
	changed := map[origin]map[offerings.CapacityType]int{}
	for key, s := range r.made {
		from := origin{list: s.change.PriceList}
		if s.change.Price.Replaces() { // a factor makes no price newer
			from.date = cmp.Or(s.change.Date, p.Date)
		}
		if changed[from] == nil {
			changed[from] = map[offerings.CapacityType]int{}
		}
		changed[from][key.CapacityType]++
	}
	if len(changed) == 0 {
		return []Provenance{{Source: p.Source, Date: p.Date}}
	}
	order := slices.SortedFunc(maps.Keys(changed), func(a, b origin) int {
		return cmp.Or(strings.Compare(a.list, b.list), strings.Compare(a.date, b.date))
	})
	return lo.Map(order, func(from origin, _ int) Provenance {
		parts := lo.Compact([]string{p.Source, from.list})
		made := Provenance{Source: strings.Join(parts, ": "), Date: from.date, Prices: slices.Sorted(maps.Keys(changed[from]))}
		covers := lo.Map(made.Prices, func(ct offerings.CapacityType, _ int) string {
			return fmt.Sprintf("%d %s prices", changed[from][ct], ct)
		})
		made.Covers = strings.Join(covers, ", ")
		return made
	})
}
