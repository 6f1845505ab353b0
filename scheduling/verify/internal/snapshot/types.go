package snapshot

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// TypeReader reads instance types, each once.
type TypeReader struct {
	// rooms are the rooms of types at offerings without capacity or overhead of their own.
	rooms map[*instancetypes.InstanceType]room
	// labels are the labels of types by their stable keys.
	labels map[*instancetypes.InstanceType]map[string]string
}

func newTypeReader() *TypeReader {
	return &TypeReader{rooms: make(map[*instancetypes.InstanceType]room), labels: make(map[*instancetypes.InstanceType]map[string]string)}
}

// room is the capacity of a machine, and the part that pods may have; for reading only.
type room struct{ capacity, allocatable Amounts }

func (c *TypeReader) roomOf(t *instancetypes.InstanceType, o offerings.Offering) room {
	known, ok := c.rooms[t]
	if usual := len(o.Capacity) == 0 && len(o.Overhead) == 0; !usual || !ok {
		known = room{RoundedUp(capacityOf(t, o)), allocatable(t, o)}
		if usual {
			c.rooms[t] = known
		}
	}
	return known
}

// Allocatable returns the amounts that a machine has for pods; for reading only.
func (c *TypeReader) Allocatable(t *instancetypes.InstanceType, o offerings.Offering) Amounts {
	return c.roomOf(t, o).allocatable
}

// allocatable returns capacity less the overhead of kubelet, system and eviction threshold; memory also less huge
// pages; never below 0.
func allocatable(t *instancetypes.InstanceType, o offerings.Offering) Amounts {
	capacity := capacityOf(t, o)
	left := make(corev1.ResourceList, len(capacity))
	for name, q := range capacity {
		free := q.DeepCopy()
		if kept, ok := o.Overhead[name]; ok {
			free.Sub(kept)
		} else {
			free.Sub(t.Overhead.KubeReserved[name])
			free.Sub(t.Overhead.SystemReserved[name])
			free.Sub(t.Overhead.EvictionThreshold[name])
		}
		if name == corev1.ResourceMemory {
			for other, pages := range capacity {
				if strings.HasPrefix(string(other), corev1.ResourceHugePagesPrefix) {
					free.Sub(pages)
				}
			}
		}
		if free.Sign() < 0 {
			free = resource.Quantity{}
		}
		left[name] = free
	}
	return roundedDown(left)
}

// capacityOf returns the capacity of the type, with the amounts that the offering states in its place.
func capacityOf(t *instancetypes.InstanceType, o offerings.Offering) corev1.ResourceList {
	list := corev1.ResourceList{}
	maps.Copy(list, t.Capacity)
	maps.Copy(list, o.Capacity)
	return list
}

// Bare describes the offering as if any pool launched it: no daemon runs there, and each pod finds the labels that it
// asks of pools or of their provider.
func (c *TypeReader) Bare(t *instancetypes.InstanceType, o offerings.Offering) *Node {
	return &Node{
		Labels: c.soldLabels(t, o), planned: true, Kind: t, Offering: o, Free: c.Allocatable(t, o),
		Open: func(string) Opening { return Opening{Rule: some} },
	}
}

// soldLabels are the labels that come with an offering, by their stable keys.
func (c *TypeReader) soldLabels(t *instancetypes.InstanceType, o offerings.Offering) map[string]string {
	ofType, known := c.labels[t]
	if !known {
		ofType = stableKeys(nil, t.Labels)
		c.labels[t] = ofType
	}
	return stableKeys(maps.Clone(ofType), o.NodeLabels())
}

// StableLabels returns labels by their stable keys. A label under its stable key wins over its aliases.
func StableLabels(labels map[string]string) map[string]string { return stableKeys(nil, labels) }

// stableKeys adds labels to the map by their stable keys, as StableLabels reads them.
func stableKeys(to, from map[string]string) map[string]string {
	if to == nil {
		to = make(map[string]string, len(from))
	}
	for key, value := range from {
		stable := requirements.NormalizeKey(key)
		if _, both := from[stable]; stable == key || !both {
			to[stable] = value
		}
	}
	return to
}
