package scheduling

import "strings"

// whenUnderutilized is what karpenter.sh/v1beta1 called [WhenEmptyOrUnderutilized].
const whenUnderutilized ConsolidationPolicy = "WhenUnderutilized"

// betaDisruption reads the disruption block of v1beta1, and returns its
// expireAfter, which v1 has in the template.
func (v value) betaDisruption(d *Disruption) (expireAfter *NillableDuration) {
	read := d.readers()
	read["expireAfter"] = func(v value) { expireAfter = v.nillable() }
	v.object(read)
	if d.ConsolidationPolicy == whenUnderutilized {
		d.ConsolidationPolicy = WhenEmptyOrUnderutilized
	}
	return expireAfter
}

// kubelet warns of settings that change what a node can hold. In v1 they belong to
// the node class, which is no input either.
func (v value) kubelet() {
	v.warn("%s is not modelled and was ignored: the catalog says how many pods a node holds and what is reserved on it", v.path)
}

// groupOf returns the group of an apiVersion such as karpenter.k8s.aws/v1beta1.
func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
