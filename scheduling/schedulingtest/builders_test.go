package schedulingtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

func same(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

func quantities(kv ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(kv); i += 2 {
		list[corev1.ResourceName(kv[i])] = resource.MustParse(kv[i+1])
	}
	return list
}

func TestAmounts(t *testing.T) {
	got := Resources(MilliCPU(500), MiB(1536), DiskGiB(20), Count("pods", 3), Count("nvidia.com/gpu", 2))
	want := quantities("cpu", "500m", "memory", "1536Mi", "ephemeral-storage", "20Gi", "pods", "3", "nvidia.com/gpu", "2")
	assert.True(t, same(want, got), "%v", got)
	assert.True(t, same(quantities("cpu", "2", "memory", "1Gi"), Resources(Cores(1), GiB(1), Cores(2))), "the later amount counts")
}

func TestPodBuilder(t *testing.T) {
	p := Pod("web",
		Requests(MilliCPU(100)), Requests(MiB(64)), Limits(Cores(1)), sideContainer(Cores(2)),
		Init(Cores(3)), Sidecar(MilliCPU(5)), overhead(MiB(1)), podLevel(Cores(4)),
		Where(In("a", "1")), Where(Gt("b", 2), Exists("c")), Prefer(3, NotIn("d", "x")),
		Tolerate("k", "v", corev1.TaintEffectNoExecute), TolerateKey("k", ""), TolerateAll(),
		HostPort(80), hostPortOn("127.0.0.1", 53, corev1.ProtocolUDP), Priority(5), Label("app", "web"),
	)
	assert.Equal(t, "default", p.Namespace)
	assert.Equal(t, "default/web", string(p.UID))
	assert.True(t, same(quantities("cpu", "100m", "memory", "64Mi"), p.Spec.Containers[0].Resources.Requests))
	assert.True(t, same(quantities("cpu", "1"), p.Spec.Containers[0].Resources.Limits))
	assert.True(t, same(quantities("cpu", "2"), p.Spec.Containers[1].Resources.Requests))
	require.Len(t, p.Spec.InitContainers, 2)
	assert.Nil(t, p.Spec.InitContainers[0].RestartPolicy)
	assert.Equal(t, corev1.ContainerRestartPolicyAlways, *p.Spec.InitContainers[1].RestartPolicy)
	assert.True(t, same(quantities("memory", "1Mi"), p.Spec.Overhead))
	assert.True(t, same(quantities("cpu", "4"), p.Spec.Resources.Requests))

	na := p.Spec.Affinity.NodeAffinity
	terms := na.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	require.Len(t, terms, 2, "each Where is one OR term")
	assert.Len(t, terms[1].MatchExpressions, 2)
	assert.Equal(t, []string{"2"}, terms[1].MatchExpressions[0].Values)
	require.Len(t, na.PreferredDuringSchedulingIgnoredDuringExecution, 1)
	assert.Equal(t, int32(3), na.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight)
	assert.Len(t, p.Spec.Tolerations, 3)
	assert.Len(t, p.Spec.Containers[0].Ports, 2)
	assert.Equal(t, int32(5), *p.Spec.Priority)
	assert.Equal(t, "web", p.Labels["app"])
}

func TestPodsShareNothing(t *testing.T) {
	pods := Pods(2, "web", Requests(Cores(1)), Select("a", "b"), Label("c", "d"), Where(In("e", "f")))
	pods[0].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("9")
	pods[0].Spec.NodeSelector["a"] = "changed"
	pods[0].Labels["c"] = "changed"
	pods[0].Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values[0] = "changed"
	want := Pod("web-2", Requests(Cores(1)), Select("a", "b"), Label("c", "d"), Where(In("e", "f")))
	assert.True(t, same(want, pods[1]), "%v", pods[1])
	assert.Empty(t, Pods(-1, "none"))
}

func TestNodePoolBuilder(t *testing.T) {
	p := NodePool("batch", Weight(10), Limit(Cores(8)), MaxNodes(2), Replicas(3), Label("team", "x"),
		Taint("a", "b", corev1.TaintEffectNoSchedule), StartupTaint("c", "", corev1.TaintEffectNoExecute),
		Where(In("zone", "a")), Where(AtLeast(2, Exists("type"))))
	assert.Equal(t, int32(10), *p.Spec.Weight)
	assert.Equal(t, int64(3), *p.Spec.Replicas)
	assert.True(t, same(quantities("cpu", "8", "nodes", "2"), p.Spec.Limits))
	assert.Equal(t, map[string]string{"team": "x"}, p.Spec.Template.Metadata.Labels)
	assert.Equal(t, "a", p.Spec.Template.Spec.Taints[0].Key)
	assert.Equal(t, "c", p.Spec.Template.Spec.StartupTaints[0].Key)
	require.Len(t, p.Spec.Template.Spec.Requirements, 2, "a pool asks for all of its requirements")
	assert.Equal(t, 2, *p.Spec.Template.Spec.Requirements[1].MinValues)
}

func TestNodeBuilder(t *testing.T) {
	typ := Type("m.large", Capacity(Cores(2), GiB(8)), KubeReserved(MilliCPU(100)), Spot("a", Cents(3)))
	n := Node("n1", OfType(typ, typ.Offerings[0]), OfPool("default"), Label("x", "y"), Taint("t", "", corev1.TaintEffectNoSchedule))
	for key, want := range map[string]string{
		"kubernetes.io/hostname": "n1", "node.kubernetes.io/instance-type": "m.large", "karpenter.sh/capacity-type": "spot",
		"topology.kubernetes.io/zone": "a", "karpenter.sh/nodepool": "default", "karpenter.sh/initialized": "true", "x": "y",
	} {
		assert.Equal(t, want, n.Labels[key], key)
	}
	cpu := n.Status.Allocatable[corev1.ResourceCPU]
	assert.Equal(t, int64(1900), cpu.MilliValue())
	assert.Len(t, n.Spec.Taints, 1)

	flying := Node("n2", OfType(typ, typ.Offerings[0]), OfPool("default"), InFlight())
	assert.NotContains(t, flying.Labels, scheduling.InitializedLabel)
	assert.Empty(t, flying.Status.Allocatable)
	assert.NotNil(t, Node("n3", Deleting()).DeletionTimestamp)
	assert.Equal(t, scheduling.DisruptedTaint, Node("n4", Disrupted()).Spec.Taints[0].Key)
	assert.True(t, Node("n5", Cordoned()).Spec.Unschedulable)
	assert.True(t, same(quantities("pods", "5", "cpu", "1"), Node("n6", Allocatable(Cores(1), Count("pods", 5))).Status.Allocatable))
}

func TestDaemonSetBuilder(t *testing.T) {
	ds := DaemonSet("logging", Namespace("system"), Requests(MilliCPU(10)), TolerateAll(), Label("tier", "infra"))
	assert.Equal(t, "system", ds.Namespace)
	assert.True(t, same(quantities("cpu", "10m"), ds.Spec.Template.Spec.Containers[0].Resources.Requests))
	assert.Len(t, ds.Spec.Template.Spec.Tolerations, 1)
	for key, value := range ds.Spec.Selector.MatchLabels {
		assert.Equal(t, value, ds.Spec.Template.Labels[key], "the selector matches the template")
	}
	pod := Pod("logging-1", Namespace("system"), OnNode("n1"), OwnedByDaemonSet("logging"))
	assert.Equal(t, ds.UID, pod.OwnerReferences[0].UID)
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
}

func TestTypeBuilder(t *testing.T) {
	typ := Type("m.large", Capacity(Cores(2), GiB(8), Count("pods", 29)), Label("kubernetes.io/arch", "arm64"),
		OnDemand("a", Cents(10)), Spot("b", Cents(3)), Reserved("a", 0, "cr-1", 4))
	assert.True(t, same(quantities("cpu", "2", "memory", "8Gi", "pods", "29"), typ.Capacity))
	assert.Equal(t, "arm64", typ.Labels["kubernetes.io/arch"])
	require.Len(t, typ.Offerings, 3)
	assert.Equal(t, offerings.MustPrice("0.1"), typ.Offerings[0].Price)
	assert.EqualValues(t, 4, typ.Offerings[2].ReservationCount)
	assert.Equal(t, 1, MustCatalog(typ).Len())
	assert.Panics(t, func() { MustCatalog(Type("")) })
}

// No input makes a command panic.
func FuzzCommands(f *testing.F) {
	for _, text := range strings.SplitAfter(surroundings, separator+"\n\n") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		script, err := parseScript(text)
		if err != nil {
			return
		}
		again, err := parseScript(script.String())
		require.NoError(t, err)
		assert.Equal(t, script.String(), again.String())
		s := newSession()
		for _, p := range script.parts {
			if b := p.block; b != nil && len(b.lines) > 0 && !strings.HasPrefix(b.lines[0], "solve") && !strings.Contains(text, " x ") {
				require.NotPanics(t, func() { s.run(t.Context(), b) })
			}
		}
	})
}
