package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// setAside gives every claim that only one pod at a time may use to the pod that has
// it: one that runs, wherever that is, or else the first of those to be placed. Of
// pods that would need several such claims, one gets all or none. Those that let others
// have what they need come last.
func (x *VolumeIndex) setAside(users, running []*corev1.Pod) {
	for _, pod := range running {
		for i := range pod.Spec.Volumes {
			v := pod.Spec.Volumes[i].PersistentVolumeClaim
			if v == nil {
				continue
			}
			c := x.known[types.NamespacedName{Namespace: NamespaceOf(pod), Name: v.ClaimName}]
			if c != nil && c.Once && (c.Holder == nil || ComparePods(pod, c.Holder) < 0) {
				c.Holder = pod
			}
		}
	}
	for _, lets := range []bool{false, true} {
		for _, pod := range users {
			if x.choice.Lets(pod) != lets || x.deprived(pod) {
				continue
			}
			for _, c := range x.ClaimsOf(pod) {
				if c.Once {
					c.Holder = pod
				}
			}
		}
	}
}

// deprived reports whether another pod has a claim that the pod would need for itself.
func (x *VolumeIndex) deprived(pod *corev1.Pod) bool {
	for _, c := range x.ClaimsOf(pod) {
		if c.Holder != nil && c.Holder != pod {
			return true
		}
	}
	return false
}

// heldText says who has a claim that only one pod at a time may use.
func (c *Claim) heldText() string {
	if c.Holder.Spec.NodeName != "" {
		return c.Text() + " is ReadWriteOncePod, and pod " + PodName(c.Holder) + " uses it"
	}
	return c.Text() + " is ReadWriteOncePod, and pod " + PodName(c.Holder) + " comes first"
}
