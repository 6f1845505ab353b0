package instancetypes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// ZoneNames returns an account's names of zones, by zone id, from nodes with both labels,
// topology.kubernetes.io/zone and topology.k8s.aws/zone-id. Contradictions between nodes are errors
// that name both; all are reported at once.
func ZoneNames(nodes []*corev1.Node) (map[string]string, error) {
	names := map[string]string{}
	byID, byName := map[string]*corev1.Node{}, map[string]*corev1.Node{}
	var faults []error
	for _, node := range present(nodes) {
		name, id := node.Labels[corev1.LabelTopologyZone], node.Labels[offerings.ZoneIDLabel]
		if name == "" || id == "" {
			continue
		}
		for _, other := range slices.Compact([]*corev1.Node{byID[id], byName[name]}) {
			if other == nil || other.Labels[corev1.LabelTopologyZone] == name && other.Labels[offerings.ZoneIDLabel] == id {
				continue
			}
			faults = append(faults, fmt.Errorf("node %s: %s: %s is the id of zone %s, but on node %s %s is that of %s",
				node.Name, offerings.ZoneIDLabel, id, name, other.Name, other.Labels[offerings.ZoneIDLabel], other.Labels[corev1.LabelTopologyZone]))
		}
		if byID[id] == nil && byName[name] == nil {
			names[id], byID[id], byName[name] = name, node, node
		}
	}
	return names, errors.Join(faults...)
}

// present leaves out nil entries.
func present(nodes []*corev1.Node) []*corev1.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(node *corev1.Node) bool { return node == nil })
}

// WithZones returns the catalog with the names of zones of an account, by id as from [ZoneNames]:
// offerings with the label topology.k8s.aws/zone-id are in the zone whose name belongs to the id,
// and offerings without it follow the others of their zone. A zone with an unknown id, or without
// one, keeps its name unless another zone gets it; then it takes the first in order that is left
// over, or else its id. No two zones share a name. A zone with two ids, or an id with two zones, in
// the catalog is an error.
func (c *Catalog) WithZones(names map[string]string) (*Catalog, error) {
	if len(names) == 0 {
		return c, nil
	}
	ids, err := c.zoneIDs()
	if err != nil {
		return nil, err
	}
	renamed := renamedZones(ids, names)
	types := make([]*InstanceType, 0, c.Len())
	for t := range c.All() {
		if slices.ContainsFunc(t.Offerings, func(o offerings.Offering) bool { return renamed[o.Zone] != o.Zone }) {
			t = t.DeepCopy()
			for i := range t.Offerings {
				o := &t.Offerings[i]
				o.Zone = renamed[o.Zone]
				if _, ok := o.Labels[offerings.ZoneLabel]; ok {
					o.Labels[offerings.ZoneLabel] = o.Zone
				}
			}
			t.complete()
		}
		types = append(types, t)
	}
	return c.derive(types), nil
}

// zoneIDs are the ids of the catalog's zones, "" where none is stated.
func (c *Catalog) zoneIDs() (map[string]string, error) {
	ids, zones := map[string]string{}, map[string]string{}
	var fs faults
	for t := range c.All() {
		for i, o := range t.Offerings {
			id := o.Labels[offerings.ZoneIDLabel]
			known, other := ids[o.Zone], cmp.Or(zones[id], o.Zone)
			if id != "" && (cmp.Or(known, id) != id || other != o.Zone) {
				fs.add(&CatalogFault{
					Type: t.Name, Field: fmt.Sprintf("offerings[%d].labels[%s]", i, offerings.ZoneIDLabel), Value: id,
					Problem: fmt.Sprintf("is the id of zone %s, but elsewhere %s is that of %s", o.Zone, cmp.Or(known, id), other),
				})
				continue
			}
			ids[o.Zone] = cmp.Or(known, id)
			if id != "" {
				zones[id] = o.Zone
			}
		}
	}
	return ids, fs.err()
}

// renamedZones are the new names of the zones of a catalog, given with their ids.
func renamedZones(ids, names map[string]string) map[string]string {
	renamed, taken, elsewhere := map[string]string{}, map[string]bool{}, maps.Clone(names)
	zones := slices.Sorted(maps.Keys(ids))
	for _, zone := range zones {
		if name, told := names[ids[zone]]; told {
			renamed[zone], taken[name] = name, true
			delete(elsewhere, ids[zone])
		}
	}
	// The name of another zone that the catalog lacks must not be given to a zone with an id.
	others := map[string]bool{}
	for _, name := range elsewhere {
		others[name] = true
	}
	free := func(zone, name string) bool { return !taken[name] && (ids[zone] == "" || !others[name]) }
	for _, keeps := range []bool{true, false} {
		for _, zone := range zones {
			if _, done := renamed[zone]; done || keeps && !free(zone, zone) {
				continue
			}
			name := zone
			if !keeps {
				name = ids[zone]
				if i := slices.IndexFunc(zones, func(z string) bool { return free(zone, z) }); i >= 0 {
					name = zones[i]
				}
			}
			renamed[zone], taken[name] = name, true
		}
	}
	return renamed
}
