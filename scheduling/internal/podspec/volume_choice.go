package podspec

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// VolumeChoice is what has to be decided about volumes before pods are placed. nil
// decides nothing.
type VolumeChoice struct {
	// passed are pods that let others have the claims which one pod at a time may use:
	// they had them in vain.
	Passed map[string]bool
	// zones are, by claim, where volumes will be made that several pods wait for.
	Zones map[string]string
	// given are, by claim, the volumes that are there and free which claims get that
	// several pods wait for.
	Given map[string]string
	// part is the share of the smallest attach limit that shared volumes may take up in
	// advance: one in so many. 0 is sharedPart.
	Part int64
}

// Clone returns a choice that can change without changing v.
func (v *VolumeChoice) Clone() *VolumeChoice {
	if v == nil {
		v = &VolumeChoice{}
	}
	out := &VolumeChoice{Passed: maps.Clone(v.Passed), Zones: maps.Clone(v.Zones), Given: maps.Clone(v.Given), Part: v.Part}
	if out.Passed == nil {
		out.Passed = map[string]bool{}
	}
	if out.Zones == nil {
		out.Zones = map[string]string{}
	}
	if out.Given == nil {
		out.Given = map[string]string{}
	}
	return out
}

// Lets reports whether the pod lets others have what it could have.
func (v *VolumeChoice) Lets(pod *corev1.Pod) bool { return v != nil && v.Passed[PodName(pod)] }

// shared is the share of a limit that shared volumes may take up in advance.
func (v *VolumeChoice) shared() int64 {
	if v == nil || v.Part == 0 {
		return SharedPart
	}
	return v.Part
}

// Settles reports whether it says where volumes are or will be made.
func (v *VolumeChoice) Settles() bool { return v != nil && len(v.Zones)+len(v.Given) > 0 }

// give promises claims the volumes that were chosen for them.
func (x *VolumeIndex) give() {
	if x.choice == nil {
		return
	}
	for claim, volume := range x.choice.Given {
		namespace, name, _ := strings.Cut(claim, "/")
		x.promised[types.NamespacedName{Namespace: namespace, Name: name}] = x.Volumes[volume]
		x.given[volume] = true
	}
}

// narrow narrows the places of a claim to the zone that was chosen for it.
func (x *VolumeIndex) narrow(c *Claim) {
	if x.choice == nil || x.choice.Zones[c.Name] == "" {
		return
	}
	zone := NewExpression(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, []string{x.choice.Zones[c.Name]})
	c.Places = append(c.Places, x.Place([]Term{{Labels: []Expression{zone}}}))
}

// Zonal reports whether the volume that a class makes for a claim can be used in one
// zone only: the node says so whose driver it is, or the class, or it is the kind of
// disk that is known for it.
func (x *VolumeIndex) Zonal(c *Claim) bool {
	if c.Class == nil || IsStatic(c.Class) {
		return false
	}
	isZone := func(key string) bool { return requirements.NormalizeKey(key) == corev1.LabelTopologyZone }
	stated := false
	for _, node := range x.nodes {
		for i := range node.Spec.Drivers {
			d := &node.Spec.Drivers[i]
			if d.Name != c.Driver || len(d.TopologyKeys) == 0 {
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
	for i := range c.Class.AllowedTopologies {
		for _, e := range c.Class.AllowedTopologies[i].MatchLabelExpressions {
			if isZone(e.Key) {
				return true
			}
		}
	}
	return slices.Contains([]string{EbsDriver, GceDriver, azureDriver, cinderDriver}, c.Driver)
}
