package scheduling

import corev1 "k8s.io/api/core/v1"

// setAside gives every claim that only one pod at a time may use to the pod that has
// it: one that runs, wherever that is, or else the first of those to be placed. Of
// pods that would need several such claims, one gets all or none. Those that let others
// have what they need come last.
func (x *volumeIndex) setAside(users, running []*corev1.Pod) {
	for _, pod := range running {
		for i := range pod.Spec.Volumes {
			v := pod.Spec.Volumes[i].PersistentVolumeClaim
			if v == nil {
				continue
			}
			c := x.known[objectKey{namespaceOf(pod), v.ClaimName}]
			if c != nil && c.once && (c.holder == nil || comparePods(pod, c.holder) < 0) {
				c.holder = pod
			}
		}
	}
	for _, lets := range []bool{false, true} {
		for _, pod := range users {
			if x.choice.lets(pod) != lets || x.deprived(pod) {
				continue
			}
			for _, c := range x.claimsOf(pod) {
				if c.once {
					c.holder = pod
				}
			}
		}
	}
}

// deprived reports whether another pod has a claim that the pod would need for itself.
func (x *volumeIndex) deprived(pod *corev1.Pod) bool {
	for _, c := range x.claimsOf(pod) {
		if c.holder != nil && c.holder != pod {
			return true
		}
	}
	return false
}

// heldText says who has a claim that only one pod at a time may use.
func (c *claim) heldText() string {
	if c.holder.Spec.NodeName != "" {
		return c.text() + " is ReadWriteOncePod, and pod " + podName(c.holder) + " uses it"
	}
	return c.text() + " is ReadWriteOncePod, and pod " + podName(c.holder) + " comes first"
}
