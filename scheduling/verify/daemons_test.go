package verify_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// onePod is a plan that launches a machine of two cores for a pod of one core. counted says whether the requests of the
// launch include the 100 millicores of the DaemonSet.
func onePod(counted bool, pool *scheduling.NodePool, ds *appsv1.DaemonSet) *fixture {
	kind := st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.Label("example.com/cpu", "2"), st.OnDemand("a", st.Cents(5)))
	other := st.Type("n", st.Capacity(st.Cores(2), st.GiB(4)), st.Label("karpenter.k8s.aws/instance-gpu-name", "t4"))
	requests := st.Resources(st.Cores(1), st.Count(corev1.ResourcePods, 1))
	if counted {
		requests = st.Resources(st.MilliCPU(1100), st.Count(corev1.ResourcePods, 2))
	}
	f := &fixture{
		p: scheduling.Problem{
			Pods:       []*corev1.Pod{st.Pod("p", st.Requests(st.Cores(1)), st.TolerateAll())},
			NodePools:  []*scheduling.NodePool{pool},
			Catalog:    st.MustCatalog(kind, other),
			DaemonSets: []*appsv1.DaemonSet{ds},
		},
		plan: &scheduling.Plan{Launches: []scheduling.Launch{{
			Name: "pool-1", NodePool: "pool", Pods: []string{"default/p"}, Price: st.Cents(5), Requests: requests,
			Options: []scheduling.LaunchOption{option("m", "a", offerings.OnDemand, 5)}, Labels: pool.Spec.Template.Metadata.Labels,
			Taints: pool.Spec.Template.Spec.Taints, StartupTaints: pool.Spec.Template.Spec.StartupTaints,
		}}},
	}
	f.plan.Summary.Status = scheduling.StatusComplete
	f.sum()
	return f
}

// TestDaemonsOfNewMachines covers T7, T16 and P88–P92: which DaemonSets count on a machine that is launched.
func TestDaemonsOfNewMachines(t *testing.T) {
	daemon := func(opts ...st.PodOption) *appsv1.DaemonSet {
		return st.DaemonSet("d", append([]st.PodOption{st.Requests(st.MilliCPU(100))}, opts...)...)
	}
	pool := func(opts ...st.NodePoolOption) *scheduling.NodePool { return st.NodePool("pool", opts...) }
	const gpuName = "karpenter.k8s.aws/instance-gpu-name"
	for _, tc := range []struct {
		name  string
		pool  *scheduling.NodePool
		ds    *appsv1.DaemonSet
		wants bool
	}{
		{"everywhere", pool(), daemon(), true},
		{"untolerated taint", pool(st.Taint("k", "", corev1.TaintEffectNoSchedule)), daemon(), false},
		{"untolerated taint that evicts", pool(st.Taint("k", "", corev1.TaintEffectNoExecute)), daemon(), false},
		{"tolerated taint", pool(st.Taint("k", "v", corev1.TaintEffectNoSchedule)), daemon(st.Tolerate("k", "v", "")), true},
		{"soft taint", pool(st.Taint("k", "", corev1.TaintEffectPreferNoSchedule)), daemon(), true},
		{"start-up taint", pool(st.StartupTaint("k", "", corev1.TaintEffectNoExecute)), daemon(), true},
		{"taint that every daemon tolerates", pool(st.Taint(corev1.TaintNodeMemoryPressure, "", corev1.TaintEffectNoSchedule)), daemon(), true},
		{"the same with another effect", pool(st.Taint(corev1.TaintNodeMemoryPressure, "", corev1.TaintEffectNoExecute)), daemon(), false},
		{"taint that daemons on the host's network tolerate", pool(st.Taint(corev1.TaintNodeNetworkUnavailable, "", corev1.TaintEffectNoSchedule)), onHost(daemon()), true},
		{"and others do not", pool(st.Taint(corev1.TaintNodeNetworkUnavailable, "", corev1.TaintEffectNoSchedule)), daemon(), false},
		{"label of the type", pool(), daemon(st.Select(typeOf, "m")), true},
		{"label of another type", pool(), daemon(st.Select(typeOf, "n")), false},
		{"custom label of the type", pool(), daemon(st.Where(st.Gt("example.com/cpu", 1))), true},
		{"label of the offering", pool(), daemon(st.Select(offerings.CapacityTypeLabel, "spot")), false},
		{"label of the pool", pool(st.Label("tier", "web")), daemon(st.Select("tier", "web")), true},
		{"the pool itself", pool(), daemon(st.Select(scheduling.NodePoolLabel, "pool")), true},
		{"label that nobody defines", pool(), daemon(st.Select("tier", "web")), false},
		{"shuns a label that nobody defines", pool(), daemon(st.Where(st.NotIn("tier", "web"))), true},
		{"one of the terms", pool(), daemon(st.Where(st.In("tier", "web")), st.Where(st.In(typeOf, "m"))), true},
		{"preferences", pool(), daemon(st.Prefer(1, st.In(typeOf, "n"))), true},
		{"ready nodes (P36)", pool(), daemon(st.Select(scheduling.InitializedLabel, "true"), st.Select(scheduling.RegisteredLabel, "true")), true},
		{"well-known label that no type has (R32)", pool(), daemon(st.Select(corev1.LabelTopologyRegion, "r1")), true},
		{"well-known label that only other types have", pool(), daemon(st.Where(st.Exists(gpuName))), false},
		{"alias of a label", pool(), daemon(st.Select(corev1.LabelInstanceType, "m")), true},
		{"a host by name", pool(), daemon(st.Select(corev1.LabelHostname, "n1")), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Empty(t, onePod(tc.wants, tc.pool, tc.ds).violations(t))
			assert.Equal(t, broken(verify.CodeLaunchRequests), codes(onePod(!tc.wants, tc.pool, tc.ds).violations(t)))
		})
	}
}

func onHost(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	ds.Spec.Template.Spec.HostNetwork = true
	return ds
}

// TestDaemonsFollowWhatTheLaunchPromises: a DaemonSet that selects a label of the provider counts if the requirements
// of the launch give the label that value.
func TestDaemonsFollowWhatTheLaunchPromises(t *testing.T) {
	ds := st.DaemonSet("d", st.Requests(st.MilliCPU(100)), st.Select(corev1.LabelTopologyRegion, "r1"))
	for region, counted := range map[string]bool{"r1": true, "r2": false} {
		f := onePod(counted, st.NodePool("pool"), ds)
		f.p.Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyRegion: region}
		f.plan.Launches[0].Requirements = []requirements.Selector{st.In(corev1.LabelTopologyRegion, region)}
		assert.Empty(t, f.violations(t), region)
	}
}

// TestTheNewestPodSaysWhatADaemonNeeds covers P91: the newest pod of a DaemonSet says what it requests, because
// admission may have changed the template.
func TestTheNewestPodSaysWhatADaemonNeeds(t *testing.T) {
	at := func(pod *corev1.Pod, day int) *corev1.Pod {
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, time.May, day, 0, 0, 0, 0, time.UTC))
		return pod
	}
	f := onePod(true, st.NodePool("pool"), st.DaemonSet("d", st.Requests(st.MilliCPU(700))))
	f.p.Nodes = []*corev1.Node{st.Node("n1", st.Allocatable(st.Cores(1), st.GiB(1)), st.Taint("full", "", corev1.TaintEffectNoSchedule))}
	f.p.Pods[0].Spec.Tolerations = nil
	f.p.Running = []*corev1.Pod{
		at(st.Pod("d-old", st.OnNode("n1"), st.OwnedByDaemonSet("d"), st.Requests(st.MilliCPU(300))), 1),
		at(st.Pod("d-new", st.OnNode("n1"), st.OwnedByDaemonSet("d"), st.Requests(st.MilliCPU(100))), 3),
		at(st.Pod("d-failed", st.OnNode("n1"), st.OwnedByDaemonSet("d"), st.PodPhase(corev1.PodFailed), st.Requests(st.MilliCPU(900))), 5),
		at(st.Pod("d-other", st.Namespace("other"), st.OnNode("n1"), st.OwnedByDaemonSet("d"), st.Requests(st.MilliCPU(800))), 6),
	}
	assert.Empty(t, f.violations(t))
}

// TestRoomOnNodes covers P78–P80: the room of running and of starting nodes, to the last millicore.
func TestRoomOnNodes(t *testing.T) {
	kind := st.Type("m", st.Capacity(st.Cores(4), st.GiB(8), st.Count(gpus, 1)), st.KubeReserved(st.MilliCPU(500)), st.Spot("a", st.Cents(5)))
	daemon := st.DaemonSet("d", st.Requests(st.MilliCPU(100)))
	elsewhere := st.DaemonSet("e", st.Requests(st.Cores(3)), st.Select("tier", "web"))
	running := func(cpu int64, opts ...st.PodOption) *corev1.Pod {
		return st.Pod("r", append([]st.PodOption{st.OnNode("n"), st.Requests(st.MilliCPU(cpu))}, opts...)...)
	}
	base := st.OfType(kind, kind.Offerings[0])
	for _, tc := range []struct {
		name    string
		node    *corev1.Node
		running []*corev1.Pod
		left    int64 // millicores that a pod may still have
	}{
		{"allocatable and a daemon to come", st.Node("n", base), nil, 3400},
		{"a running pod", st.Node("n", base), []*corev1.Pod{running(1000)}, 2400},
		{"a pod that has ended", st.Node("n", base), []*corev1.Pod{running(1000, st.PodPhase(corev1.PodSucceeded))}, 3400},
		{"the daemon runs already, larger than planned", st.Node("n", base), []*corev1.Pod{running(600, st.OwnedByDaemonSet("d"))}, 2900},
		{"an unexpected daemon spares no other", st.Node("n", base), []*corev1.Pod{running(600, st.OwnedByDaemonSet("x"))}, 2800},
		{"a daemon that the labels of the node attract", st.Node("n", base, st.Label("tier", "web")), nil, 400},
		{"a cordoned node, to a pod that tolerates that", st.Node("n", base, st.Cordoned()), nil, 3400},
		{"in flight, nothing reported", st.Node("n", base, st.OfPool("pool"), st.InFlight()), nil, 3400},
		{"in flight, less reported", func() *corev1.Node {
			n := st.Node("n", base, st.OfPool("pool"), st.InFlight())
			n.Status.Allocatable = st.Resources(st.MilliCPU(3000), st.Count(gpus, 0))
			return n
		}(), nil, 2900},
		{"in flight, of a type that nobody knows", func() *corev1.Node {
			n := st.Node("n", base, st.OfPool("pool"), st.InFlight())
			n.Labels[typeOf] = "unknown"
			n.Status.Allocatable = st.Resources(st.MilliCPU(1100), st.GiB(1), st.Count(gpus, 1), st.Count(corev1.ResourcePods, 2))
			return n
		}(), nil, 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fixture{p: scheduling.Problem{
				Nodes: []*corev1.Node{tc.node}, Running: tc.running, Catalog: st.MustCatalog(kind),
				NodePools:  []*scheduling.NodePool{st.NodePool("pool", st.Limit(st.Cores(0)))},
				DaemonSets: []*appsv1.DaemonSet{daemon, elsewhere},
			}}
			f.plan = &scheduling.Plan{Existing: []scheduling.Assignment{{Node: "n", Pods: []string{"default/p"}}}}
			f.plan.Summary.Status = scheduling.StatusOptimal
			for more, want := range map[int64][]verify.Code{0: nil, 1: broken(verify.CodeResources)} {
				// The device is there even while the kubelet reports none.
				f.p.Pods = []*corev1.Pod{st.Pod("p", st.Requests(st.MilliCPU(tc.left+more), st.Count(gpus, 1)), st.TolerateAll())}
				f.sum()
				assert.Equal(t, want, codes(f.violations(t)), "%dm", tc.left+more)
			}
		})
	}
}
