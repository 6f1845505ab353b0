package manifest

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// reportMissing warns of kinds that pods to be placed depend on and of which the input
// has no object at all: then it is more likely that they were not asked for than that
// the cluster has none.
func (c *collector) reportMissing(p *scheduling.Problem) {
	if len(c.volumeClaims) == 0 {
		c.missing(p.Pods, "uses PersistentVolumeClaims", "PersistentVolumeClaim", "pvc,pv,sc", func(string) bool { return true })
	}
	bound, unbound := map[string]bool{}, map[string]bool{}
	for _, claim := range p.Claims {
		if claim.Spec.VolumeName != "" {
			bound[qualified(claim)] = true
		} else {
			unbound[qualified(claim)] = true
		}
	}
	if len(c.volumes) == 0 {
		c.missing(p.Pods, "uses PersistentVolumeClaims that are bound", "PersistentVolume", "pv", func(claim string) bool { return bound[claim] })
	}
	if len(c.storageClasses) == 0 {
		c.missing(p.Pods, "uses PersistentVolumeClaims that are not bound yet", "StorageClass", "sc", func(claim string) bool { return unbound[claim] })
	}
}

// missing warns of the first pod with a claim that depends on a kind, and says how many
// more there are. Claims are named as in a plan, namespace/name; those for ephemeral
// volumes do not count, as they are made with the pod.
func (c *collector) missing(pods []*corev1.Pod, does, kind, short string, depends func(claim string) bool) {
	var seen sighting
	for _, pod := range pods {
		if slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && depends(pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
		}) {
			if seen.count == 0 {
				seen.object = qualified(pod)
			}
			seen.count++
		}
	}
	if seen.count > 0 {
		c.warn(seen.object, fmt.Sprintf("%s, but the input has no %s; add what kubectl get %s -A -o json prints%s", does, kind, short, others(seen.count)))
	}
}
