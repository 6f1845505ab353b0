package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// reaches reports whether the volumes of the mounts can be used at the place.
func (p *place) reaches(mounts []mount) bool {
	_, bad := p.outOfReach(mounts)
	return !bad
}

// forVolumes is the node as volumes see it. While it starts, the drivers have not
// labelled it yet with their own names for the zone.
func (s *station) forVolumes() *place {
	p := s.place
	p.planned = inFlight(s.node)
	return &p
}

// outOfReach returns the claim of a volume that cannot be used at the place.
func (p *place) outOfReach(mounts []mount) (claim string, bad bool) {
	for i := range mounts {
		m := &mounts[i]
		if m.allows != nil && !p.admits(m.allows) || !p.inZones(m.zones) {
			return m.claim, true
		}
	}
	return "", false
}

// inZones reports whether the place is where the labels of a volume say that it is. A
// node that has none of these labels is believed to be, and of a machine that does not
// run yet what is unknown is not held against it.
func (p *place) inZones(zones map[string][]string) bool {
	if len(zones) == 0 || !slices.ContainsFunc(zoneLabels(), func(key string) bool { _, ok := p.value(key); return ok }) {
		return true
	}
	for _, key := range zoneLabels() {
		names, asked := zones[key]
		if !asked {
			continue
		}
		value, ok := p.value(key)
		if !ok {
			value, ok = p.value(requirements.NormalizeKey(key))
		}
		if ok && !slices.Contains(names, value) || !ok && !p.planned {
			return false
		}
	}
	return true
}

// attached are volumes by driver and id.
type attached map[string]map[string]bool

func (a attached) add(mounts []mount) {
	for _, m := range mounts {
		if m.driver == "" {
			continue
		}
		if a[m.driver] == nil {
			a[m.driver] = make(map[string]bool)
		}
		a[m.driver][m.id] = true
	}
}

// excess returns a driver that would have to attach more volumes than it can, once
// those of the mounts come on top.
func (a attached) excess(mounts []mount, limit func(driver string) (int, bool)) (string, bool) {
	more := make(attached)
	more.add(mounts)
	for _, driver := range slices.Sorted(maps.Keys(more)) {
		added := 0
		for id := range more[driver] {
			if !a[driver][id] {
				added++
			}
		}
		if n, limited := limit(driver); limited && added > 0 && len(a[driver])+added > n {
			return fmt.Sprintf("%s takes %d volumes, and %d are attached or to be", driver, n, len(a[driver])+added), true
		}
	}
	return "", false
}

// volumeLimit is how many volumes of a driver the node takes: what the node itself
// says, and as long as it starts, what it will say.
func (s *station) volumeLimit(driver string) (int, bool) {
	if n, ok := s.limits[driver]; ok || !inFlight(s.node) {
		return n, ok
	}
	return statedLimit(s.allocatable, driver)
}

// volumeLimit is how many volumes of a driver the machine takes, as far as the
// catalog knows.
func (m *machine) volumeLimit(driver string) (int, bool) { return statedLimit(m.capacity, driver) }

// attaches reports whether the machine takes all volumes of the pod.
func (m *machine) attaches(t *tenant) bool {
	_, full := attached{}.excess(t.mounts, m.volumeLimit)
	return !full
}

func statedLimit(list amounts, driver string) (int, bool) {
	n, ok := list[corev1.ResourceName(corev1.ResourceAttachableVolumesPrefix+"csi-"+driver)]
	if !ok || !n.IsInt64() {
		return 0, false
	}
	return int(n.Int64()), true
}

// exclusiveClaims checks that claims which one pod at a time may use have one user.
func (j *judge) exclusiveClaims() {
	come := make(map[string]string) // pods of the plan by claim
	for _, b := range j.booked {
		for _, m := range b.mounts {
			if !m.exclusive {
				continue
			}
			other, used := come[m.claim]
			if !used {
				other, used = j.storage.occupant(m.claim)
			}
			if used && other != b.name {
				j.add(VolumeInUse, "pod/"+b.name, "claim %s is for one pod at a time, and pod %s uses it", m.claim, other)
			}
			come[m.claim] = b.name
		}
	}
}

// mountText is equal for pods whose volumes ask the same of a node, in whatever order
// and however often.
func mountText(mounts []mount) string {
	var texts []string
	for i := range mounts {
		if m := &mounts[i]; m.allows != nil || m.zones != nil {
			texts = append(texts, fmt.Sprintf("%s %v", m.allows.normal(), m.zones))
		}
	}
	return joined(texts)
}

// normal is equal for selectors that differ in order and repetitions alone.
func (sel selector) normal() string {
	if sel == nil {
		return "any"
	}
	terms := make([]string, 0, len(sel))
	for _, t := range sel {
		exprs := []string{fmt.Sprintf("%v", t.fields)}
		for _, e := range t.exprs {
			values := slices.Sorted(slices.Values(e.values))
			exprs = append(exprs, fmt.Sprintf("%q %s %q", e.key, e.op, slices.Compact(values)))
		}
		terms = append(terms, joined(exprs))
	}
	return joined(terms)
}

// joined writes a set of texts.
func joined(texts []string) string {
	slices.Sort(texts)
	return "{" + strings.Join(slices.Compact(texts), "; ") + "}"
}

// sharedVolumes checks that pods which wait for one volume meet. It is made in the zone
// of the first of them that binds, and the others can only bind there. Pods on one
// machine meet wherever that is.
func (j *judge) sharedVolumes() {
	for _, claim := range j.sharedClaims() {
		if zones := j.zonesOf(claim); len(zones) > 1 {
			j.add(VolumeApart, "claim/"+claim, "its volume is made in one zone, and pods that use it may be in %s", strings.Join(zones, " and "))
		}
	}
}

// sharedClaims are the claims of several pods of the plan on whose volumes it depends in
// which zone they are.
func (j *judge) sharedClaims() []string {
	hosts := make(map[string]map[*host]bool)
	for _, b := range j.booked {
		for _, m := range b.mounts {
			if !m.zonal {
				continue
			}
			if hosts[m.claim] == nil {
				hosts[m.claim] = make(map[*host]bool)
			}
			hosts[m.claim][b.host] = true
		}
	}
	var claims []string
	for claim, list := range hosts {
		if len(list) > 1 {
			claims = append(claims, claim)
		}
	}
	slices.Sort(claims)
	return claims
}

// zonesOf are the zones in which pods with the claim may come to be, sorted.
func (j *judge) zonesOf(claim string) []string {
	var zones []string
	note := func(pods []*tenant, at *place) {
		if zone, ok := at.value(corev1.LabelTopologyZone); ok && slices.ContainsFunc(pods, func(t *tenant) bool { return t.mountsZonal(claim) }) {
			zones = append(zones, zone)
		}
	}
	launched := make(map[*host]bool)
	for _, r := range j.launches {
		launched[r.host] = true
		for _, m := range r.machines {
			if m != nil {
				note(r.pods, &m.place)
			}
		}
	}
	for _, b := range j.booked {
		if !launched[b.host] {
			note([]*tenant{b.tenant}, b.host.place)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

func (t *tenant) mountsZonal(claim string) bool {
	return slices.ContainsFunc(t.mounts, func(m mount) bool { return m.zonal && m.claim == claim })
}

// meets reports whether the pod would be in one zone with all others that wait for the
// same volumes.
func (j *judge) meets(t *tenant, x *host) bool {
	zone, _ := x.value(corev1.LabelTopologyZone)
	for _, m := range t.mounts {
		if m.zonal && slices.ContainsFunc(j.zonesOf(m.claim), func(other string) bool { return other != zone }) {
			return false
		}
	}
	return true
}

// madeInOneZone reports whether volumes of a class can be used in the zone only in which
// they are made: a node says so of its driver, or else the class, or the driver is that
// of a cloud's disks.
func (w *world) madeInOneZone(class string) bool {
	c := w.storage.classes[class]
	if c == nil || nobodyMakes(c) {
		return false
	}
	driver := successor(c.Provisioner)
	isZone := func(key string) bool { return requirements.NormalizeKey(key) == corev1.LabelTopologyZone }
	var stated []string
	for _, n := range w.problem.CSINodes {
		if n == nil {
			continue
		}
		for _, d := range n.Spec.Drivers {
			if d.Name == driver {
				stated = append(stated, d.TopologyKeys...)
			}
		}
	}
	if len(stated) > 0 {
		return slices.ContainsFunc(stated, isZone)
	}
	for _, t := range c.AllowedTopologies {
		for _, e := range t.MatchLabelExpressions {
			if isZone(e.Key) {
				return true
			}
		}
	}
	return slices.Contains([]string{"ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org"}, driver)
}
