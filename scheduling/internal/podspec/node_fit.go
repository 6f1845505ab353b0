package podspec

import corev1 "k8s.io/api/core/v1"

// NodeFit is the answer of kube-scheduler's filters that depend on a node's labels and taints alone, and not on its pods.
type NodeFit struct {
	Taint    *corev1.Taint // TaintToleration: the first untolerated taint NoSchedule or NoExecute; nil for none
	Avoids   bool          // a PreferNoSchedule taint is untolerated, which no filter refuses
	Affinity bool          // NodeAffinity: node selector and required node affinity match. Spreads ask it for nodeAffinityPolicy
	Volumes  bool          // VolumeBinding and VolumeZone: all volumes can be used on the node
}

// Admits reports whether none of the filters refuses the pods.
func (x NodeFit) Admits() bool { return x.AdmitsOwn() && x.Volumes }

// AdmitsOwn is Admits without the volumes, e.g. of a running pod, whose volumes are attached.
func (x NodeFit) AdmitsOwn() bool { return x.Taint == nil && x.Affinity }

// FitOn asks the filters about a node: an existing one, or one to be launched with the name "".
func (c *Constraint) FitOn(name string, labels map[string]string, taints []corev1.Taint) (x NodeFit) {
	x.Taint, x.Avoids = c.Untolerated(taints)
	x.Affinity = c.affinityMatches(name, labels)
	x.Volumes = c.volumesMatch(name, labels)
	return x
}
