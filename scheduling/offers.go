package scheduling

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// offer is one offering of one instance type.
type offer struct {
	instanceType *instancetypes.InstanceType
	offering     *offerings.Offering
	expected     offerings.Price // see Policy.ExpectedPrice
	shape        int             // of its allocatable and capacity
	cost         int64           // what the search minimises
	launchable   bool            // on sale now, and the settings allow it
	excluded     exclusion
}

// candidate is the offer as rankings see it: at its expected price.
func (o *offer) candidate() offerings.Candidate {
	c := offerings.Candidate{InstanceType: o.instanceType.Name, Offering: *o.offering}
	c.Offering.Price = o.expected
	return c
}

// shape is what a machine has, shared by the offerings of a type that do not
// override it.
type shape struct {
	allocatable []int64             // by resource number
	capacity    corev1.ResourceList // for limits
}

// offerTable holds the offers of all catalogs of a problem, each catalog's in rank
// order, and their labels as columns.
type offerTable struct {
	offers  []offer
	shapes  []shape
	spans   map[*instancetypes.Catalog][2]int
	columns map[string]*column
	rows    map[string]model.Bits
	defined map[definition]bool
	// reserved are those of the offers that draw on a reservation.
	reserved []int32
	volumes  *volumeIndex
	// ranks, where it is set, remembers the places of the offers in the order of prices.
	ranks *[]int32
}

// definition is the question whether any offer of a catalog brings a label.
type definition struct {
	key     string
	catalog *instancetypes.Catalog
}

// column is one label over all offers: a value number each, -1 where it is absent.
type column struct {
	numbers []int32
	values  []string
	defined bool // by any catalog
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

// newStock reads catalogs.
func newStock(s *Policy, catalogs []*instancetypes.Catalog) *stock {
	k := &stock{catalogs: catalogs, offerTable: offerTable{
		spans:   map[*instancetypes.Catalog][2]int{},
		columns: map[string]*column{},
		rows:    map[string]model.Bits{},
		defined: map[definition]bool{},
	}}
	for _, catalog := range catalogs {
		k.add(s, catalog)
	}
	return k
}

// add appends the offers of a catalog in rank order.
func (k *stock) add(s *Policy, catalog *instancetypes.Catalog) {
	from, n := len(k.offers), 0
	for it := range catalog.All() {
		n += len(it.Offerings)
	}
	k.offers, k.lists = slices.Grow(k.offers, n), slices.Grow(k.lists, catalog.Len())
	for it := range catalog.All() {
		base := -1
		for i := range it.Offerings {
			o := &it.Offerings[i]
			x := offer{instanceType: it, offering: o, excluded: s.excluded(it, o), expected: s.ExpectedPrice(it, o)}
			x.launchable = x.excluded.code == "" && o.Launchable()
			if len(o.Capacity) > 0 || len(o.Overhead) > 0 {
				x.shape = k.addLists(it.AllocatableOf(*o), it.CapacityOf(*o))
			} else {
				if base < 0 {
					base = k.addLists(it.Allocatable(), it.Capacity)
				}
				x.shape = base
			}
			x.cost = s.cost(x.candidate())
			k.offers = append(k.offers, x)
		}
	}
	added := k.offers[from:]
	sortOffers(s, added)
	k.spans[catalog] = [2]int{from, len(k.offers)}
	for i := range added {
		if added[i].offering.CapacityType == offerings.Reserved {
			k.reserved = append(k.reserved, int32(from+i))
		}
	}
}

// sortOffers puts offers in rank order. Where that goes by costs first, these are looked at
// before anything else.
func sortOffers(s *Policy, offers []offer) {
	byCost := s.byCost()
	order := make([]int32, len(offers))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int {
		a, b := &offers[x], &offers[y]
		if byCost && a.cost != b.cost {
			return cmp.Compare(a.cost, b.cost)
		}
		return s.Ranking.Compare(a.candidate(), b.candidate())
	})
	sorted := make([]offer, len(offers))
	for to, from := range order {
		sorted[to] = offers[from]
	}
	copy(offers, sorted)
}

// byCost reports whether offers of a lower cost always rank before others.
func (s *Policy) byCost() bool { return s.Ranking.Strategy != offerings.Prioritized && !s.FewestNodes }

func (k *stock) addLists(allocatable, capacity corev1.ResourceList) int {
	k.lists = append(k.lists, shapeLists{allocatable, capacity})
	return len(k.lists) - 1
}

func (t *offerTable) addShape(table *resourceTable, allocatable, capacity corev1.ResourceList) {
	room := table.vector(allocatable)
	t.volumes.limitShape(room, table, allocatable)
	t.shapes = append(t.shapes, shape{allocatable: room, capacity: capacity})
}

// cost is what the search minimises when it buys the candidate.
func (s *Policy) cost(c offerings.Candidate) int64 {
	cost := int64(s.Ranking.ExpectedPrice(c))
	if s.FewestNodes {
		cost += machineSurcharge
	}
	if s.Ranking.Strategy == offerings.Prioritized {
		cost += int64(s.capacityTypeRank(c.Offering.CapacityType)) * prioritizedTier
		cost += int64(s.priorityRank(c.InstanceType)) * prioritizedStep
	}
	return cost
}

// priorityRank is the place of an instance type among the caller's priorities; types
// without one come last.
func (s *Policy) priorityRank(name string) int {
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
func (s *Policy) capacityTypeRank(ct offerings.CapacityType) int {
	order := s.Ranking.CapacityTypes
	if i := slices.Index(order, ct); i >= 0 {
		return i
	}
	return len(order) + max(0, slices.Index(offerings.CapacityTypes(), ct))
}

// label is the value of a label on machines bought at the offer.
func (o *offer) label(key string) (string, bool) {
	switch key {
	case offerings.ZoneLabel:
		return o.offering.Zone, true
	case offerings.CapacityTypeLabel:
		return string(o.offering.CapacityType), true
	case offerings.ReservationIDLabel:
		if o.offering.CapacityType == offerings.Reserved && o.offering.ReservationID != "" {
			return o.offering.ReservationID, true
		}
		return "", false
	}
	if v, ok := o.offering.Labels[key]; ok {
		return v, true
	}
	v, ok := o.instanceType.Labels[key]
	return v, ok
}

// column returns the column of a label.
func (t *offerTable) column(key string) *column {
	if c, ok := t.columns[key]; ok {
		return c
	}
	c := &column{numbers: make([]int32, len(t.offers))}
	index := map[string]int32{}
	for i := range t.offers {
		v, ok := t.offers[i].label(key)
		if !ok {
			c.numbers[i] = -1
			continue
		}
		n, known := index[v]
		if !known {
			n = int32(len(c.values))
			index[v] = n
			c.values = append(c.values, v)
		}
		c.numbers[i] = n
		c.defined = true
	}
	t.columns[key] = c
	return c
}

// defines reports whether any offer of a catalog brings a label.
func (t *offerTable) defines(key string, catalog *instancetypes.Catalog) bool {
	asked := definition{key, catalog}
	if defined, known := t.defined[asked]; known {
		return defined
	}
	span := t.spans[catalog]
	t.defined[asked] = slices.ContainsFunc(t.column(key).numbers[span[0]:span[1]], func(n int32) bool { return n >= 0 })
	return t.defined[asked]
}

// row returns the offers on whose machines the requirement holds, given the label
// that the node template puts on machines that do not bring one themselves.
func (t *offerTable) row(r requirements.Requirement, fallback string, has bool) model.Bits {
	name := r.String()
	if has {
		name += "\x00" + fallback
	}
	if row, ok := t.rows[name]; ok {
		return row
	}
	c := t.column(r.Key())
	accepts := make([]bool, len(c.values)+1)
	for i, v := range c.values {
		accepts[i+1] = r.Has(v)
	}
	if has {
		accepts[0] = r.Has(fallback)
	} else {
		accepts[0] = r.AllowsAbsent()
	}
	row := model.NewBits(len(t.offers))
	for i, n := range c.numbers {
		if accepts[n+1] {
			row.Set(i)
		}
	}
	t.rows[name] = row
	return row
}
