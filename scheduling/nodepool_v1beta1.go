package scheduling

import (
	"encoding/json"
	"strings"
)

// WhenUnderutilized is the name of [WhenEmptyOrUnderutilized] in karpenter.sh/v1beta1.
const WhenUnderutilized ConsolidationPolicy = "WhenUnderutilized"

// betaDisruption reads the disruption block of v1beta1, and returns its
// expireAfter, which v1 has in the template.
func (v value) betaDisruption(d *Disruption) (expireAfter *NillableDuration) {
	read := d.readers()
	read["expireAfter"] = func(v value) { expireAfter = v.nillable() }
	v.object(read)
	if d.ConsolidationPolicy == WhenUnderutilized {
		d.ConsolidationPolicy = WhenEmptyOrUnderutilized
	}
	return expireAfter
}

// KubeletAnnotation holds, as JSON, the kubelet settings that a NodePool of v1beta1 had in its
// template. They replace the settings of its node class, where v1 has them, because Karpenter
// converts NodePools in this way, as does [DecodeNodePool].
const KubeletAnnotation = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"

// kubelet keeps the kubelet's settings for the annotation.
func (v value) kubelet() {
	raw, err := json.Marshal(v.v)
	if err != nil {
		v.fault("is no JSON")
	}
	v.manifest.kubeletSettings = string(raw)
}

// groupOf returns the group of an apiVersion such as karpenter.k8s.aws/v1beta1.
func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
