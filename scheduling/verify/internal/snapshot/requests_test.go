package snapshot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// list reads resources from pairs of name and quantity.
func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// container asks for the resources.
func container(pairs ...string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}
}

func limited(c corev1.Container, pairs ...string) corev1.Container {
	c.Resources.Limits = list(pairs...)
	return c
}

func sidecar(pairs ...string) corev1.Container {
	c := container(pairs...)
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

// plain writes amounts as numbers, for comparison.
func plain(a Amounts) map[string]string {
	out := make(map[string]string, len(a))
	for name, n := range a {
		out[string(name)] = n.String()
	}
	return out
}

func TestPendingRequests(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec corev1.PodSpec
		want map[string]string
	}{
		{"S9: nothing asked for takes a pod slot", corev1.PodSpec{Containers: []corev1.Container{{}}}, map[string]string{"pods": "1"}},
		{"containers add up", corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1"), container("cpu", "250m", "memory", "1Gi")}},
			map[string]string{"cpu": "1250", "memory": "1073741824", "pods": "1"}},
		{"S3: the hungriest init container counts, resource by resource",
			corev1.PodSpec{
				Containers:     []corev1.Container{container("cpu", "2", "memory", "1")},
				InitContainers: []corev1.Container{container("cpu", "1", "memory", "5"), container("cpu", "3", "memory", "2")},
			}, map[string]string{"cpu": "3000", "memory": "5", "pods": "1"}},
		{"S4: a sidecar runs beside the containers",
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "2")}, InitContainers: []corev1.Container{sidecar("cpu", "1")}},
			map[string]string{"cpu": "3000", "pods": "1"}},
		{"S4: an init container runs beside the sidecars before it",
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "2")}, InitContainers: []corev1.Container{sidecar("cpu", "4"), container("cpu", "10")}},
			map[string]string{"cpu": "14000", "pods": "1"}},
		{"S4: an init container does not run beside the sidecars after it",
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "2")}, InitContainers: []corev1.Container{container("cpu", "25"), sidecar("cpu", "4")}},
			map[string]string{"cpu": "25000", "pods": "1"}},
		{"two sidecars before an init container",
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1")}, InitContainers: []corev1.Container{sidecar("cpu", "1"), sidecar("cpu", "2"), container("cpu", "3"), sidecar("cpu", "1")}},
			map[string]string{"cpu": "6000", "pods": "1"}},
		{"S8: a limit stands in for a request, resource by resource",
			corev1.PodSpec{Containers: []corev1.Container{limited(container("cpu", "1"), "cpu", "4", "memory", "2Gi")}},
			map[string]string{"cpu": "1000", "memory": "2147483648", "pods": "1"}},
		{"S8: also for init containers", corev1.PodSpec{InitContainers: []corev1.Container{limited(container(), "cpu", "4")}}, map[string]string{"cpu": "4000", "pods": "1"}},
		{"S6: overhead comes on top of the larger of both",
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1")}, InitContainers: []corev1.Container{container("cpu", "2")}, Overhead: list("cpu", "10m", "memory", "1")},
			map[string]string{"cpu": "2010", "memory": "1", "pods": "1"}},
		{"S5: pod-level requests take the place of the sum",
			corev1.PodSpec{
				Containers: []corev1.Container{container("cpu", "1", "memory", "1", "nvidia.com/gpu", "1")},
				Resources:  &corev1.ResourceRequirements{Requests: list("cpu", "2", "hugepages-2Mi", "4Mi", "nvidia.com/gpu", "7")},
				Overhead:   list("cpu", "1"),
			}, map[string]string{"cpu": "3000", "memory": "1", "hugepages-2Mi": "4194304", "nvidia.com/gpu": "1", "pods": "1"}},
		{"pod-level requests may be lower than the sum",
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "3")}, Resources: &corev1.ResourceRequirements{Requests: list("cpu", "2")}},
			map[string]string{"cpu": "2000", "pods": "1"}},
		{"pod-level limits stand in where nothing is requested",
			corev1.PodSpec{
				Containers: []corev1.Container{container("cpu", "1")},
				Resources:  &corev1.ResourceRequirements{Limits: list("cpu", "4", "memory", "5", "ephemeral-storage", "6")},
			}, map[string]string{"cpu": "1000", "memory": "5", "pods": "1"}},
		{"S7: ephemeral containers are free, a request for pods changes nothing",
			corev1.PodSpec{
				Containers:          []corev1.Container{container("pods", "5")},
				EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Resources: container("cpu", "1").Resources}}},
			}, map[string]string{"pods": "1"}},
		{"fractions are rounded up container by container",
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "100u", "memory", "1500m"), container("cpu", "100u")}},
			map[string]string{"cpu": "2", "memory": "2", "pods": "1"}},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, plain(pendingRequests(&corev1.Pod{Spec: tc.spec}))) })
	}
}

// S1: while a running pod is resized in place, the larger of both sizes counts.
func TestRunningRequests(t *testing.T) {
	resized := func(spec corev1.PodSpec, status ...corev1.ContainerStatus) *corev1.Pod {
		for i := range spec.Containers {
			spec.Containers[i].Name = "main"
		}
		for i := range spec.InitContainers {
			spec.InitContainers[i].Name = "side"
		}
		return &corev1.Pod{Spec: spec, Status: corev1.PodStatus{ContainerStatuses: status}}
	}
	growing := resized(corev1.PodSpec{Containers: []corev1.Container{container("cpu", "2")}},
		corev1.ContainerStatus{Name: "main", AllocatedResources: list("cpu", "1"), Resources: &corev1.ResourceRequirements{}})
	shrinking := resized(corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1", "memory", "8")}},
		corev1.ContainerStatus{Name: "main", AllocatedResources: list("cpu", "1"), Resources: &corev1.ResourceRequirements{Requests: list("cpu", "3")}})
	besides := resized(corev1.PodSpec{InitContainers: []corev1.Container{sidecar("cpu", "1")}, Containers: []corev1.Container{container("cpu", "1")}})
	besides.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "side", AllocatedResources: list("cpu", "5"), Resources: &corev1.ResourceRequirements{}}}
	level := &corev1.Pod{Spec: corev1.PodSpec{Resources: &corev1.ResourceRequirements{Requests: list("cpu", "1", "memory", "1")}}}
	level.Status.AllocatedResources = list("cpu", "2")
	level.Status.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "3")}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want map[string]string
	}{
		{"growing", growing, map[string]string{"cpu": "2000", "pods": "1"}},
		{"shrinking", shrinking, map[string]string{"cpu": "3000", "memory": "8", "pods": "1"}},
		{"sidecar", besides, map[string]string{"cpu": "6000", "pods": "1"}},
		{"pod level", level, map[string]string{"cpu": "3000", "memory": "1", "pods": "1"}},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, plain(runningRequests(tc.pod))) })
	}
}

func TestRequestsDoNotChangeThePod(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers:     []corev1.Container{limited(container("cpu", "0.0005"), "memory", "1.5Gi"), container("memory", "100000000000000000000000")},
		InitContainers: []corev1.Container{sidecar("cpu", "1")},
		Overhead:       list("cpu", "1u"),
	}}
	before := pod.DeepCopy()
	want := plain(pendingRequests(pod))
	assert.Equal(t, want, plain(runningRequests(pod)))
	assert.Equal(t, before, pod)
}
