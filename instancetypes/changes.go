package instancetypes

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// OfferingOf is the offering of a node by its labels: the stable ones or, where they are absent or
// empty, the beta labels for instance type and zone. Fields without a label are empty, and so is
// the offering of no node (nil). It need not be in a catalog.
func OfferingOf(node *corev1.Node) offerings.Key {
	if node == nil {
		return offerings.Key{}
	}
	return offerings.Key{
		InstanceType:  cmp.Or(node.Labels[corev1.LabelInstanceTypeStable], node.Labels[corev1.LabelInstanceType]),
		Zone:          cmp.Or(node.Labels[corev1.LabelTopologyZone], node.Labels[corev1.LabelFailureDomainBetaZone]),
		CapacityType:  offerings.CapacityType(node.Labels[offerings.CapacityTypeLabel]),
		ReservationID: cmp.Or(node.Labels[offerings.ReservationIDLabel], node.Annotations[offerings.CommitmentAnnotation]),
	}
}

// WithNodes returns the catalog with the offerings that running nodes prove to be sold: where it
// lists a node's type in the region, but not in the node's zone under its capacity type
// (reservations aside), that offering is added. Its price is the median of the others, of two the
// lower one, and is marked as estimated; it is exact for on-demand prices of a cloud with one price
// for all zones of a region, e.g. EC2. Regions are distinguished where node and offering have the
// label topology.kubernetes.io/region. A node of a type that the catalog lacks stays without a
// price.
func (c *Catalog) WithNodes(nodes []*corev1.Node) (*Catalog, error) {
	found := map[offerings.Key]OfferingChange{}
	for _, node := range slices.SortedFunc(slices.Values(present(nodes)), func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) }) {
		key := OfferingOf(node)
		key.ReservationID = ""
		t, ok := c.Get(key.InstanceType)
		if !ok || key.Zone == "" || key.CapacityType == offerings.Reserved || slices.ContainsFunc(t.Offerings, func(o offerings.Offering) bool {
			return o.Zone == key.Zone && o.CapacityType == key.CapacityType
		}) {
			continue
		}
		o := t.elsewhere(node, key.CapacityType)
		if o == nil || len(o.Labels) < len(found[key].Labels) {
			continue
		}
		o.Zone, o.Unavailable = key.Zone, false
		found[key] = OfferingChange{InstanceType: t.Name, Offering: *o}
	}
	if len(found) == 0 {
		return c, nil
	}
	return c.WithOfferings(slices.Collect(maps.Values(found))...)
}

// LookupNode returns the offering that a node runs on, by its labels, also in a zone where [Catalog.WithNodes] adds it. It
// returns false for a node of a type that the catalog lacks, and for nil.
func (c *Catalog) LookupNode(node *corev1.Node) (offerings.Offering, bool) {
	if node == nil {
		return offerings.Offering{}, false
	}
	if o, ok := c.Lookup(OfferingOf(node)); ok {
		return o, true
	}
	with, err := c.WithNodes([]*corev1.Node{node})
	if err != nil {
		return offerings.Offering{}, false
	}
	return with.Lookup(OfferingOf(node))
}

// elsewhere is the offering of median price at which the type is sold in the region of a
// node, with the labels of the node's zone in place of its own; nil if there is none.
func (t *InstanceType) elsewhere(node *corev1.Node, by offerings.CapacityType) *offerings.Offering {
	region := node.Labels[corev1.LabelTopologyRegion]
	var sold []offerings.Offering
	for _, o := range t.Offerings {
		if there := t.NodeLabels(o)[corev1.LabelTopologyRegion]; o.CapacityType == by && (region == "" || there == "" || there == region) {
			sold = append(sold, o)
		}
	}
	if len(sold) == 0 {
		return nil
	}
	slices.SortStableFunc(sold, func(a, b offerings.Offering) int { return cmp.Compare(a.Price, b.Price) })
	o := sold[(len(sold)-1)/2].DeepCopy()
	maps.DeleteFunc(o.Labels, func(key, _ string) bool { return node.Labels[key] == "" })
	for key := range o.Labels {
		o.Labels[key] = node.Labels[key]
	}
	if !slices.Contains(o.Estimated, "price") {
		o.Estimated = append(o.Estimated, "price")
	}
	return &o
}

// OfferingChange is an offering of an instance type as it is from now on.
type OfferingChange struct {
	// InstanceType is the name of the type in the catalog.
	InstanceType string
	// Offering takes the place of the one that it has zone, capacity type and reservation
	// id in common with.
	offerings.Offering
}

// WithOfferings returns a catalog in which single offerings have changed: a change replaces the
// type's offering of the same zone, capacity type and reservation id, or is added. Of several
// changes of one offering the last counts. Types that do not change are shared with c, which is not
// changed. The error reports every fault at once, as [CatalogFault] values: types that c lacks, and the
// faults of [InstanceType.Validate].
func (c *Catalog) WithOfferings(changes ...OfferingChange) (*Catalog, error) {
	var fs faults
	changed := map[string]*InstanceType{}
	for _, x := range changes {
		t := changed[x.InstanceType]
		if t == nil {
			old, ok := c.Get(x.InstanceType)
			if !ok {
				fs.add(&CatalogFault{Type: x.InstanceType, Field: "name", Value: x.InstanceType, Problem: "is not in the catalog"})
				continue
			}
			t = old.DeepCopy()
			changed[x.InstanceType] = t
		}
		at := slices.IndexFunc(t.Offerings, func(o offerings.Offering) bool { return o.Key("") == x.Key("") })
		if at < 0 {
			t.Offerings = append(t.Offerings, x.Offering.DeepCopy())
		} else {
			t.Offerings[at] = x.Offering.DeepCopy()
		}
	}
	for _, name := range sortedNames(changed) {
		t := changed[name]
		t.check(&fs)
		t.complete()
	}
	if err := fs.err(); err != nil {
		return nil, err
	}
	types := make([]*InstanceType, 0, c.Len())
	for t := range c.All() {
		if x := changed[t.Name]; x != nil {
			t = x
		}
		types = append(types, t)
	}
	if c == nil {
		c = &Catalog{}
	}
	return c.derive(types), nil
}

func sortedNames(types map[string]*InstanceType) []string {
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
