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
	Shape        int             // index in the table's Shapes
	TypeNumber   int             // number of its instance type among all catalogs
	Cost         int64           // the search's price, in nano-USD per hour with surcharges of the ranking
	Launchable   bool            // available now, and not excluded
	Excluded     Exclusion
}

// Candidate is the offer as rankings compare it, with its expected price.
func (o *Offer) Candidate() offerings.Candidate {
	c := offerings.Candidate{InstanceType: o.InstanceType.Name, Offering: *o.Offering}
	c.Offering.Price = o.Expected
	return c
}

// Shape is the allocatable and capacity of a node. Offerings of a type share it unless they override it.
type Shape struct {
	Allocatable []int64             // by resource number
	Capacity    corev1.ResourceList // for limits
}

// OfferTable is the offers of all catalogs of a problem, each catalog's in rank order, with their labels as columns.
// Columns, Rows and Defined grow when they are asked for.
type OfferTable struct {
	Offers  []Offer
	Shapes  []Shape
	Spans   map[*instancetypes.Catalog][2]int
	types   int // the number of instance types
	Columns map[string]*LabelColumn
	Rows    map[string]model.Bits
	Defined map[definition]bool
	// Reserved are the indices of offers of reservations.
	Reserved []int32
	Volumes  *podspec.VolumeIndex
	// Ranks, where it is set, keeps the rank of each offer by expected price.
	Ranks *[]int32
}

// definition is a label and a catalog, the key of OfferTable.Defined.
type definition struct {
	key     string
	catalog *instancetypes.Catalog
}

// LabelColumn is one label over all offers: by offer, an index into Values; -1 where the label is absent.
type LabelColumn struct {
	Numbers []int32
	Values  []string
	Defined bool // whether an offer has it
}

const (
	// prioritizedTier and prioritizedStep are surcharges for each rank of capacity type and of instance type, because
	// a prioritized ranking compares these before prices. In nano-USD per hour, they must exceed the price of every
	// node.
	prioritizedTier = 1_000_000 * 1_000_000_000
	prioritizedStep = 2_000 * 1_000_000_000
	// machineSurcharge is added for every node where the policy asks for the fewest nodes.
	machineSurcharge = 10_000 * 1_000_000_000
)

// NewRankedOffers reads the offers of catalogs under a policy.
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
		if added[i].Offering.Counted() {
			k.Reserved = append(k.Reserved, int32(from+i))
		}
	}
}

// sortOffers sorts offers by the policy's ranking. Costs are compared first where the ranking allows it, because that is
// faster.
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
	// Equal costs stay in the order of the catalog, which is nearly the ranking's.
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

// ByCost reports whether an offer of a lower cost always ranks before one of a higher cost.
func ByCost(s *scheduling.Policy) bool {
	return s.Ranking.Strategy != offerings.Prioritized && !s.FewestNodes
}

// addLists adds a shape and returns its number.
func (k *RankedOffers) addLists(allocatable, capacity corev1.ResourceList) int {
	k.Lists = append(k.Lists, shapeLists{allocatable, capacity})
	return len(k.Lists) - 1
}

// AddShape adds a shape. Its allocatable is numbered by table, with the attach limits of volumes.
func (t *OfferTable) AddShape(table *podspec.ResourceTable, allocatable, capacity corev1.ResourceList) {
	room := table.Vector(allocatable)
	t.Volumes.LimitShape(room, table, allocatable)
	t.Shapes = append(t.Shapes, Shape{Allocatable: room, Capacity: capacity})
}

// cost is the price of a candidate for the search, with the surcharges of the ranking.
func cost(s *scheduling.Policy, c offerings.Candidate) int64 {
	cost := int64(s.Ranking.ExpectedPrice(c))
	if s.FewestNodes {
		cost += machineSurcharge
	}
	if s.Ranking.Strategy == offerings.Prioritized {
		cost += int64(s.Ranking.CapacityTypeRank(c.Offering.CapacityType)) * prioritizedTier
		cost += int64(priorityRank(s, c.InstanceType)) * prioritizedStep
	}
	return cost
}

// priorityRank is the rank of an instance type by the policy's priorities, 0 for the best. Types without a priority come
// last.
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

// Label is the value of a label on nodes of the offer. ok is false where the offer does not define it.
func (o *Offer) Label(key string) (string, bool) {
	switch key {
	case offerings.ZoneLabel:
		return o.Offering.Zone, true
	case offerings.CapacityTypeLabel:
		return string(o.Offering.CapacityType), true
	case offerings.ReservationIDLabel:
		return o.Offering.ReservationLabel()
	}
	if v, ok := o.Offering.Labels[key]; ok {
		return v, true
	}
	v, ok := o.InstanceType.Labels[key]
	return v, ok
}

// ofType reports whether the value of a label is the instance type's, not the offering's.
func (o *Offer) ofType(key string) bool {
	switch key {
	case offerings.ZoneLabel, offerings.CapacityTypeLabel, offerings.ReservationIDLabel:
		return false
	}
	_, own := o.Offering.Labels[key]
	return !own
}

// Column returns the column of a label. It is built at the first call.
func (t *OfferTable) Column(key string) *LabelColumn {
	if c, ok := t.Columns[key]; ok {
		return c
	}
	c := &LabelColumn{Numbers: make([]int32, len(t.Offers))}
	index := map[string]int32{}
	ofType := make([]int32, t.types) // by type, the number of its value plus 1; 0 where it is not known yet
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

// Defines reports whether an offer of a catalog has a label.
func (t *OfferTable) Defines(key string, catalog *instancetypes.Catalog) bool {
	asked := definition{key, catalog}
	if defined, known := t.Defined[asked]; known {
		return defined
	}
	span := t.Spans[catalog]
	t.Defined[asked] = slices.ContainsFunc(t.Column(key).Numbers[span[0]:span[1]], func(n int32) bool { return n >= 0 })
	return t.Defined[asked]
}

// row returns the offers on whose nodes a requirement holds. Where an offer does not define the label, its value is
// fallback if has, else absent. The result is remembered; the caller must not change it.
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
func (o *Offer) Option() scheduling.LaunchOption {
	return scheduling.LaunchOption{
		InstanceType: o.InstanceType.Name, Zone: o.Offering.Zone, CapacityType: o.Offering.CapacityType,
		Price: o.Offering.Price, ReservationID: o.Offering.ReservationID, Commitment: o.Offering.Commitment, InterruptionRate: o.Offering.InterruptionRate,
		Estimated: o.Offering.Estimated,
	}
}

// RankedOffers is the part of an [OfferTable] that does not depend on pods and unavailable offerings, kept from plan to
// plan.
type RankedOffers struct {
	Catalogs []*instancetypes.Catalog
	OfferTable
	Lists []shapeLists // by shape
	// Sized are the shapes by the resources in Names, which the last plan had.
	Sized  []Shape
	Names  []corev1.ResourceName
	Ranked []int32 // see OfferTable.Ranks
}

// shapeLists are the resource lists of a shape.
type shapeLists struct{ Allocatable, Capacity corev1.ResourceList }

// NarrowToVolumes removes from row the offers whose nodes, launched by a template, cannot use all volumes of a pod. Each
// volume has alternative terms.
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

// Supplies numbers the reservations. Where offers state different counts for one reservation the least holds.
type Supplies struct {
	Index  map[string]int32
	Counts []int64
}

// Number is the number of an offering's reservation; [model.NoSupply] if it is not reserved.
func (s *Supplies) Number(o *offerings.Offering) int32 {
	if !o.Counted() {
		return model.NoSupply
	}
	return s.Index[o.ReservationID]
}
