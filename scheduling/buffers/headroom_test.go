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
	list, err := buffers.Headroom{Share: 0.15}.Buffers(&scheduling.Problem{Pods: pods})
	require.NoError(t, err)
	require.Len(t, list, 1)
	b := list[0]
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
	list, err := buffers.Headroom{NodePool: "gpu", Share: 0.5, Amounts: amounts("1", "1Gi")}.Buffers(p)
	require.NoError(t, err)
	require.Len(t, list, 1)
	b := list[0]
	require.Equal(t, 1, b.Replicas)
	spec := b.Template.Spec
	require.Equal(t, int64(3000), spec.Containers[0].Resources.Requests.Cpu().MilliValue())
	require.Equal(t, map[string]string{scheduling.NodePoolLabel: "gpu"}, spec.NodeSelector)
	require.Equal(t, []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}, spec.Tolerations)
}

// Without pods an amount is one piece, and a share is nothing; faults are named.
func TestHeadroomWithoutPods(t *testing.T) {
	list, err := buffers.Headroom{Amounts: amounts("8", "32Gi")}.Buffers(&scheduling.Problem{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, 1, list[0].Replicas)
	require.Equal(t, int64(32<<30), list[0].Template.Spec.Containers[0].Resources.Requests.Memory().Value())
	list, err = buffers.Headroom{Share: 0.15}.Buffers(&scheduling.Problem{})
	require.NoError(t, err)
	require.Empty(t, list)
	small := &scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", st.Requests(st.MilliCPU(1)))}}
	for want, h := range map[string]buffers.Headroom{
		`headroom: there is no NodePool "x"`:           {NodePool: "x", Share: 1},
		"headroom: share NaN is not between 0 and 100": {Share: math.NaN()},
		"headroom: share -1 is not between 0 and 100":  {Share: -1},
		"headroom: cpu: 0 is not above 0":              {Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0")}},
		"headroom: cpu: 9E is too large":               {Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9E")}},
		"headroom: cpu: 1M is more than 500000 pods":   {Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1M")}},
	} {
		_, err := h.Buffers(small)
		require.EqualError(t, err, want)
	}
}

// Devices are not rounded up: of four pieces of a core, three have a GPU, and none has a fifth of the eight NICs.
func TestHeadroomOfDevices(t *testing.T) {
	p := &scheduling.Problem{Pods: st.Pods(3, "web", st.Requests(st.Cores(1)))}
	list, err := buffers.Headroom{Amounts: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), "nvidia.com/gpu": resource.MustParse("3"), "example.com/nic": resource.MustParse("8"),
	}}.Buffers(p)
	require.NoError(t, err)
	sums, pods := map[corev1.ResourceName]int64{}, map[string]bool{}
	for i := range list {
		for _, pod := range list[i].Pods() {
			pods[scheduling.PodName(pod)] = true
			for name, q := range pod.Spec.Containers[0].Resources.Requests {
				sums[name] += q.Value()
			}
		}
	}
	require.Equal(t, map[corev1.ResourceName]int64{corev1.ResourceCPU: 4, "nvidia.com/gpu": 3, "example.com/nic": 8}, sums)
	require.Len(t, pods, 4)
	require.Len(t, list, 2)
	require.Equal(t, []int{3, 1}, []int{list[0].Replicas, list[1].Replicas})
}
