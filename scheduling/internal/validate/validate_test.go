package validate

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// shopPod is a pod of one container in namespace shop.
func shopPod(name string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}},
	}
}

// onNode is a pod that runs.
func onNode(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = "n"
	return pod
}

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func TestValidateNothing(t *testing.T) {
	assert.NoError(t, problemFaults((&scheduling.Problem{})))
}

// Entries that are nil, nameless or there twice are all found at once.
func TestValidateIdentity(t *testing.T) {
	p := &scheduling.Problem{
		Pods: []*corev1.Pod{
			shopPod("a", nil), nil, shopPod("a", nil), {}, shopPod("b", nil), shopPod("a", nil),
			{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}}, {ObjectMeta: metav1.ObjectMeta{Name: "x"}},
		},
		Running:      []*corev1.Pod{onNode(shopPod("b", nil)), onNode(shopPod("c", nil)), nil},
		Nodes:        []*corev1.Node{nil, {ObjectMeta: named("n")}, {ObjectMeta: named("n")}, {}},
		NodePools:    []*scheduling.NodePool{nil, {ObjectMeta: named("p")}, {ObjectMeta: named("p")}, {}},
		DaemonSets:   []*appsv1.DaemonSet{nil, {ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "d"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "d"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "d"}}, {}},
		PoolCatalogs: map[string]*instancetypes.Catalog{"p": nil, "q": nil},
	}
	assert.Equal(t, []string{
		"daemonsets[0]: is nil",
		"daemonsets[4].metadata.name: is missing",
		"daemonsets[b/d]: is there more than once",
		"nodepools[0]: is nil",
		"nodepools[3].metadata.name: is missing",
		"nodepools[p]: is there more than once",
		"nodes[0]: is nil",
		"nodes[3].metadata.name: is missing",
		"nodes[n]: is there more than once",
		"pods[1]: is nil",
		"pods[3].metadata.name: is missing",
		"pods[default/x]: is there more than once",
		"pods[shop/a]: is there more than once",
		"poolCatalogs[q]: there is no NodePool of this name",
		"running[2]: is nil",
		"running[shop/b]: is there more than once",
	}, faultsOf(t, problemFaults(p)))
}

// A running pod on a node that is not among the nodes is no fault: dumps are partial.
func TestValidateUnknownNode(t *testing.T) {
	pod := shopPod("a", nil)
	pod.Spec.NodeName = "gone"
	assert.NoError(t, problemFaults((&scheduling.Problem{Running: []*corev1.Pod{pod}})))
}

func TestValidateNodeAmounts(t *testing.T) {
	p := &scheduling.Problem{Nodes: []*corev1.Node{{ObjectMeta: named("n"), Status: corev1.NodeStatus{
		Capacity: quantities("cpu", "4", "memory", "-1"), Allocatable: quantities("cpu", "1e17", "nvidia.com/gpu", "-2"),
	}}}}
	assert.Equal(t, []string{
		`nodes[n].status.allocatable.cpu: is too large: "100e15"`,
		`nodes[n].status.allocatable[nvidia.com/gpu]: is negative: "-2"`,
		`nodes[n].status.capacity.memory: is negative: "-1"`,
	}, faultsOf(t, problemFaults(p)))
}

func TestValidateDaemonSet(t *testing.T) {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent"}}
	d.Spec.Template.Spec = shopPod("", quantities("cpu", "-1")).Spec
	assert.Equal(t, []string{
		`daemonsets[kube-system/agent].spec.template.spec.containers[0].resources.requests.cpu: is negative: "-1"`,
	}, faultsOf(t, problemFaults((&scheduling.Problem{DaemonSets: []*appsv1.DaemonSet{d}}))))
}

// The order of a problem's slices changes nothing about names in the report.
func TestValidateIgnoresOrder(t *testing.T) {
	p := &scheduling.Problem{}
	for i := range 30 {
		p.Pods = append(p.Pods, shopPod(fmt.Sprint("web-", i%20), quantities("cpu", "-1", "memory", "-2")))
	}
	want := problemFaults(p)
	require.Error(t, want)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		rng.Shuffle(len(p.Pods), func(i, j int) { p.Pods[i], p.Pods[j] = p.Pods[j], p.Pods[i] })
		assert.Equal(t, want, problemFaults(p))
	}
}

// busyPods look like those of a real cluster: sidecars, limits, selectors, tolerations.
func busyPods(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pod := shopPod(fmt.Sprintf("deployment-%d-7d9f8b6c5-%05d", i/100, i), quantities("cpu", "250m", "memory", "512Mi"))
		pod.Namespace = fmt.Sprintf("team-%d", i/1000)
		c := &pod.Spec.Containers[0]
		c.Resources.Limits = quantities("cpu", "1", "memory", "512Mi")
		c.Ports = []corev1.ContainerPort{{ContainerPort: 8080}}
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: "proxy", Resources: corev1.ResourceRequirements{Requests: quantities("cpu", "100m", "memory", "128Mi")},
		})
		pod.Spec.NodeSelector = map[string]string{"kubernetes.io/arch": "amd64"}
		seconds := int64(300)
		pod.Spec.Tolerations = []corev1.Toleration{
			{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
			{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
		}
		if i%4 == 0 {
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: "topology.kubernetes.io/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1a", "us-east-1b"}},
				}}},
			}}}
		}
		if i%4 == 1 {
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}}
		}
		pods[i] = pod
	}
	return pods
}

// A pod without a fault costs no allocation.
func TestValidateAllocations(t *testing.T) {
	few, many := &scheduling.Problem{Pods: busyPods(10)}, &scheduling.Problem{Pods: busyPods(1000)}
	allocations := func(p *scheduling.Problem) float64 {
		return testing.AllocsPerRun(5, func() {
			if err := problemFaults(p); err != nil {
				t.Fatal(err)
			}
		})
	}
	// The set of names is one map, which grows by tables.
	assert.LessOrEqual(t, allocations(many), allocations(few)+12)
}

func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		p := &scheduling.Problem{Pods: busyPods(n)}
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			runtime.GC() // the garbage of building the pods
			for b.Loop() {
				if err := problemFaults(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
