package provisioning_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

const (
	zoneKey    = "topology.kubernetes.io/zone"
	ebsZoneKey = "topology.ebs.csi.aws.com/zone"
	hostKey    = "kubernetes.io/hostname"
	ebs        = "ebs.csi.aws.com"
)

// threeZones sells one type of machine in the zones a, b and c; a is the cheapest.
func threeZones() scheduling.Problem {
	return scheduling.Problem{
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(16)),
			st.OnDemand("a", st.Cents(10)), st.OnDemand("b", st.Cents(11)), st.OnDemand("c", st.Cents(12)))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
	}
}

// small is a pod that asks for one core and has some volumes.
func small(name string, opts ...st.PodOption) *corev1.Pod {
	return st.Pod(name, append([]st.PodOption{st.Requests(st.Cores(1), st.GiB(1))}, opts...)...)
}

// planned solves the problem, which has to give the same plan in another order.
func planned(t *testing.T, p scheduling.Problem) *scheduling.Plan {
	t.Helper()
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	again, err := provisioning.Planner{}.Plan(t.Context(), st.Shuffle(p, 7))
	require.NoError(t, err)
	require.Equal(t, plan, again)
	return plan
}

// refused returns the first reason of each pod without a place, by the pod's name.
func refused(plan *scheduling.Plan) map[string]scheduling.ReasonCount {
	out := map[string]scheduling.ReasonCount{}
	for _, u := range plan.Unschedulable {
		out[strings.TrimPrefix(u.Pod, "default/")] = u.Reasons[0]
	}
	return out
}

// zonesOf lists the zones of all options of the launch with a pod.
func zonesOf(plan *scheduling.Plan, pod string) []string {
	var zones []string
	if l := placementOf(plan, pod).Launch; l != nil {
		for _, o := range l.Options {
			zones = append(zones, o.Zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// placementOf is where the plan puts a pod of namespace default.
func placementOf(plan *scheduling.Plan, pod string) scheduling.Placement {
	return maps.Collect(plan.Placements())[types.NamespacedName{Namespace: "default", Name: pod}]
}

// P142, P143, P139: pods whose volumes cannot be had are refused, and the reason names
// the object that is in the way.
func TestVolumesThatCannotBeHad(t *testing.T) {
	waits := st.StorageClass("waits")
	for _, tt := range []struct {
		name    string
		pod     st.PodOption
		objects func(*scheduling.Problem)
		want    string
	}{
		{"no claim", st.UseClaim("data"), nil, "persistent volume claim default/data does not exist"},
		{"a claim that is being deleted", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass("waits"), st.Deleting())}
		}, "persistent volume claim default/data is being deleted"},
		{"a claim that is lost", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"), st.Lost())}
		}, "persistent volume claim default/data has lost its volume"},
		{"a claim on no volume", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))}
		}, "persistent volume v of claim default/data does not exist"},
		{"a claim on a volume that is being deleted", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))}
			p.Volumes = []*corev1.PersistentVolume{st.Volume("v", st.Deleting())}
		}, "persistent volume v of claim default/data is being deleted"},
		{"a claim that names a volume, which is not bound yet", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.HalfBoundTo("v"), st.OfClass("waits"))}
			p.Volumes = []*corev1.PersistentVolume{st.Volume("v")}
		}, "persistent volume claim default/data waits to be bound to volume v"},
		{"an unbound claim of no class", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data")}
		}, "persistent volume claim default/data is not bound to a volume and names no storage class"},
		{"an unbound claim of the class \"\"", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass(""))}
		}, "persistent volume claim default/data is not bound to a volume and names no storage class"},
		{"an unbound claim of a class that is not there", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass("fast"))}
		}, "storage class fast of persistent volume claim default/data does not exist"},
		{"an unbound claim of a class that binds at once", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass("now"))}
			p.StorageClasses = append(p.StorageClasses, st.StorageClass("now", st.Immediate()))
		}, "persistent volume claim default/data waits for its volume, which storage class now makes at once"},
		{"a class without a binding mode binds at once", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass("old"))}
			p.StorageClasses = append(p.StorageClasses, &storagev1.StorageClass{ObjectMeta: st.StorageClass("old").ObjectMeta})
		}, "persistent volume claim default/data waits for its volume, which storage class old makes at once"},
		{"a class that allows no topology", st.UseClaim("data"), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass("nowhere"))}
			p.StorageClasses = append(p.StorageClasses, st.StorageClass("nowhere", st.Where()))
		}, "the pod's volumes can be used nowhere"},
		{"an ephemeral volume without any class", st.Ephemeral("cache"), nil,
			"persistent volume claim default/pod-cache is not bound to a volume and names no storage class"},
		{"an ephemeral volume of a class that is not there", st.Ephemeral("cache", st.OfClass("fast")), nil,
			"storage class fast of persistent volume claim default/pod-cache does not exist"},
		{"an ephemeral volume whose claim is somebody else's", st.Ephemeral("cache", st.OfClass("waits")), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("pod-cache", st.OfClass("waits"))}
		}, "persistent volume claim default/pod-cache was not made for volume cache of pod default/pod"},
		{"an ephemeral volume whose claim is another pod's", st.Ephemeral("cache", st.OfClass("waits")), func(p *scheduling.Problem) {
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("pod-cache", st.OfClass("waits"), st.OwnedByPod("other"))}
		}, "persistent volume claim default/pod-cache was not made for volume cache of pod default/pod"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := threeZones()
			p.StorageClasses = []*storagev1.StorageClass{waits}
			if tt.objects != nil {
				tt.objects(&p)
			}
			p.Pods = []*corev1.Pod{small("pod", tt.pod), small("bystander")}
			plan := planned(t, p)
			reason := refused(plan)["pod"]
			assert.Equal(t, scheduling.ReasonVolume, reason.Code)
			assert.Equal(t, tt.want, reason.Detail)
			assert.Len(t, plan.Unschedulable, 1)
			assert.NotEmpty(t, zonesOf(plan, "bystander"))
		})
	}
}

// P137, P139, P143: bound volumes and the classes of unbound ones say where pods go.
func TestVolumesDecideTheZone(t *testing.T) {
	in := func(zones ...string) st.WhereOption { return st.Where(st.In(zoneKey, zones...)) }
	for _, tt := range []struct {
		name    string
		pod     []st.PodOption
		claims  []*corev1.PersistentVolumeClaim
		volumes []*corev1.PersistentVolume
		classes []*storagev1.StorageClass
		want    []string // nil: the pod is refused
	}{
		{name: "a volume that can be anywhere", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v")}, want: []string{"a", "b", "c"}},
		{name: "the volume's zone", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("c"))}, want: []string{"c"}},
		{name: "a driver's own name for the zone", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", st.Where(st.In(ebsZoneKey, "b")))}, want: []string{"b"}},
		{name: "any one of several terms", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("c"), in("b"))}, want: []string{"b", "c"}},
		{name: "two volumes meet where both can be", pod: []st.PodOption{st.UseClaim("data"), st.UseClaim("log")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v")), st.Claim("log", st.BoundTo("w"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("a", "b")), st.Volume("w", in("b"), in("c"))}, want: []string{"b"}},
		{name: "P138: two volumes that cannot meet", pod: []st.PodOption{st.UseClaim("data"), st.UseClaim("log")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v")), st.Claim("log", st.BoundTo("w"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("a")), st.Volume("w", in("b"))}},
		{name: "a volume and the pod's own selector", pod: []st.PodOption{st.UseClaim("data"), st.Where(st.NotIn(zoneKey, "a"))},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("a", "c"))}, want: []string{"c"}},
		{name: "a volume against the pod's own selector", pod: []st.PodOption{st.UseClaim("data"), st.Select(zoneKey, "a")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("b"))}},
		{name: "a bound claim needs no class", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"), st.OfClass("gone"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("b"))}, want: []string{"b"}},
		{name: "an unbound claim goes anywhere", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass("waits"))},
			classes: []*storagev1.StorageClass{st.StorageClass("waits")}, want: []string{"a", "b", "c"}},
		{name: "topologies that the class allows", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.OfClass("waits"))},
			classes: []*storagev1.StorageClass{st.StorageClass("waits", st.Where(st.In(ebsZoneKey, "b")), in("c"))}, want: []string{"b", "c"}},
		{name: "an ephemeral volume's class", pod: []st.PodOption{st.Ephemeral("cache", st.OfClass("waits"))},
			classes: []*storagev1.StorageClass{st.StorageClass("waits", in("b")), st.StorageClass("default", in("a"), st.DefaultClass(1))}, want: []string{"b"}},
		{name: "P143: the newest default class", pod: []st.PodOption{st.Ephemeral("cache")},
			classes: []*storagev1.StorageClass{st.StorageClass("x", in("a"), st.DefaultClass(1)), st.StorageClass("y", in("b"), st.DefaultClass(3)),
				st.StorageClass("z", in("c"), st.DefaultClass(2))}, want: []string{"b"}},
		{name: "P143: the claim of an ephemeral volume", pod: []st.PodOption{st.Ephemeral("cache", st.OfClass("waits"))},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("pod-cache", st.BoundTo("v"), st.OwnedByPod("pod"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", in("c"))},
			classes: []*storagev1.StorageClass{st.StorageClass("waits", in("a"))}, want: []string{"c"}},
		{name: "P140: a local volume's host is no new machine", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", st.Driver("kubernetes.io/local-volume"), st.Where(st.In(hostKey, "n1")))}},
		{name: "a label that no new machine has", pod: []st.PodOption{st.UseClaim("data")},
			claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))},
			volumes: []*corev1.PersistentVolume{st.Volume("v", st.Where(st.In("topology.san.example.com/rack", "r1")))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := threeZones()
			p.Claims, p.Volumes, p.StorageClasses = tt.claims, tt.volumes, tt.classes
			p.Pods = []*corev1.Pod{small("pod", tt.pod...)}
			plan := planned(t, p)
			assert.Equal(t, tt.want, zonesOf(plan, "pod"))
			if tt.want == nil {
				require.Len(t, plan.Unschedulable, 1)
				codes := []scheduling.ReasonCode{scheduling.ReasonVolume, scheduling.ReasonRequirements}
				assert.Contains(t, codes, plan.Unschedulable[0].Reasons[0].Code)
			}
		})
	}
}

// A label of volumes that a pool leaves open is set to the value that the volumes of its pods need, one value for each
// node.
func TestVolumesOpenLabelsOfPools(t *testing.T) {
	const rack = "topology.san.example.com/rack"
	p := threeZones()
	p.NodePools = []*scheduling.NodePool{st.NodePool("default", st.Where(st.Exists(rack)))}
	for _, name := range []string{"r1", "r2"} {
		p.Volumes = append(p.Volumes, st.Volume(name, st.Where(st.In(rack, name))))
		p.Claims = append(p.Claims, st.Claim(name, st.BoundTo(name)))
		p.Pods = append(p.Pods, small(name, st.UseClaim(name)))
	}
	plan := planned(t, p)
	require.Len(t, plan.Launches, 2)
	for _, l := range plan.Launches {
		assert.Equal(t, "default/"+l.Labels[rack], l.Pods[0])
	}
}

// Running nodes are matched by the very labels that the volume names.
func TestVolumesOnRunningNodes(t *testing.T) {
	node := func(name, zone string, opts ...st.NodeOption) *corev1.Node {
		return st.Node(name, append(opts, st.Allocatable(st.Cores(4), st.GiB(16)), st.Label(zoneKey, zone))...)
	}
	for _, tt := range []struct {
		name   string
		volume *corev1.PersistentVolume
		nodes  []*corev1.Node
		want   string
	}{
		{"the zone", st.Volume("v", st.Where(st.In(zoneKey, "b"))), []*corev1.Node{node("n1", "a"), node("n2", "b")}, "n2"},
		{"P140: the host of a local volume", st.Volume("v", st.Driver("kubernetes.io/local-volume"), st.Where(st.In(hostKey, "n2"))),
			[]*corev1.Node{node("n1", "a"), node("n2", "a"), node("n3", "a")}, "n2"},
		{"P140: the host of another volume", st.Volume("v", st.Where(st.In(hostKey, "n3"))),
			[]*corev1.Node{node("n1", "a"), node("n2", "a"), node("n3", "a")}, "n3"},
		{"a driver's label that the node lacks", st.Volume("v", st.Where(st.In(ebsZoneKey, "a"))), []*corev1.Node{node("n1", "a")}, ""},
		{"a driver's label that the node has", st.Volume("v", st.Where(st.In(ebsZoneKey, "a"))),
			[]*corev1.Node{node("n1", "a"), node("n2", "a", st.Label(ebsZoneKey, "a"))}, "n2"},
		{"a node in flight will get the driver's label", st.Volume("v", st.Where(st.In(ebsZoneKey, "a"))),
			[]*corev1.Node{node("n1", "b", st.OfPool("default"), st.InFlight()), node("n2", "a", st.OfPool("default"), st.InFlight())}, "n2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := threeZones()
			p.NodePools[0].Spec.Limits = st.Resources(st.Cores(0))
			p.Nodes = tt.nodes
			p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))}
			p.Volumes = []*corev1.PersistentVolume{tt.volume}
			p.Pods = []*corev1.Pod{small("pod", st.UseClaim("data"))}
			plan := planned(t, p)
			assert.Equal(t, tt.want, placementOf(plan, "pod").Node)
			if tt.want == "" {
				assert.Contains(t, plan.Unschedulable[0].Message, "the pod's volumes can be used only where")
			}
		})
	}
}

// P141: topology spread does not look at volumes. Three zones count for the spread of a
// pod whose volume is in one of them.
func TestVolumesAreNotPartOfSpread(t *testing.T) {
	p := threeZones()
	p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("v"))}
	p.Volumes = []*corev1.PersistentVolume{st.Volume("v", st.Where(st.In(zoneKey, "c")))}
	p.Pods = []*corev1.Pod{
		small("bound", st.UseClaim("data"), st.Label("app", "db"), st.Spread(zoneKey, st.Of("app", "db"), st.MinDomains(3))),
		small("free", st.Label("app", "db"), st.Spread(zoneKey, st.Of("app", "db"), st.MinDomains(3))),
	}
	plan := planned(t, p)
	assert.Empty(t, plan.Unschedulable)
	assert.Equal(t, []string{"c"}, zonesOf(plan, "bound"))
	assert.NotContains(t, zonesOf(plan, "free"), "c")
}

// P142: of pods that use a claim meant for one pod, one is placed; none while one runs.
func TestReadWriteOncePod(t *testing.T) {
	claims := []*corev1.PersistentVolumeClaim{
		st.Claim("one", st.OfClass("waits"), st.Access(corev1.ReadWriteOncePod)),
		st.Claim("two", st.OfClass("waits"), st.Access(corev1.ReadWriteOncePod)),
	}
	holds := func(name, pod string) string {
		text := "persistent volume claim default/" + name + " is ReadWriteOncePod, and pod default/" + pod + " "
		if pod == "z" {
			return text + "uses it"
		}
		return text + "comes first"
	}
	for _, tt := range []struct {
		name    string
		pods    []*corev1.Pod
		running []*corev1.Pod
		want    map[string]string // refused
	}{
		{"the first by name", []*corev1.Pod{small("b", st.UseClaim("one")), small("a", st.UseClaim("one"))}, nil,
			map[string]string{"b": holds("one", "a")}},
		{"the most urgent", []*corev1.Pod{small("a", st.UseClaim("one")), small("b", st.UseClaim("one"), st.Priority(7))}, nil,
			map[string]string{"a": holds("one", "b")}},
		{"none while another runs", []*corev1.Pod{small("a", st.UseClaim("one"))}, []*corev1.Pod{small("z", st.UseClaim("one"), st.OnNode("n"))},
			map[string]string{"a": holds("one", "z")}},
		{"one that has ended holds nothing", []*corev1.Pod{small("a", st.UseClaim("one"))},
			[]*corev1.Pod{small("z", st.UseClaim("one"), st.OnNode("n"), st.PodPhase(corev1.PodSucceeded))}, map[string]string{}},
		{"a pod that needs what another has leaves the rest", []*corev1.Pod{
			small("a", st.UseClaim("one")), small("b", st.UseClaim("one"), st.UseClaim("two")), small("c", st.UseClaim("two")),
		}, nil, map[string]string{"b": holds("one", "a")}},
		{"a pod that is refused anyway holds nothing", []*corev1.Pod{small("a", st.UseClaim("one"), st.UseClaim("none")), small("b", st.UseClaim("one"))}, nil,
			map[string]string{"a": "persistent volume claim default/none does not exist"}},
		{"in another namespace it is another claim", []*corev1.Pod{small("a", st.UseClaim("one"))},
			[]*corev1.Pod{small("z", st.Namespace("shop"), st.UseClaim("one"), st.OnNode("n"))}, map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := threeZones()
			p.Claims, p.Pods, p.Running = claims, tt.pods, tt.running
			p.StorageClasses = []*storagev1.StorageClass{st.StorageClass("waits")}
			p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(1), st.GiB(1)))}
			got := map[string]string{}
			for pod, reason := range refused(planned(t, p)) {
				assert.Equal(t, scheduling.ReasonVolume, reason.Code)
				got[pod] = reason.Detail
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// A gate is named before volumes are.
func TestGatesComeBeforeVolumes(t *testing.T) {
	p := threeZones()
	pod := small("pod", st.UseClaim("none"))
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	p.Pods = []*corev1.Pod{pod}
	reason := refused(planned(t, p))["pod"]
	assert.Equal(t, scheduling.ReasonUnsupported, reason.Code)
	assert.Contains(t, reason.Detail, "gate")
}
