package verify

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

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
