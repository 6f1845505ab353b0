package regions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// sighting is the zone or region of an input object.
type sighting struct {
	object string // kind/name
	from   string // the label or field that says so
	// zone and region may be empty, but not both.
	zone, region string
}

// sightings are the zones and regions of nodes and volumes.
func sightings(input *manifest.Snapshot) []sighting {
	if input == nil {
		return nil
	}
	var seen []sighting
	for _, node := range input.Problem.Nodes {
		s := sighting{object: "Node/" + node.Name}
		for _, key := range slices.Sorted(maps.Keys(node.Labels)) {
			s.see(key, node.Labels[key])
		}
		if zone := providerZone(node.Spec.ProviderID); s.from == "" && zone != "" {
			s.zone, s.from = zone, "spec.providerID"
		}
		seen = append(seen, s)
	}
	for _, volume := range input.Problem.Volumes {
		if a := volume.Spec.NodeAffinity; a != nil && a.Required != nil {
			s := sighting{object: "PersistentVolume/" + volume.Name}
			for _, term := range a.Required.NodeSelectorTerms {
				for _, e := range term.MatchExpressions {
					if e.Operator == corev1.NodeSelectorOpIn && len(e.Values) > 0 {
						s.see(e.Key, e.Values[0])
					}
				}
			}
			seen = append(seen, s)
		}
	}
	return known(seen)
}

// providerZone is the zone that the provider's name of a machine holds, as in
// aws:///eu-west-1a/i-0abc and gce://project/europe-west1-b/name; empty if there is none.
func providerZone(id string) string {
	cloud, path, _ := strings.Cut(id, "://")
	parts := strings.Split(path, "/")
	if (cloud == "aws" || cloud == "gce") && len(parts) == 3 {
		return parts[1]
	}
	return ""
}

// known returns the sightings that tell a region, each place once. Where any are in regions
// that are embedded, zones that mean nothing, such as racks of one's own, are left out.
func known(seen []sighting) []sighting {
	seen = slices.DeleteFunc(seen, func(s sighting) bool { return s.from == "" })
	seen = lo.UniqBy(seen, func(s sighting) [2]string { return [2]string{s.zone, s.region} })
	if slices.ContainsFunc(seen, func(s sighting) bool { return !s.strange() }) {
		seen = slices.DeleteFunc(seen, sighting.strange)
	}
	return seen
}

// strange reports whether the region is unknown.
func (s sighting) strange() bool {
	name, _ := clouds.Region(s.place())
	return s.region == "" && name == ""
}

// wanted are the regions that NodePools name, which may be several for one pool. A zone of no
// known region tells nothing: the pool just cannot buy there.
func wanted(pools []*scheduling.NodePool) []sighting {
	var seen []sighting
	for _, pool := range pools {
		template := &pool.Spec.Template
		asks := slices.Clone(template.Spec.Requirements)
		for _, key := range slices.Sorted(maps.Keys(template.Metadata.Labels)) {
			asks = append(asks, requirements.Selector{Key: key, Operator: requirements.In, Values: []string{template.Metadata.Labels[key]}})
		}
		for _, a := range asks {
			if a.Operator != requirements.In {
				continue
			}
			for _, value := range a.Values {
				s := sighting{object: "NodePool/" + pool.Name}
				s.see(a.Key, value)
				seen = append(seen, s)
			}
		}
	}
	return slices.DeleteFunc(known(seen), sighting.strange)
}

// see takes note of a label that says where something is. A region tells more than a zone, and
// an empty value nothing.
func (s *sighting) see(key, value string) {
	if value == "" {
		return
	}
	switch requirements.NormalizeKey(key) {
	case corev1.LabelTopologyRegion:
		s.region, s.from = value, key
	case corev1.LabelTopologyZone:
		if s.zone = value; s.region == "" {
			s.from = key
		}
	}
}

// place is the region or, where that is not known, the zone.
func (s sighting) place() string {
	if s.region != "" {
		return s.region
	}
	if _, region := clouds.Region(s.zone); region != "" {
		return region
	}
	return s.zone
}

// Located returns the name of the embedded catalog for where the input is; empty if it does
// not say. Where things run counts for more than where NodePools would buy.
func Located(input *manifest.Snapshot) (string, error) {
	seen := sightings(input)
	if len(seen) == 0 && input != nil {
		seen = wanted(input.Problem.NodePools)
	}
	if len(seen) == 0 {
		return "", nil
	}
	found := evidence(seen)
	if len(found) > 1 {
		return "", fmt.Errorf("the input names several regions, %s: choose one with --catalog, or pass a FILE with offerings in all of them", figures.Join(found))
	}
	name, _ := clouds.Region(seen[0].place())
	if name == "" {
		return "", fmt.Errorf("the input is in %s, for which no catalog is embedded: pass a price list of it with --catalog FILE", found[0])
	}
	return name, nil
}

// evidence names each zone or region once, with the first object and field that name it, in alphabetical order.
func evidence(seen []sighting) []string {
	first := map[string]string{}
	for i := range seen {
		if place := seen[i].place(); first[place] == "" {
			first[place] = fmt.Sprintf("%s (%s: %s)", place, seen[i].object, seen[i].from)
		}
	}
	return lo.Map(slices.Sorted(maps.Keys(first)), func(place string, _ int) string { return first[place] })
}

// Elsewhere reports nodes and volumes in regions of which the catalog is not. Where only
// zones are known it is enough that it sells in one of them.
func Elsewhere(input *manifest.Snapshot, c *instancetypes.Catalog) error {
	seen := sightings(input)
	zones, regions := clouds.Zones(c), map[string]bool{}
	for t := range c.All() {
		regions[t.Labels[corev1.LabelTopologyRegion]] = true
		for _, o := range t.Offerings {
			regions[o.Labels[corev1.LabelTopologyRegion]] = true
		}
	}
	sold := func(s sighting) bool {
		return slices.Contains(zones, s.zone) || regions[s.place()] || slices.ContainsFunc(zones, func(zone string) bool { return offerings.InRegion(zone, s.place()) })
	}
	away := slices.DeleteFunc(slices.Clone(seen), sold)
	if some := len(away) < len(seen); some {
		away = slices.DeleteFunc(away, func(s sighting) bool { return s.place() == s.zone })
	}
	if len(away) == 0 {
		return nil
	}
	found := evidence(away)
	use := "a FILE with its prices"
	if name, _ := clouds.Region(away[0].place()); name != "" && len(found) == 1 && len(away) == len(seen) {
		use = name
	}
	return fmt.Errorf("the input is in %s, but --catalog is %s: use --catalog %s", figures.Join(found), c.Name(), use)
}
