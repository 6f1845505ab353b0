package provisioning_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// hindrance is a problem in which pods have no place because of one thing.
type hindrance struct {
	r *rand.Rand
	scheduling.Problem
	policy scheduling.Policy
}

const (
	zoneA = "zone-a"
	zoneB = "zone-b"
)

// oneOf is one of some values.
func oneOf[T any](h *hindrance, values ...T) T { return values[h.r.IntN(len(values))] }

// wait lets some pods wait that are alike.
func (h *hindrance) wait(opts ...st.PodOption) {
	opts = append([]st.PodOption{st.Label("app", "web"), st.OwnedBy("ReplicaSet", "web"), st.Requests(st.MilliCPU(int64(100+100*h.r.IntN(9))), st.MiB(int64(128*(1+h.r.IntN(8)))))}, opts...)
	h.Pods = append(h.Pods, st.Pods(1+h.r.IntN(3), "web", opts...)...)
}

// sell lets a pool buy machines of some sizes in a zone.
func (h *hindrance) sell(zone string, opts ...st.NodePoolOption) {
	h.Catalog = st.MustCatalog(
		st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand(zone, st.Cents(10))), st.Type("large", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand(zone, st.Cents(int64(30+h.r.IntN(20))))),
	)
	h.NodePools = append(h.NodePools, st.NodePool("default", opts...))
}

// node adds a node in a zone.
func (h *hindrance) node(name, zone string, opts ...st.NodeOption) {
	h.Nodes = append(h.Nodes, st.Node(name, append([]st.NodeOption{st.Label(corev1.LabelTopologyZone, zone), st.Allocatable(st.Cores(8), st.GiB(32))}, opts...)...))
}

// hindrances are ways to keep pods from all places, by the kind of change that lifts them.
func hindrances() map[scheduling.ChangeKind][]func(h *hindrance) {
	return map[scheduling.ChangeKind][]func(h *hindrance){
		scheduling.ChangeTaint: {func(h *hindrance) {
			h.node("n", zoneA, st.Cordoned())
			h.wait()
		}, func(h *hindrance) {
			key := oneOf(h, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure, corev1.TaintNodeOutOfService)
			h.node("n", zoneA, st.Taint(key, "", corev1.TaintEffectNoSchedule), st.Taint(key, "", corev1.TaintEffectNoExecute))
			h.wait()
		}},
		scheduling.ChangeToleration: {func(h *hindrance) {
			h.sell(zoneA, st.Taint("team", "db", corev1.TaintEffectNoSchedule))
			h.wait()
		}},
		scheduling.ChangeRequest: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.Requests(st.Cores(int64(9 + h.r.IntN(9)))))
		}},
		scheduling.ChangeUnit: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.Requests(st.Cores(int64(1+h.r.IntN(9)) * 1_000_000)))
		}},
		scheduling.ChangeRoom: {func(h *hindrance) {
			h.node("n", zoneA, st.Label("rack", "7"))
			h.Running = append(h.Running, st.Pod("full", st.OnNode("n"), st.Requests(st.Cores(8))))
			h.wait()
		}},
		scheduling.ChangeSelector: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.Select(corev1.LabelTopologyZone, zoneB))
		}},
		scheduling.ChangeLimit: {func(h *hindrance) {
			h.sell(zoneA, st.Limit(st.Cores(int64(h.r.IntN(2)))))
			h.wait()
		}, func(h *hindrance) {
			h.sell(zoneA, st.MaxNodes(0))
			h.wait()
		}},
		scheduling.ChangeReplicas: {func(h *hindrance) {
			h.sell(zoneA, st.Replicas(int64(h.r.IntN(3))))
			h.wait()
		}},
		scheduling.ChangeReservation: {func(h *hindrance) {
			h.Catalog = st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Reserved(zoneA, st.Cents(1), "cr-1", 0)))
			h.NodePools = append(h.NodePools, st.NodePool("default"))
			h.wait()
		}},
		scheduling.ChangeMinValues: {func(h *hindrance) {
			h.sell(zoneA)
			least := 3
			h.NodePools[0].Spec.Template.Spec.Requirements = []requirements.Selector{{Key: corev1.LabelInstanceTypeStable, Operator: requirements.Exists, MinValues: &least}}
			h.wait()
		}},
		scheduling.ChangeNodePool: {func(h *hindrance) {
			h.sell(zoneA, st.Where(st.In(corev1.LabelInstanceTypeStable, "small")))
			h.wait(st.Requests(st.Cores(int64(3 + h.r.IntN(4)))))
		}, func(h *hindrance) {
			h.sell(zoneA)
			h.NodePools = nil
			h.wait()
		}},
		scheduling.ChangeOffering: {func(h *hindrance) {
			h.sell(zoneA)
			h.Unavailable = &offerings.Unavailable{}
			for _, name := range []string{"small", "large"} {
				h.Unavailable.Mark(offerings.Key{InstanceType: name, Zone: zoneA, CapacityType: offerings.OnDemand}, h.Now, 1<<40)
			}
			h.wait()
		}},
		scheduling.ChangeHostPort: {func(h *hindrance) {
			h.node("n", zoneA)
			h.Running = append(h.Running, st.Pod("proxy", st.OnNode("n"), st.HostPort(80)))
			h.wait(st.HostPort(80))
			h.Pods = h.Pods[:1]
		}},
		scheduling.ChangeDaemonSet: {func(h *hindrance) {
			h.sell(zoneA)
			h.DaemonSets = append(h.DaemonSets, st.DaemonSet("agent", st.Requests(st.Cores(int64(9+h.r.IntN(3))))))
			h.wait()
		}},
		scheduling.ChangeMaxSkew: {func(h *hindrance) {
			h.skewed()
			h.Nodes[0].Status.Allocatable = st.Resources(st.MilliCPU(10), st.MiB(10), st.Count(corev1.ResourcePods, 10))
			h.wait(st.Spread(corev1.LabelTopologyZone, st.Of("app", "web")))
		}},
		scheduling.ChangeNodeInclusion: {func(h *hindrance) {
			h.skewed()
			h.Nodes[0].Spec.Taints = []corev1.Taint{{Key: "team", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
			h.wait(st.Spread(corev1.LabelTopologyZone, st.Of("app", "web")))
		}},
		scheduling.ChangeMinDomains: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.Spread(corev1.LabelTopologyZone, st.Of("app", "web"), st.MinDomains(2)))
			h.Pods = append(h.Pods, st.Pods(3, "more", st.Label("app", "web"), st.OwnedBy("ReplicaSet", "web"), st.Spread(corev1.LabelTopologyZone, st.Of("app", "web"), st.MinDomains(2)))...)
		}},
		scheduling.ChangeDomain: {func(h *hindrance) {
			h.skewed()
			h.Nodes[0].Spec.Taints = []corev1.Taint{{Key: "team", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
			h.wait(st.Spread(corev1.LabelTopologyZone, st.Of("app", "web")))
		}},
		scheduling.ChangeScheduleAnyway: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.Spread("rack", st.Of("app", "web")))
		}},
		scheduling.ChangePodAffinity: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.Near(corev1.LabelTopologyZone, st.Of("app", "db")))
		}},
		scheduling.ChangePods: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.Near(corev1.LabelTopologyZone, st.Of("app", "db")))
		}},
		scheduling.ChangePodAntiAffinity: {func(h *hindrance) {
			h.node("n", zoneA)
			h.Running = append(h.Running, st.Pod("first", st.OnNode("n"), st.Label("app", "web"), st.Requests(st.MilliCPU(100))))
			h.wait(st.Apart(corev1.LabelHostname, st.Of("app", "web")))
			h.Pods = h.Pods[:1]
		}},
		scheduling.ChangeVolume: {func(h *hindrance) {
			h.sell(zoneA)
			h.stored(st.StorageClass("disk", st.Where(st.In(corev1.LabelTopologyZone, zoneB))))
		}, func(h *hindrance) {
			h.sell(zoneA)
			h.stored(st.StorageClass("disk"))
			h.onLostNode()
		}, func(h *hindrance) {
			h.sell(zoneA)
			h.stored()
			h.onLostNode()
		}, func(h *hindrance) { // the node attaches one more disk of the two, whichever volume of the pod comes first
			h.node("n", zoneA)
			h.CSINodes = []*storagev1.CSINode{st.CSINode("n", st.Count(ebs, 1))}
			h.StorageClasses = []*storagev1.StorageClass{st.StorageClass("disk"), st.StorageClass("files", st.Driver("efs.csi.aws.com"))}
			h.Claims = []*corev1.PersistentVolumeClaim{st.Claim("shared", st.OfClass("files")), st.Claim("data", st.OfClass("disk")), st.Claim("log", st.OfClass("disk"))}
			h.wait(st.UseClaim("shared"), st.UseClaim("data"), st.UseClaim("log"))
			h.Pods = h.Pods[:1]
		}},
		scheduling.ChangeClaim: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait(st.UseClaim("data"))
			h.Pods = h.Pods[:1]
		}},
		scheduling.ChangeGate: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait()
			for _, pod := range h.Pods {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
			}
		}},
		scheduling.ChangeResourceClaim: {func(h *hindrance) {
			h.sell(zoneA)
			h.wait()
			for _, pod := range h.Pods {
				pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
			}
		}},
		scheduling.ChangeNodeSize: {func(h *hindrance) {
			h.sell(zoneA)
			h.policy.Size.Largest = st.Resources(st.Cores(1))
			h.wait()
		}},
		scheduling.ChangeSpot: {func(h *hindrance) {
			h.Catalog = st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot(zoneA, st.Cents(1))))
			h.NodePools, h.policy.NoSpot = append(h.NodePools, st.NodePool("default")), true
			h.wait()
		}},
		scheduling.ChangeFlexibility: {func(h *hindrance) {
			h.Catalog = st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot(zoneA, st.Cents(1))))
			h.NodePools, h.policy.Flexibility.Types = append(h.NodePools, st.NodePool("default")), 2
			h.wait()
		}},
		scheduling.ChangeFilter: {func(h *hindrance) {
			h.sell(zoneA)
			h.policy.Filters = []instancetypes.Filter{func(t *instancetypes.InstanceType, _ offerings.Offering) bool { return t.Name == "other" }}
			h.wait()
		}},
	}
}

// skewed is a node in each of two zones, of which the second has a pod and all machines on sale.
func (h *hindrance) skewed() {
	h.sell(zoneB)
	h.node("n", zoneA)
	h.node("m", zoneB)
	h.Running = append(h.Running, st.Pod("first", st.OnNode("m"), st.Label("app", "web"), st.Requests(st.MilliCPU(100))))
}

// stored lets a pod wait that has a claim of the class disk.
func (h *hindrance) stored(classes ...*storagev1.StorageClass) {
	h.StorageClasses = classes
	h.Claims = append(h.Claims, st.Claim("data", st.OfClass("disk")))
	h.wait(st.UseClaim("data"))
	h.Pods = h.Pods[:1]
}

// onLostNode binds the claim to a volume of a node that is not there.
func (h *hindrance) onLostNode() {
	h.Claims[0] = st.Claim("data", st.OfClass("disk"), st.BoundTo("local"))
	v := st.Volume("local", st.OfClass("disk"))
	v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt"}}
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"lost"}}},
	}}}}
	h.Volumes = append(h.Volumes, v)
}

// For each reason why pods may fit nowhere, a change is proposed that removes the reason, and each change that is
// proposed places the pod. PLIMSOLL_SOAK=500 tries a thousand problems of each kind.
func TestEveryKindOfFixHolds(t *testing.T) {
	byKind := map[scheduling.ChangeKind]int{}
	for kind, ways := range hindrances() {
		for seed := range soak.Cases(2 * len(ways)) {
			h := &hindrance{r: rand.New(rand.NewPCG(seed, 0x66697865))} //nolint:gosec // a test
			h.Problem.Now, h.policy.Effort = st.Random(0, st.Size{}).Now, scheduling.EffortFast
			ways[int(seed)%len(ways)](h)
			name := fmt.Sprintf("%s, seed %d", kind, seed)
			plan, err := provisioning.Planner{Policy: h.policy}.Plan(t.Context(), h.Problem)
			require.NoError(t, err, name)
			require.NotEmpty(t, plan.Unschedulable, name)
			u := &plan.Unschedulable[0]
			require.Contains(t, kindsOf(u.Changes), kind, "%s: %s", name, u.Message)
			fixesHold(t, name, h.Problem, h.policy, plan, u, byKind)
		}
	}
	t.Log(byKind)
}

// kindsOf are the kinds of changes and of their parts.
func kindsOf(changes []scheduling.Change) (out []scheduling.ChangeKind) {
	for i := range changes {
		out = append(append(out, changes[i].Kind), kindsOf(changes[i].And)...)
	}
	return out
}
