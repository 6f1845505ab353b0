package instance

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// limitNode sets the number of volumes of each driver that may still be attached to a node in its room. running are the
// node's pods; allocatable is the node's, with the values expected of a node in flight.
func limitNode(x *podspec.VolumeIndex, n *ExistingNode, running []*corev1.Pod, table *podspec.ResourceTable, allocatable corev1.ResourceList) {
	if x == nil || len(x.Limited) == 0 {
		return
	}
	counts := map[string]int64{}
	n.Attached = podspec.Attachments{Volumes: map[string]bool{}, Full: map[string]bool{}}
	for _, pod := range running {
		if !podspec.UsesClaims(pod) {
			continue
		}
		for _, c := range x.ClaimsOf(pod) {
			if c.Driver != "" && !n.Attached.Volumes[c.Volume] {
				n.Attached.Volumes[c.Volume] = true
				counts[c.Driver]++
			}
		}
	}
	for _, driver := range x.Limited {
		limit, limited := attachLimit(x, n, driver, allocatable)
		if strings.HasPrefix(driver, podspec.StaticPrefix) {
			counts[driver] = 0 // because volumes of running pods are not free
		}
		d, asked := table.Index[podspec.AttachResource(driver)]
		if !limited {
			if asked {
				n.Room[d] = podspec.NoAttachLimit
			}
			continue
		}
		free := max(0, limit-counts[driver])
		if charged := charged(x, n, driver); charged <= free {
			free -= charged
		} else {
			n.Attached.Full[driver] = true
		}
		if asked {
			n.Room[d] = free
		}
	}
}

// attachLimit is the number of volumes of a driver that a node can attach, those of its running pods included: the count of
// its CSINode; for a node in flight that has none, the count expected of it; for a class without a provisioner, the number of
// free volumes that it can reach. limited is false where the node states no limit.
func attachLimit(x *podspec.VolumeIndex, n *ExistingNode, driver string, allocatable corev1.ResourceList) (limit int64, limited bool) {
	if class, static := strings.CutPrefix(driver, podspec.StaticPrefix); static {
		return x.FreeOn(class, n.Node.Name, n.Labels), true
	}
	limit, limited = x.Stated(n.Node.Name, driver)
	name := podspec.AttachResource(driver)
	if q, ok := allocatable[name]; ok && !limited && n.flying {
		return podspec.Amount(name, q), true
	}
	return limit, limited
}

// NodeHas reports whether a node has any of a resource, in use or not. d is the number of the resource.
func (c *Instance) NodeHas(n *ExistingNode, d int) bool {
	name, allocatable := c.Table.Names[d], NodeAllocatable(c.Facts.Problem, n.Node)
	if driver := podspec.AttachDriver(name); driver != "" {
		limit, limited := attachLimit(c.Classes.Volumes, n, driver, allocatable)
		return !limited || limit > 0
	}
	q, ok := allocatable[name]
	return ok && !q.IsZero()
}

// charged is the number of a driver's shared volumes that are not attached to a node but may be. They are reserved,
// because any pod that uses one may come first.
func charged(x *podspec.VolumeIndex, n *ExistingNode, driver string) int64 {
	count := int64(0)
	for _, c := range x.Shared {
		if c.Driver == driver && !n.Attached.Volumes[c.Volume] && c.UsableOn(n.Node.Name, n.Labels) {
			count++
		}
	}
	return count
}

// Requestable are the resources that pods may request by name, i.e. without the attach limits of volumes.
func (c *Instance) Requestable() []corev1.ResourceName {
	return slices.DeleteFunc(slices.Clone(c.Table.Names), func(name corev1.ResourceName) bool { return podspec.AttachDriver(name) != "" })
}

// Unattached is a request with 0 for volumes to attach. The bound ignores attach limits, which only lowers it.
func (c *Instance) Unattached(request []int64) []int64 {
	if c.Classes.Volumes == nil {
		return request
	}
	out := slices.Clone(request)
	for d, name := range c.Table.Names {
		if podspec.AttachDriver(name) != "" {
			out[d] = 0
		}
	}
	return out
}

// AppendGroup appends a key of a group's node constraints to b, without the claims that its pods share with other pods.
func (c *Instance) AppendGroup(b []byte, group int) []byte {
	signature := c.Classes.Signatures[group]
	return podspec.AppendText(b, signature[:len(signature)-c.Classes.Groups[group].Sharing])
}

// RepresentativePods are the first pods of a class for each wording of the node affinity of their volumes. A certificate names
// all of them, because a verifier need not know that different wordings mean the same nodes.
func (c *Instance) RepresentativePods(class *podspec.PodClass) []*corev1.Pod {
	x := c.Classes.Volumes
	if x == nil || len(c.Classes.Groups[class.Group].Volumes) == 0 {
		return class.Pods[:1]
	}
	var out []*corev1.Pod
	said := map[string]bool{}
	var b []byte
	for _, pod := range class.Pods {
		b = b[:0]
		for _, claim := range x.ClaimsOf(pod) {
			b = claim.AppendWords(append(b, '|'))
		}
		if !said[string(b)] {
			said[string(b)] = true
			out = append(out, pod)
		}
	}
	return out
}
