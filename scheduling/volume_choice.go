package scheduling

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// volumeChoice is what has to be decided about volumes before pods are placed. nil
// decides nothing.
type volumeChoice struct {
	// passed are pods that let others have the claims which one pod at a time may use:
	// they had them in vain.
	passed map[string]bool
	// zones are, by claim, where volumes will be made that several pods wait for.
	zones map[string]string
	// given are, by claim, the volumes that are there and free which claims get that
	// several pods wait for.
	given map[string]string
	// part is the share of the smallest attach limit that shared volumes may take up in
	// advance: one in so many. 0 is sharedPart.
	part int64
}

// clone returns a choice that can change without changing v.
func (v *volumeChoice) clone() *volumeChoice {
	if v == nil {
		v = &volumeChoice{}
	}
	out := &volumeChoice{passed: maps.Clone(v.passed), zones: maps.Clone(v.zones), given: maps.Clone(v.given), part: v.part}
	if out.passed == nil {
		out.passed = map[string]bool{}
	}
	if out.zones == nil {
		out.zones = map[string]string{}
	}
	if out.given == nil {
		out.given = map[string]string{}
	}
	return out
}

// lets reports whether the pod lets others have what it could have.
func (v *volumeChoice) lets(pod *corev1.Pod) bool { return v != nil && v.passed[podName(pod)] }

// shared is the share of a limit that shared volumes may take up in advance.
func (v *volumeChoice) shared() int64 {
	if v == nil || v.part == 0 {
		return sharedPart
	}
	return v.part
}

// settles reports whether it says where volumes are or will be made.
func (v *volumeChoice) settles() bool { return v != nil && len(v.zones)+len(v.given) > 0 }

// give promises claims the volumes that were chosen for them.
func (x *volumeIndex) give() {
	if x.choice == nil {
		return
	}
	for claim, volume := range x.choice.given {
		namespace, name, _ := strings.Cut(claim, "/")
		x.promised[objectKey{namespace, name}] = x.volumes[volume]
		x.given[volume] = true
	}
}

// unsettled compiles the problem as if it were open where volumes are made, which no
// bound may take for granted, and counts by class what a plan places.
func (f *facts) unsettled(plan *Plan, cautious bool) (*compiler, []int64) {
	open := *f
	open.choice, open.memory = f.choice.clone(), newMemory()
	clear(open.choice.zones)
	clear(open.choice.given)
	c := open.compile(cautious)
	left := plan.left()
	placed := make([]int64, len(c.planned))
	for i, class := range c.planned {
		for _, pod := range class.pods {
			if _, out := left[podName(pod)]; !out {
				placed[i]++
			}
		}
	}
	return c, placed
}

// settle narrows the places of a claim to the zone that was chosen for it.
func (x *volumeIndex) settle(c *claim) {
	if x.choice == nil || x.choice.zones[c.name] == "" {
		return
	}
	zone := newExpression(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, []string{x.choice.zones[c.name]})
	c.places = append(c.places, x.place([]term{{labels: []expression{zone}}}))
}

// zonal reports whether the volume that a class makes for a claim can be used in one
// zone only: the node says so whose driver it is, or the class, or it is the kind of
// disk that is known for it.
func (x *volumeIndex) zonal(c *claim) bool {
	if c.class == nil || isStatic(c.class) {
		return false
	}
	isZone := func(key string) bool { return requirements.NormalizeKey(key) == corev1.LabelTopologyZone }
	stated := false
	for _, node := range x.nodes {
		for i := range node.Spec.Drivers {
			d := &node.Spec.Drivers[i]
			if d.Name != c.driver || len(d.TopologyKeys) == 0 {
				continue
			}
			if slices.ContainsFunc(d.TopologyKeys, isZone) {
				return true
			}
			stated = true
		}
	}
	if stated {
		return false
	}
	for i := range c.class.AllowedTopologies {
		for _, e := range c.class.AllowedTopologies[i].MatchLabelExpressions {
			if isZone(e.Key) {
				return true
			}
		}
	}
	return slices.Contains([]string{ebsDriver, gceDriver, azureDriver, cinderDriver}, c.driver)
}
