package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// list reads "cpu=1 memory=1Gi" style pairs.
func resourceList(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func asks(pairs ...string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: resourceList(pairs...)}}
}

func limits(pairs ...string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Limits: resourceList(pairs...)}}
}

func sidecar(pairs ...string) corev1.Container {
	c := asks(pairs...)
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

func TestEffectiveRequests(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec corev1.PodSpec
		cpu  int64 // millicores
		mem  int64
	}{
		{name: "S9: nothing asked", spec: corev1.PodSpec{Containers: []corev1.Container{asks()}}},
		{name: "S2: containers add up", spec: corev1.PodSpec{Containers: []corev1.Container{asks("cpu", "1"), asks("cpu", "500m", "memory", "1Ki")}}, cpu: 1500, mem: 1024},
		{name: "S3: a hungry init container decides", spec: corev1.PodSpec{
			InitContainers: []corev1.Container{asks("cpu", "3"), asks("cpu", "2", "memory", "2Ki")},
			Containers:     []corev1.Container{asks("cpu", "1", "memory", "1Ki")},
		}, cpu: 3000, mem: 2048},
		{name: "S4: sidecar beside containers", spec: corev1.PodSpec{
			InitContainers: []corev1.Container{sidecar("cpu", "1")}, Containers: []corev1.Container{asks("cpu", "2")},
		}, cpu: 3000},
		{name: "S4: sidecar before init container", spec: corev1.PodSpec{
			InitContainers: []corev1.Container{sidecar("cpu", "4"), asks("cpu", "10")}, Containers: []corev1.Container{asks("cpu", "2")},
		}, cpu: 14000},
		{name: "S4: init container before sidecars", spec: corev1.PodSpec{
			InitContainers: []corev1.Container{asks("cpu", "25"), sidecar("cpu", "4")}, Containers: []corev1.Container{asks("cpu", "2")},
		}, cpu: 25000},
		{name: "S5: pod-level requests replace the sum", spec: corev1.PodSpec{
			Containers: []corev1.Container{asks("cpu", "1", "memory", "1Ki")},
			Resources:  &corev1.ResourceRequirements{Requests: resourceList("cpu", "2")},
		}, cpu: 2000, mem: 1024},
		{name: "S5: a pod-level limit stands in where nobody asks", spec: corev1.PodSpec{
			Containers: []corev1.Container{asks("memory", "1Ki")},
			Resources:  &corev1.ResourceRequirements{Limits: resourceList("cpu", "2", "memory", "8Ki")},
		}, cpu: 2000, mem: 1024},
		{name: "S6: overhead comes on top, of pod-level requests too", spec: corev1.PodSpec{
			Containers: []corev1.Container{asks("cpu", "1")}, Overhead: resourceList("cpu", "250m", "memory", "2Ki"),
			Resources: &corev1.ResourceRequirements{Requests: resourceList("cpu", "3")},
		}, cpu: 3250, mem: 2048},
		{name: "S8: limits stand in for missing requests, resource by resource", spec: corev1.PodSpec{
			Containers: []corev1.Container{limits("cpu", "2", "memory", "1Ki"), {Resources: corev1.ResourceRequirements{
				Requests: resourceList("cpu", "1"), Limits: resourceList("cpu", "4", "memory", "3Ki"),
			}}},
		}, cpu: 3000, mem: 4096},
		{name: "S7: fractions of a millicore round up", spec: corev1.PodSpec{Containers: []corev1.Container{asks("cpu", "100u")}}, cpu: 1},
		{name: "sums beyond int64 stay at its end", spec: corev1.PodSpec{Containers: []corev1.Container{asks("memory", "8Ei"), asks("memory", "8Ei")}}, mem: 1<<63 - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := RequestReader{Table: NewResourceTable()}
			got := r.Table.List(r.Read(&tt.spec))
			assert.Equal(t, tt.cpu, got.Cpu().MilliValue(), "cpu")
			assert.Equal(t, tt.mem, got.Memory().Value(), "memory")
			pods := got[corev1.ResourcePods]
			assert.Equal(t, int64(1), pods.Value(), "pods")
		})
	}
}

// S1: while a resize is in progress a running pod takes the larger of what it asks
// for and what it has.
func TestRunningRequestsDuringResize(t *testing.T) {
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: asks("cpu", "1", "memory", "1Ki").Resources}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "a", AllocatedResources: resourceList("cpu", "2"), Resources: &corev1.ResourceRequirements{Requests: resourceList("cpu", "1500m", "memory", "512")},
		}}},
	}
	r := RequestReader{Table: NewResourceTable()}
	got := r.Table.List(r.ReadRunning(pod))
	assert.Equal(t, int64(2000), got.Cpu().MilliValue())
	assert.Equal(t, int64(1024), got.Memory().Value())
}

func TestReadingAllocatesNothingForKnownResources(t *testing.T) {
	spec := corev1.PodSpec{Containers: []corev1.Container{asks("cpu", "1", "memory", "1Gi")}}
	r := RequestReader{Table: NewResourceTable()}
	r.Read(&spec)
	assert.Zero(t, testing.AllocsPerRun(100, func() { r.Read(&spec) }))
}
