package compile

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// limitNode puts into a node's room how many further volumes it takes. allocatable is
// what the node offers; of one in flight, what it will offer.
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
		name := podspec.AttachResource(driver)
		limit, limited := x.Stated(n.Node.Name, driver)
		if q, ok := allocatable[name]; ok && !limited && InFlight(n.Node) {
			limit, limited = podspec.Amount(name, q), true
		}
		if class, static := strings.CutPrefix(driver, podspec.StaticPrefix); static {
			limit, limited = x.FreeOn(class, n.Node.Name, n.Labels), true
			counts[driver] = 0 // what runs has a volume that is not free
		}
		d, asked := table.Index[name]
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

// charged is how many shared volumes of a driver may come to a node that are not there.
func charged(x *podspec.VolumeIndex, n *ExistingNode, driver string) int64 {
	count := int64(0)
	for _, c := range x.Shared {
		if c.Driver == driver && !n.Attached.Volumes[c.Volume] && c.UsableOn(n.Node.Name, n.Labels) {
			count++
		}
	}
	return count
}
