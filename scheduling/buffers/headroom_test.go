package buffers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// amounts are quantities of CPU and memory.
func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// The pieces of a headroom add up to the share of what pods request, and none is larger than nine of ten pods. Pods that
// come with nodes, that have ended and that are virtual do not count.
func TestHeadroomOfTheCluster(t *testing.T) {
	pods := st.Pods(18, "web", st.Requests(st.Cores(1), st.GiB(2)))
	pods = append(pods, st.Pods(2, "db", st.Requests(st.Cores(11), st.GiB(12)))...)
	pods = append(pods, st.Pod("agent", st.OwnedByDaemonSet("agent"), st.Requests(st.Cores(9))), st.Pod("ended", st.PodPhase(corev1.PodSucceeded), st.Requests(st.Cores(9))))
	pods = append(pods, (&buffers.Buffer{Name: "b", Replicas: 3, Template: corev1.PodTemplateSpec{Spec: pods[0].Spec}}).Pods()...)
	b, err := buffers.Headroom{Share: 0.15}.Buffer(&scheduling.Problem{Pods: pods})
	require.NoError(t, err)
	// 40 cores and 60 GiB run; 15 % are 6 cores and 9 GiB, in pieces of at most 1 core and 2 GiB.
	require.Equal(t, 6, b.Replicas)
	each := b.Template.Spec.Containers[0].Resources.Requests
	require.Equal(t, int64(1000), each.Cpu().MilliValue())
	require.Equal(t, int64(1536<<20), each.Memory().Value())
	require.Equal(t, "default/headroom", b.Namespace+"/"+b.Name)
}

// The headroom of a NodePool is a share of its pods, asks for its nodes and tolerates their taints.
func TestHeadroomOfAPool(t *testing.T) {
	pool := st.NodePool("gpu")
	pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	p := &scheduling.Problem{
		NodePools: []*scheduling.NodePool{pool, st.NodePool("general")},
		Nodes:     []*corev1.Node{st.Node("n", st.OfPool("gpu")), st.Node("m", st.OfPool("general"))},
		Running:   []*corev1.Pod{st.Pod("a", st.OnNode("n"), st.Requests(st.Cores(4))), st.Pod("b", st.OnNode("m"), st.Requests(st.Cores(8)))},
		Pods:      []*corev1.Pod{st.Pod("c", st.Requests(st.Cores(4)))},
	}
	b, err := buffers.Headroom{NodePool: "gpu", Share: 0.5, Amounts: amounts("1", "1Gi")}.Buffer(p)
	require.NoError(t, err)
	require.Equal(t, 1, b.Replicas)
	spec := b.Template.Spec
	require.Equal(t, int64(3000), spec.Containers[0].Resources.Requests.Cpu().MilliValue())
	require.Equal(t, map[string]string{scheduling.NodePoolLabel: "gpu"}, spec.NodeSelector)
	require.Equal(t, []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}, spec.Tolerations)
}

// Without pods an amount is one piece, and a share is nothing; faults are named.
func TestHeadroomWithoutPods(t *testing.T) {
	b, err := buffers.Headroom{Amounts: amounts("8", "32Gi")}.Buffer(&scheduling.Problem{})
	require.NoError(t, err)
	require.Equal(t, 1, b.Replicas)
	require.Equal(t, int64(32<<30), b.Template.Spec.Containers[0].Resources.Requests.Memory().Value())
	b, err = buffers.Headroom{Share: 0.15}.Buffer(&scheduling.Problem{})
	require.NoError(t, err)
	require.Empty(t, b.Pods())
	small := &scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", st.Requests(st.MilliCPU(1)))}}
	for want, h := range map[string]buffers.Headroom{
		`headroom: there is no NodePool "x"`:           {NodePool: "x", Share: 1},
		"headroom: share NaN is not between 0 and 100": {Share: math.NaN()},
		"headroom: share -1 is not between 0 and 100":  {Share: -1},
		"headroom: cpu: 0 is not above 0":              {Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0")}},
		"headroom: cpu: 9E is too large":               {Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9E")}},
		"headroom: nvidia.com/gpu: 1 has no equal parts for 2 virtual pods, as many as the other resources need": {
			Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2m"), "nvidia.com/gpu": resource.MustParse("1")},
		},
		"headroom: cpu: 1M is more than 500000 pods": {Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1M")}},
	} {
		_, err := h.Buffer(small)
		require.EqualError(t, err, want)
	}
}
