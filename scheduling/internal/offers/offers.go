package offers

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Offer is one offering of one instance type.
type Offer struct {
	InstanceType *instancetypes.InstanceType
	Offering     *offerings.Offering
	Expected     offerings.Price // see Policy.ExpectedPrice
	Shape        int             // of its allocatable and capacity
	TypeNumber   int             // of its instance type
	Cost         int64           // what the search minimises
	Launchable   bool            // on sale now, and the settings allow it
	Excluded     Exclusion
}

// Candidate is the offer as rankings see it: at its expected price.
func (o *Offer) Candidate() offerings.Candidate {
	c := offerings.Candidate{InstanceType: o.InstanceType.Name, Offering: *o.Offering}
	c.Offering.Price = o.Expected
	return c
}

// Shape is what a machine has, shared by the offerings of a type that do not
// override it.
type Shape struct {
	Allocatable []int64             // by resource number
	Capacity    corev1.ResourceList // for limits
}

// OfferTable holds the offers of all catalogs of a problem, each catalog's in rank
// order, and their labels as columns.
type OfferTable struct {
	Offers  []Offer
	Shapes  []Shape
	Spans   map[*instancetypes.Catalog][2]int
	types   int // how many instance types there are
	Columns map[string]*LabelColumn
	Rows    map[string]model.Bits
	Defined map[definition]bool
	// reserved are those of the offers that draw on a reservation.
	Reserved []int32
	Volumes  *podspec.VolumeIndex
	// ranks, where it is set, remembers the places of the offers in the order of prices.
	Ranks *[]int32
}

// definition is the question whether any offer of a catalog brings a label.
type definition struct {
	key     string
	catalog *instancetypes.Catalog
}

// LabelColumn is one label over all offers: a value number each, -1 where it is absent.
type LabelColumn struct {
	Numbers []int32
	Values  []string
	Defined bool // by any catalog
}

// A prioritized ranking looks at capacity types first, at instance types next and at
// prices last. The search sees that as surcharges, in nano-USD per hour, of more
// than machines cost.
const (
	prioritizedTier = 1_000_000 * 1_000_000_000
	prioritizedStep = 2_000 * 1_000_000_000
	// machineSurcharge is what every machine counts for in addition where there are to
	// be few of them.
	machineSurcharge = 10_000 * 1_000_000_000
)

// NewRankedOffers reads catalogs.
func NewRankedOffers(s *scheduling.Policy, catalogs []*instancetypes.Catalog) *RankedOffers {
	k := &RankedOffers{Catalogs: catalogs, OfferTable: OfferTable{
		Spans:   map[*instancetypes.Catalog][2]int{},
		Columns: map[string]*LabelColumn{},
		Rows:    map[string]model.Bits{},
		Defined: map[definition]bool{},
	}}
	for _, catalog := range catalogs {
		k.add(s, catalog)
	}
	return k
}

// add appends the offers of a catalog in rank order.
func (k *RankedOffers) add(s *scheduling.Policy, catalog *instancetypes.Catalog) {
	from, n := len(k.Offers), 0
	for it := range catalog.All() {
		n += len(it.Offerings)
	}
	k.Offers, k.Lists = slices.Grow(k.Offers, n), slices.Grow(k.Lists, catalog.Len())
	for it := range catalog.All() {
		base := -1
		k.types++
		for i := range it.Offerings {
			o := &it.Offerings[i]
			x := Offer{InstanceType: it, TypeNumber: k.types - 1, Offering: o, Excluded: excluded(s, it, o), Expected: s.ExpectedPrice(it, o)}
			x.Launchable = x.Excluded.Code == "" && o.Launchable()
			if len(o.Capacity) > 0 || len(o.Overhead) > 0 {
				x.Shape = k.addLists(it.AllocatableOf(*o), it.CapacityOf(*o))
			} else {
				if base < 0 {
					base = k.addLists(it.Allocatable(), it.Capacity)
				}
				x.Shape = base
			}
			x.Cost = cost(s, x.Candidate())
			k.Offers = append(k.Offers, x)
		}
	}
	added := k.Offers[from:]
	sortOffers(s, added)
	k.Spans[catalog] = [2]int{from, len(k.Offers)}
	for i := range added {
		if added[i].Offering.CapacityType == offerings.Reserved {
			k.Reserved = append(k.Reserved, int32(from+i))
		}
	}
}

// sortOffers puts offers in rank order. Where that goes by costs first, these are looked at
// before anything else.
func sortOffers(s *scheduling.Policy, offers []Offer) {
	type ranked struct {
		cost int64
		at   int
	}
	byCost, order := ByCost(s), make([]ranked, len(offers))
	for i := range order {
		order[i].at = i
		if byCost {
			order[i].cost = offers[i].Cost
		}
	}
	// What costs the same is nearly in order as catalogs list it.
	slices.SortFunc(order, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.at, b.at)) })
	for rest := order; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].cost == rest[0].cost {
			n++
		}
		slices.SortFunc(rest[:n], func(a, b ranked) int { return s.Ranking.Compare(offers[a.at].Candidate(), offers[b.at].Candidate()) })
		rest = rest[n:]
	}
	sorted := make([]Offer, len(offers))
	for to, from := range order {
		sorted[to] = offers[from.at]
	}
	copy(offers, sorted)
}

// ByCost reports whether offers of a lower cost always rank before others.
func ByCost(s *scheduling.Policy) bool {
	return s.Ranking.Strategy != offerings.Prioritized && !s.FewestNodes
}

func (k *RankedOffers) addLists(allocatable, capacity corev1.ResourceList) int {
	k.Lists = append(k.Lists, shapeLists{allocatable, capacity})
	return len(k.Lists) - 1
}

// AddShape adds what the machines of some offers have, and what of it pods may use.
func (t *OfferTable) AddShape(table *podspec.ResourceTable, allocatable, capacity corev1.ResourceList) {
	room := table.Vector(allocatable)
	t.Volumes.LimitShape(room, table, allocatable)
	t.Shapes = append(t.Shapes, Shape{Allocatable: room, Capacity: capacity})
}

// cost is what the search minimises when it buys the candidate.
func cost(s *scheduling.Policy, c offerings.Candidate) int64 {
	cost := int64(s.Ranking.ExpectedPrice(c))
	if s.FewestNodes {
		cost += machineSurcharge
	}
	if s.Ranking.Strategy == offerings.Prioritized {
		cost += int64(capacityTypeRank(s, c.Offering.CapacityType)) * prioritizedTier
		cost += int64(priorityRank(s, c.InstanceType)) * prioritizedStep
	}
	return cost
}

// priorityRank is the place of an instance type among the caller's priorities; types
// without one come last.
func priorityRank(s *scheduling.Policy, name string) int {
	own, ok := s.Ranking.Priorities[name]
	better := map[int]bool{}
	for _, p := range s.Ranking.Priorities {
		if !ok || p < own {
			better[p] = true
		}
	}
	return len(better)
}

// capacityTypeRank is the place of a capacity type in the ranking's order.
func capacityTypeRank(s *scheduling.Policy, ct offerings.CapacityType) int {
	order := s.Ranking.CapacityTypes
	if i := slices.Index(order, ct); i >= 0 {
		return i
	}
	return len(order) + max(0, slices.Index(offerings.CapacityTypes(), ct))
}

// Label is the value of a label on machines bought at the offer.
func (o *Offer) Label(key string) (string, bool) {
	switch key {
	case offerings.ZoneLabel:
		return o.Offering.Zone, true
	case offerings.CapacityTypeLabel:
		return string(o.Offering.CapacityType), true
	case offerings.ReservationIDLabel:
		if o.Offering.CapacityType == offerings.Reserved && o.Offering.ReservationID != "" {
			return o.Offering.ReservationID, true
		}
		return "", false
	}
	if v, ok := o.Offering.Labels[key]; ok {
		return v, true
	}
	v, ok := o.InstanceType.Labels[key]
	return v, ok
}

// ofType reports whether the offer has a label as its type does.
func (o *Offer) ofType(key string) bool {
	switch key {
	case offerings.ZoneLabel, offerings.CapacityTypeLabel, offerings.ReservationIDLabel:
		return false
	}
	_, own := o.Offering.Labels[key]
	return !own
}

// Column returns the column of a label.
func (t *OfferTable) Column(key string) *LabelColumn {
	if c, ok := t.Columns[key]; ok {
		return c
	}
	c := &LabelColumn{Numbers: make([]int32, len(t.Offers))}
	index := map[string]int32{}
	ofType := make([]int32, t.types) // 1 more than the number of its value; 0 where that has not been asked
	for i := range t.Offers {
		o := &t.Offers[i]
		shared := o.ofType(key)
		if n := ofType[o.TypeNumber]; shared && n != 0 {
			c.Numbers[i] = n - 1
			continue
		}
		n := int32(-1)
		if v, ok := o.Label(key); ok {
			known := false
			if n, known = index[v]; !known {
				n = int32(len(c.Values))
				index[v] = n
				c.Values = append(c.Values, v)
			}
			c.Defined = true
		}
		c.Numbers[i] = n
		if shared {
			ofType[o.TypeNumber] = n + 1
		}
	}
	t.Columns[key] = c
	return c
}

// Defines reports whether any offer of a catalog brings a label.
func (t *OfferTable) Defines(key string, catalog *instancetypes.Catalog) bool {
	asked := definition{key, catalog}
	if defined, known := t.Defined[asked]; known {
		return defined
	}
	span := t.Spans[catalog]
	t.Defined[asked] = slices.ContainsFunc(t.Column(key).Numbers[span[0]:span[1]], func(n int32) bool { return n >= 0 })
	return t.Defined[asked]
}

// row returns the offers on whose machines the requirement holds, given the label
// that the node template puts on machines that do not bring one themselves.
func (t *OfferTable) row(r requirements.Requirement, fallback string, has bool) model.Bits {
	name := r.String()
	if has {
		name += "\x00" + fallback
	}
	if row, ok := t.Rows[name]; ok {
		return row
	}
	c := t.Column(r.Key())
	accepts := make([]bool, len(c.Values)+1)
	for i, v := range c.Values {
		accepts[i+1] = r.Has(v)
	}
	if has {
		accepts[0] = r.Has(fallback)
	} else {
		accepts[0] = r.AllowsAbsent()
	}
	row := model.NewBits(len(t.Offers))
	for i, n := range c.Numbers {
		if accepts[n+1] {
			row.Set(i)
		}
	}
	t.Rows[name] = row
	return row
}

// Option is the offer as launches list it.
func (o *Offer) Option() scheduling.Option {
	return scheduling.Option{
		InstanceType: o.InstanceType.Name, Zone: o.Offering.Zone, CapacityType: o.Offering.CapacityType,
		Price: o.Offering.Price, ReservationID: o.Offering.ReservationID, InterruptionRate: o.Offering.InterruptionRate,
		Estimated: o.Offering.Estimated,
	}
}

// RankedOffers is the offers of some catalogs in rank order, all that does not depend on pods
// and on what is unavailable for a while.
type RankedOffers struct {
	Catalogs []*instancetypes.Catalog
	OfferTable
	Lists []shapeLists // by shape
	// sized is the shapes' room by the resources that were asked for last.
	Sized  []Shape
	Names  []corev1.ResourceName
	Ranked []int32 // see offerTable.ranks
}

// shapeLists are what a shape is made of.
type shapeLists struct{ Allocatable, Capacity corev1.ResourceList }

// NarrowToVolumes keeps the offers whose machines, bought for a template, can use all
// volumes of a pod.
func (t *OfferTable) NarrowToVolumes(row model.Bits, v *Template, c *podspec.Constraint) {
	for _, terms := range c.Volumes {
		matched := model.NewBits(len(t.Offers))
		for i := range terms {
			if alternative := t.Matching(v, &terms[i]); alternative != nil {
				matched.Or(alternative)
			}
		}
		row.And(matched)
	}
}

// Supplies numbers the reservations. One that several offers share has the
// smallest count that any of them states.
type Supplies struct {
	Index  map[string]int32
	Counts []int64
}

// Number is the number of the reservation of an offering, model.NoSupply where it is none.
func (s *Supplies) Number(o *offerings.Offering) int32 {
	if o.CapacityType != offerings.Reserved {
		return model.NoSupply
	}
	return s.Index[o.ReservationID]
}
