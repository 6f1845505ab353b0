package informers

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// realPod is a pod with fields that no plan reads beside those that plans do.
func realPod(name, version string) *corev1.Pod {
	pod := st.Pod(name, st.Requests(st.MilliCPU(500), st.GiB(1)), st.OwnedBy("ReplicaSet", "web"))
	pod.Namespace, pod.ResourceVersion, pod.Spec.NodeName = "default", version, "node-of-"+name
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	pod.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "karpenter.sh/do-not-disrupt": "true"}
	c := &pod.Spec.Containers[0]
	c.Env, c.Ports = []corev1.EnvVar{{Name: "A", Value: "b"}}, []corev1.ContainerPort{{HostPort: 80}}
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: &always, Resources: c.Resources, Args: []string{"--all"}}}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, Message: "m"}, {Type: corev1.ContainersReady}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: c.Name, ImageID: "sha256:0", AllocatedResources: st.Resources(st.Cores(2), st.GiB(1))}}
	return pod
}

// A trimmed pod has all that plans read, and shares it with the other pods of its controller.
func TestTrimPods(t *testing.T) {
	trimmed := func(x *trimmer, pod *corev1.Pod) *corev1.Pod {
		o, err := x.trim(pod)
		require.NoError(t, err)
		return o.(*corev1.Pod)
	}
	x := &trimmer{pods: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	one, two := trimmed(x, realPod("one", "1")), trimmed(x, realPod("two", "2"))
	require.Equal(t, provisioning.PodRequests([]*corev1.Pod{realPod("one", "1")}), provisioning.PodRequests([]*corev1.Pod{one}))
	require.Equal(t, map[string]string{"karpenter.sh/do-not-disrupt": "true"}, one.Annotations)
	require.Len(t, one.Spec.Volumes, 1)
	require.Equal(t, int32(80), one.Spec.Containers[0].Ports[0].HostPort)
	require.NotNil(t, one.Spec.InitContainers[0].RestartPolicy)
	require.Empty(t, one.Spec.Containers[0].Env)
	require.Equal(t, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}, one.Status.Conditions)
	require.Same(t, &one.Spec.Containers[0], &two.Spec.Containers[0])
	require.Same(t, &one.Status.ContainerStatuses[0], &two.Status.ContainerStatuses[0])
	require.Equal(t, "node-of-two", two.Spec.NodeName)

	require.NoError(t, x.pods.Add(one))
	require.Same(t, one, trimmed(x, realPod("one", "1")), "a new list has it unchanged")
	require.NotSame(t, one, trimmed(x, realPod("one", "3")))
	other := realPod("three", "4")
	other.Spec.Containers[0].Resources.Requests = st.Resources(st.Cores(1))
	require.Equal(t, st.Resources(st.Cores(1)), trimmed(x, other).Spec.Containers[0].Resources.Requests)
}
