package launchplan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// claimCheck judges the volumes that pods of a plan share.
type claimCheck struct {
	report   *rule.Report
	state    *snapshot.State
	launches []*launch
	// bookings are all pods of the plan with their nodes.
	bookings []binding.Pending
}

// exclusiveClaims checks that claims which one pod at a time may use have one user.
func (c *claimCheck) exclusiveClaims() {
	come := make(map[string]string) // pods of the plan by claim
	for _, b := range c.bookings {
		for _, m := range b.Pod.Mounts {
			if !m.Exclusive {
				continue
			}
			other, used := come[m.Claim]
			if !used {
				other, used = c.state.Occupant(m.Claim)
			}
			if used && other != b.Pod.Name {
				c.report.Add(rule.VolumeInUse, "pod/"+b.Pod.Name, "claim %s is ReadWriteOncePod, and pod %s uses it, too", m.Claim, other)
			}
			come[m.Claim] = b.Pod.Name
		}
	}
}

// possibleNodes returns the nodes where pods on a node may come to be: every option of its launch.
func (c *claimCheck) possibleNodes(n *snapshot.Node) []*snapshot.Node {
	for _, l := range c.launches {
		if l.node == n {
			return slices.DeleteFunc(slices.Clone(l.nodes), func(n *snapshot.Node) bool { return n == nil })
		}
	}
	return []*snapshot.Node{n}
}

// sharedVolumes checks that pods with a claim whose volume is still to be made are in one zone. The volume is made in
// the zone of the first of them that binds, and the rest can bind only there. Pods on one node share its zone,
// wherever that is.
func (c *claimCheck) sharedVolumes() {
	nodes := c.waitingFor()
	for _, claim := range slices.Sorted(maps.Keys(nodes)) {
		if zones := c.zonesOf(nodes[claim]); len(nodes[claim]) > 1 && len(zones) > 1 {
			c.report.Add(rule.VolumeApart, "claim/"+claim, "its volume is provisioned in one zone, and the pods that use it are planned in %s", strings.Join(zones, " and "))
		}
	}
}

// waitingFor are the nodes of the plan's pods by claims whose volumes are still to be made in
// one zone.
func (c *claimCheck) waitingFor() map[string]map[*snapshot.Node]bool {
	nodes := make(map[string]map[*snapshot.Node]bool)
	for _, b := range c.bookings {
		for _, m := range b.Pod.Mounts {
			if !m.Zonal {
				continue
			}
			if nodes[m.Claim] == nil {
				nodes[m.Claim] = make(map[*snapshot.Node]bool)
			}
			nodes[m.Claim][b.Node] = true
		}
	}
	return nodes
}

// zonesOf are the zones in which pods on the nodes may come to be, sorted.
func (c *claimCheck) zonesOf(nodes map[*snapshot.Node]bool) []string {
	zones := make(map[string]bool)
	for n := range nodes {
		for _, at := range c.possibleNodes(n) {
			if zone, ok := at.Value(corev1.LabelTopologyZone); ok {
				zones[zone] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(zones))
}

// sharesZone reports whether the pod would be in one zone with all pods that wait for the same volumes.
func (c *claimCheck) sharesZone(t *snapshot.Pod, n *snapshot.Node) bool {
	if !slices.ContainsFunc(t.Mounts, func(m snapshot.Mount) bool { return m.Zonal }) {
		return true
	}
	zone, _ := n.Value(corev1.LabelTopologyZone)
	nodes := c.waitingFor()
	return !slices.ContainsFunc(t.Mounts, func(m snapshot.Mount) bool {
		return m.Zonal && slices.ContainsFunc(c.zonesOf(nodes[m.Claim]), func(other string) bool { return other != zone })
	})
}

// standingVolumes checks that all claims of the plan can have a volume each.
func (c *claimCheck) standingVolumes() {
	for _, claim := range c.withoutVolume(c.bookings) {
		c.report.Add(rule.VolumeGone, "claim/"+claim, "no existing volume is left for it that can be used on the nodes of all its pods")
	}
}

// leavesVolumes reports whether all claims can still have a volume each when the pod is on
// the node too.
func (c *claimCheck) leavesVolumes(t *snapshot.Pod, n *snapshot.Node) bool {
	return !slices.ContainsFunc(t.Mounts, func(m snapshot.Mount) bool { return len(m.Offers) > 0 }) ||
		len(c.withoutVolume(append(slices.Clip(c.bookings), binding.Pending{Pod: t, Node: n}))) == 0
}

// withoutVolume returns the claims that can get no volume which all their pods reach, at every option of their
// launches, when each of the other claims gets one.
func (c *claimCheck) withoutVolume(bookings []binding.Pending) []string {
	wants := make(map[string]*snapshot.Mount)
	places := make(map[string][]*snapshot.Node)
	for _, b := range bookings {
		for i := range b.Pod.Mounts {
			if m := &b.Pod.Mounts[i]; len(m.Offers) > 0 {
				wants[m.Claim] = m
				places[m.Claim] = append(places[m.Claim], c.possibleNodes(b.Node)...)
			}
		}
	}
	fits := make(map[string][]string)
	for claim, m := range wants {
		for _, v := range m.Offers {
			if need := snapshot.ReachOf(v); !slices.ContainsFunc(places[claim], func(n *snapshot.Node) bool { return !n.Reaches(need) }) {
				fits[claim] = append(fits[claim], v.Name)
			}
		}
	}
	owner := make(map[string]string) // claims by volume
	var left []string
	for _, claim := range slices.Sorted(maps.Keys(wants)) {
		if !assignVolume(claim, fits, owner, make(map[string]bool)) {
			left = append(left, claim)
		}
	}
	return left
}

// assignVolume gives the claim a volume, and claims that have one another if need be (an augmenting path).
func assignVolume(claim string, fits map[string][]string, owner map[string]string, asked map[string]bool) bool {
	for _, v := range fits[claim] {
		if asked[v] {
			continue
		}
		asked[v] = true
		if other, taken := owner[v]; !taken || assignVolume(other, fits, owner, asked) {
			owner[v] = claim
			return true
		}
	}
	return false
}
