package offerings

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Keys of the labels that name the offering of a node.
const (
	// ZoneLabel carries [Offering.Zone].
	ZoneLabel = corev1.LabelTopologyZone
	// ZoneIDLabel carries the id of the zone, which says the same in every AWS account: names
	// of zones are mapped to ids again for each.
	ZoneIDLabel = "topology.k8s.aws/zone-id"
	// CapacityTypeLabel carries [Offering.CapacityType].
	CapacityTypeLabel = "karpenter.sh/capacity-type"
	// ReservationIDLabel carries [Offering.ReservationID], on nodes of counted offerings only.
	ReservationIDLabel = "karpenter.k8s.aws/capacity-reservation-id"
)

// Offering is an instance type in one zone, at one capacity type and price. An instance type lists
// each combination of zone, capacity type and reservation at most once.
type Offering struct {
	// Zone is the zone of its nodes, as in topology.kubernetes.io/zone.
	Zone string `json:"zone"`
	// CapacityType says how it is paid for.
	CapacityType CapacityType `json:"capacityType"`
	// Price is the cost of one more node per hour. For a reservation it is the amount that a
	// node in it adds to the bill, often 0, because the reservation is paid for already.
	Price Price `json:"price"`
	// Unavailable offerings are listed, so that running nodes can be priced and compared with
	// available offerings, but must not be launched.
	Unavailable bool `json:"unavailable,omitempty"`
	// ReservationID names what limits the number of nodes: a reservation, or an inventory such as
	// the machines of a rack. Reserved offerings must have one, those of other capacity types may;
	// without one there are as many nodes as anyone launches. Offerings of several types or zones
	// that carry the same id draw on the same count. It must be a valid label value.
	ReservationID string `json:"reservationID,omitempty"`
	// ReservationCount is how many more nodes the reservation or inventory has.
	ReservationCount int `json:"reservationCount,omitempty"`
	// InterruptionRate is the share of spot nodes of this type and zone, 0 to 1, that the
	// provider takes away within a month; 0 is none, or unknown.
	InterruptionRate float64 `json:"interruptionRate,omitempty"`
	// Capacity replaces the capacity of the instance type, resource by resource, for
	// its nodes.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Overhead replaces, resource by resource, the sum that kubelet, system and
	// eviction threshold keep for themselves.
	Overhead corev1.ResourceList `json:"overhead,omitempty"`
	// Labels are labels of its nodes beside zone, capacity type and reservation
	// id: zone id, region, partition, kind of reservation, rack.
	Labels map[string]string `json:"labels,omitempty"`
	// Estimated names the JSON fields whose values are estimates of the catalog rather than figures
	// of its source, e.g. "price" or "interruptionRate". "zone" says that the source has the price
	// and does not say in which zone it holds.
	Estimated []string `json:"estimated,omitempty"`
}

// NodeLabels returns the labels that a node of the offering carries: zone, capacity
// type, the reservation id of a counted offering, and Labels. The map is the
// caller's to keep.
func (o Offering) NodeLabels() map[string]string {
	labels := make(map[string]string, len(o.Labels)+3)
	maps.Copy(labels, o.Labels)
	labels[ZoneLabel] = o.Zone
	labels[CapacityTypeLabel] = string(o.CapacityType)
	if o.Counted() {
		labels[ReservationIDLabel] = o.ReservationID
	}
	return labels
}

// Counted reports whether the number of its nodes is limited, by a reservation or by an inventory.
func (o *Offering) Counted() bool { return o.ReservationID != "" }

// Launchable reports whether a node can be launched from it now: the offering is not
// marked unavailable, and its reservation or inventory, if it has one, is not used up.
func (o Offering) Launchable() bool {
	return !o.Unavailable && (!o.Counted() || o.ReservationCount > 0)
}

// DeepCopy returns an offering that shares no memory with o.
func (o Offering) DeepCopy() Offering {
	o.Capacity = o.Capacity.DeepCopy()
	o.Overhead = o.Overhead.DeepCopy()
	o.Labels = maps.Clone(o.Labels)
	o.Estimated = slices.Clone(o.Estimated)
	return o
}

// Key returns the name of the offering in a catalog, given that of its instance type.
func (o *Offering) Key(instanceType string) Key {
	return Key{InstanceType: instanceType, Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID}
}

// Key names an offering of a catalog, in which no two have the same. In a mark of
// [Unavailable] it names several: an empty field stands for every value, so that
// Key{Zone: "us-east-1a"} is everything in that zone.
type Key struct {
	// InstanceType, Zone and CapacityType are as in a catalog.
	InstanceType string       `json:"instanceType,omitempty"`
	Zone         string       `json:"zone,omitempty"`
	CapacityType CapacityType `json:"capacityType,omitempty"`
	// ReservationID is that of a counted offering.
	ReservationID string `json:"reservationID,omitempty"`
}

// Compare orders keys by instance type, zone, capacity type and reservation.
func (k Key) Compare(o Key) int {
	return cmp.Or(
		cmp.Compare(k.InstanceType, o.InstanceType),
		cmp.Compare(k.Zone, o.Zone),
		cmp.Compare(k.CapacityType, o.CapacityType),
		cmp.Compare(k.ReservationID, o.ReservationID),
	)
}

// String returns the fields that are not empty, with blanks between them.
func (k Key) String() string {
	fields := []string{k.InstanceType, k.Zone, string(k.CapacityType), k.ReservationID}
	return strings.Join(slices.DeleteFunc(fields, func(s string) bool { return s == "" }), " ")
}
