package manifest

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// autoscaler is a HorizontalPodAutoscaler of any version, as far as it bounds the pods
// that there will be at least.
type autoscaler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		MinReplicas    *int32 `json:"minReplicas"`
		ScaleTargetRef struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
		} `json:"scaleTargetRef"`

		Behavior                       json.RawMessage `json:"behavior"`
		MaxReplicas                    json.RawMessage `json:"maxReplicas"`
		Metrics                        json.RawMessage `json:"metrics"`
		TargetCPUUtilizationPercentage json.RawMessage `json:"targetCPUUtilizationPercentage"`
	} `json:"spec"`
}

func (c *collector) autoscaler(o rawObject) { keep(c, o, true, &c.autoscalers) }

func (c *collector) resourceQuota(o rawObject) {
	f, ok := take[corev1.ResourceQuota](c, o, true)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	in.resources(f.obj.Spec.Hard, path{}.key("spec", "hard"))
	in.resources(f.obj.Status.Used, path{}.key("status", "used"))
	c.quotas = append(c.quotas, f.obj)
}
