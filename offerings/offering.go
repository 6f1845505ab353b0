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
	// ReservationIDLabel carries [Offering.ReservationID], on nodes of reservations and inventories only.
	ReservationIDLabel = "karpenter.k8s.aws/capacity-reservation-id"
	// CommitmentAnnotation names on a node the commitment to pay that it draws on, i.e. [Offering.ReservationID] of its
	// offering where [Offering.Commitment] is true. No cloud sets it: package billing finds out which nodes draw on which
	// commitment.
	CommitmentAnnotation = "plimsoll-go.github.io/commitment"
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
	// ReservationID names the finite amount that limits the number of nodes: a reservation, an
	// inventory such as the machines or the power of a rack, or a commitment. Reserved offerings must
	// have one, those of other capacity types may; without one the number is not limited. Offerings
	// of several types or zones that carry the same id draw on the same amount. It must be a valid
	// label value.
	ReservationID string `json:"reservationID,omitempty"`
	// ReservationCount is the amount that is left for further nodes: a number of nodes, or another
	// amount of which each node takes ReservationUse. It is at most 10^15.
	ReservationCount int64 `json:"reservationCount,omitempty"`
	// ReservationUse is the amount of ReservationCount that one node takes, e.g. the watts of a
	// machine where the count is the power of a rack. 0 means 1. Offerings that share an id may
	// take different amounts. It is at most 10^12.
	ReservationUse int64 `json:"reservationUse,omitempty"`
	// Commitment says that ReservationID is a commitment to pay, e.g. a savings plan. Its nodes are
	// launched like nodes outside of it, so they do not carry [ReservationIDLabel].
	Commitment bool `json:"commitment,omitempty"`
	// RankingSurcharge is added to the price per hour where offerings are compared ([Ranking.ExpectedPrice]), and is part of
	// no sum of prices. It tells apart offerings that are paid in advance: of two nodes with price 0 the one with the smaller
	// surcharge is launched.
	RankingSurcharge Price `json:"rankingSurcharge,omitempty"`
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
// type, the id of its reservation or inventory, and Labels. The map is the
// caller's to keep.
func (o Offering) NodeLabels() map[string]string {
	labels := make(map[string]string, len(o.Labels)+3)
	maps.Copy(labels, o.Labels)
	labels[ZoneLabel] = o.Zone
	labels[CapacityTypeLabel] = string(o.CapacityType)
	if id, ok := o.ReservationLabel(); ok {
		labels[ReservationIDLabel] = id
	}
	return labels
}

// Counted reports whether the number of its nodes is limited, by a reservation, an inventory or a commitment.
func (o *Offering) Counted() bool { return o.ReservationID != "" }

// ReservationLabel returns the value of [ReservationIDLabel] on its nodes; ok is false where they do not carry the label,
// i.e. outside of reservations and inventories.
func (o *Offering) ReservationLabel() (id string, ok bool) {
	if !o.Counted() || o.Commitment {
		return "", false
	}
	return o.ReservationID, true
}

// UsePerNode returns the amount of [Offering.ReservationCount] that one node takes: ReservationUse, 1 where that is 0; and 0
// for an offering that is not counted.
func (o *Offering) UsePerNode() int64 {
	if !o.Counted() {
		return 0
	}
	return max(o.ReservationUse, 1)
}

// Launchable reports whether a node can be launched from it now: the offering is not marked unavailable, and its
// reservation, inventory or commitment, if it has one, has enough left for a node.
func (o Offering) Launchable() bool {
	return !o.Unavailable && o.ReservationCount >= o.UsePerNode()
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
