package verify_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// TestGoodPlans changes the handmade plan in ways that keep it valid, because a checker that refuses every plan would
// pass the tests of mutations.
func TestGoodPlans(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(f *fixture)
	}{
		{"a limit that is met exactly, by the largest option (P69)", func(f *fixture) {
			f.pool("default").Spec.Limits[corev1.ResourceCPU] = quantity("10")
		}},
		{"a limit on nodes that is met exactly", func(f *fixture) {
			f.pool("default").Spec.Limits[scheduling.NodesResource] = quantity("2")
		}},
		{"limits of a pool that cannot launch may be exceeded already", func(f *fixture) {
			f.pool("static").Spec.Limits = st.Resources(st.Cores(0))
			f.node("n1").Labels[scheduling.NodePoolLabel] = "static"
			f.node("n1").Labels[scheduling.RegisteredLabel] = "true"
			f.node("n1").Labels[scheduling.InitializedLabel] = "true"
		}},
		{"a node that is being deleted no longer counts towards limits", func(f *fixture) {
			n := f.node("n2")
			n.Labels[scheduling.NodePoolLabel] = "default"
			n.Labels[scheduling.InitializedLabel] = "true"
			n.DeletionTimestamp = &metav1.Time{}
			f.pool("default").Spec.Limits[scheduling.NodesResource] = quantity("2")
		}},
		{"pool labels by name of an alias (R38)", func(f *fixture) {
			f.pool("default").Spec.Template.Metadata.Labels["beta.kubernetes.io/arch"] = "amd64"
			f.launch("default-1").Labels[corev1.LabelArchStable] = "amd64"
		}},
		{"label of the node class (P35)", func(f *fixture) {
			f.pool("default").Spec.Template.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: "g.io", Kind: "EC2NodeClass", Name: "main"}
			f.launch("default-1").Labels["g.io/ec2nodeclass"] = "main"
			requireTerm(f.pod("web-1"), st.In("g.io/ec2nodeclass", "main"))
		}},
		{"a pod that asks for its pool by name", func(f *fixture) {
			f.pod("web-1").Spec.NodeSelector = map[string]string{scheduling.NodePoolLabel: "default"}
		}},
		{"a pod that asks for a node that is ready", func(f *fixture) {
			f.pod("web-1").Spec.NodeSelector = map[string]string{scheduling.InitializedLabel: "true"}
		}},
		{"a pod that shuns a label that the pool does not define (R33)", func(f *fixture) {
			requireTerm(f.pod("web-1"), st.NotIn(team, "red"), st.DoesNotExist(role), st.NotIn(corev1.LabelHostname, "n1"))
		}},
		{"a pod that asks for the zone by an alias (R38)", func(f *fixture) {
			requireTerm(f.pod("gpu-1"), st.In("topology.ebs.csi.aws.com/zone", "a"))
		}},
		{"a pod that asks for a region, which only the provider knows (R32)", func(f *fixture) {
			f.pod("web-1").Spec.NodeSelector = map[string]string{corev1.LabelTopologyRegion: "r1"}
			requireTerm(f.pod("web-2"), st.NotIn(corev1.LabelTopologyRegion, "r2"))
			f.launch("default-1").Requirements = append(f.launch("default-1").Requirements, st.In(corev1.LabelTopologyRegion, "r1"))
		}},
		{"a pool that asks for a region, and a pod that does", func(f *fixture) {
			f.pool("team").Spec.Template.Spec.Requirements = append(f.pool("team").Spec.Template.Spec.Requirements, st.In(corev1.LabelTopologyRegion, "r1", "r2"))
			requireTerm(f.pod("red-1"), st.In(team, "red"), st.In(corev1.LabelTopologyRegion, "r2"))
			f.launch("team-1").Requirements = []requirements.Selector{st.In(corev1.LabelTopologyRegion, "r2")}
		}},
		{"a soft taint of a pool", func(f *fixture) {
			taints := []corev1.Taint{{Key: "example.com/soft", Effect: corev1.TaintEffectPreferNoSchedule}}
			f.pool("default").Spec.Template.Spec.Taints = taints
			f.launch("default-1").Taints = taints
		}},
		{"host ports on different addresses", func(f *fixture) {
			f.pod("web-1").Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, HostIP: "10.0.0.1"}}
			f.pod("web-2").Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, HostIP: "10.0.0.2"}}
		}},
		{"host port of a daemon that does not run there (P93)", func(f *fixture) {
			f.p.DaemonSets[1].Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 9400}}
			f.pod("web-1").Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 9400}}
		}},
		{"minValues that cannot be met, best effort (P66)", func(f *fixture) {
			f.solver.MinValues = scheduling.MinValuesBestEffort
			f.pool("default").Spec.Template.Spec.Requirements[0] = st.AtLeast(40, st.Exists(typeOf))
		}},
		{"more options than the limit because minValues needs the last", func(f *fixture) {
			f.solver.MaxOptions = 1
			f.launch("default-1").Options = f.launch("default-1").Options[:4]
			f.launch("team-1").Options = f.launch("team-1").Options[:1]
		}},
		{"as many options as the limit", func(f *fixture) { f.solver.MaxOptions = 5 }},
		{"options in any order under the diversified strategy", func(f *fixture) {
			f.solver.Ranking.Strategy = offerings.Diversified
			l := f.launch("default-1")
			l.Options[1], l.Options[4] = l.Options[4], l.Options[1]
		}},
		{"an offering that failed long ago", func(f *fixture) {
			f.p.Unavailable = &offerings.Unavailable{}
			f.p.Unavailable.Mark(offerings.Key{InstanceType: "small"}, f.p.Now.Add(-time.Hour), 0)
		}},
		{"a catalog of a pool's own", func(f *fixture) {
			f.p.PoolCatalogs = map[string]*instancetypes.Catalog{"gpu": f.p.Catalog}
			f.p.Catalog = remade(f.p.Catalog, func(*instancetypes.InstanceType, *offerings.Offering) {})
		}},
		{"a reservation that another pool counts lower (P149) and that suffices", func(f *fixture) {
			f.p.PoolCatalogs = map[string]*instancetypes.Catalog{"team": withReservation(f.p.Catalog, 1)}
			f.p.Catalog = withReservation(f.p.Catalog, 5)
		}},
		{"a pod in another namespace than the default", func(f *fixture) { f.pod("fly-1").Namespace = "default" }},
		{"pods that are not to be placed", func(f *fixture) {
			f.p.Pods = append(f.p.Pods, nil, st.Pod("bound", st.OnNode("n2")), st.Pod("ended", st.PodPhase(corev1.PodFailed)),
				st.Pod("daemon", st.OwnedByDaemonSet("logs")))
		}},
		{"pods in the order of namespaces, which is not that of their names as text", func(f *fixture) {
			f.p.Pods = append(f.p.Pods, st.Pod("x", st.Namespace("a"), st.Requests(st.MilliCPU(1))), st.Pod("w", st.Namespace("a-b"), st.Requests(st.MilliCPU(1))))
			f.plan.Existing[1].Pods = []string{"a/x", "a-b/w", "default/fly-1"}
			f.sum()
		}},
		{"pods in the order of their names as text", func(f *fixture) {
			f.p.Pods = append(f.p.Pods, st.Pod("x", st.Namespace("a"), st.Requests(st.MilliCPU(1))), st.Pod("w", st.Namespace("a-b"), st.Requests(st.MilliCPU(1))))
			f.plan.Existing[1].Pods = []string{"a-b/w", "a/x", "default/fly-1"}
			f.sum()
		}},
		{"sums of nothing", func(f *fixture) {
			s := &f.plan.Summary
			s.Pools = append(s.Pools, scheduling.Share{Name: "static"})
			s.CapacityTypes = append(s.CapacityTypes, scheduling.Share{})
			s.Resources = append(s.Resources, scheduling.ResourceUse{Resource: "example.com/fpga"})
		}},
		{"no fix for what is held", func(f *fixture) {
			f.plan.Unschedulable[0].Fixes = nil
			f.pod("big-1").Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device"}}
			f.because("big-1", "resource claim device is not modelled")
		}},
		{"a resource claim by its own name", func(f *fixture) {
			f.pod("big-1").Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimName: new("big-gpu")}}
			f.because("big-1", "resource claim big-gpu is not modelled")
		}},
		{"no split of resources", func(f *fixture) { f.plan.Summary.Resources = nil }},
		{"no bound and no certificate", func(f *fixture) {
			f.plan.Summary.Certificate = nil
			f.claim(0)
		}},
		{"a deadline", func(f *fixture) { f.plan.Summary.Status = scheduling.StatusDeadline }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := handmade()
			tc.change(f)
			assert.Empty(t, f.violations(t))
		})
	}
}

// TestNothingToDo: for a problem without pending pods the empty plan is valid.
func TestNothingToDo(t *testing.T) {
	f := &fixture{plan: &scheduling.Plan{Summary: scheduling.Summary{Status: scheduling.StatusOptimal}}}
	assert.Empty(t, f.violations(t))
	f.p.Pods = []*corev1.Pod{nil, st.Pod("gone", st.PodPhase(corev1.PodSucceeded))}
	assert.Empty(t, f.violations(t))
}

// TestBetterPlacesAreNotImagined: a refused pod, or one in a pool of a lower weight, is no violation where another rule
// may be the reason, e.g. a limit of the better pool.
func TestBetterPlacesAreNotImagined(t *testing.T) {
	refuseRed := func(f *fixture) {
		f.plan.Launches = f.plan.Launches[:3]
		f.plan.Unschedulable = append(f.plan.Unschedulable, scheduling.Unschedulable{
			Pod: "shop/red-1", Message: "no", Reasons: []scheduling.ReasonCount{{Code: scheduling.ReasonLimits, Count: 1}}, Fixes: []string{"ask for less"},
		})
		f.plan.Summary.Resources = nil
		f.claim(0)
	}
	raise := func(f *fixture) {
		w := int32(20)
		f.pool("team").Spec.Weight = &w
	}
	for _, tc := range []struct {
		name   string
		change func(f *fixture)
	}{
		{"the pool is being deleted", func(f *fixture) {
			refuseRed(f)
			f.pool("team").DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}},
		{"the daemons alone do not fit", func(f *fixture) {
			refuseRed(f)
			f.p.DaemonSets = append(f.p.DaemonSets, st.DaemonSet("hungry", st.Requests(st.GiB(64)), st.Where(st.Exists(team))))
		}},
		{"nobody looks", func(f *fixture) { refuseRed(f); f.skip = true }},
		{"another option would use up the limit of the pool of a higher weight", func(f *fixture) {
			raise(f)
			f.pool("team").Spec.Limits = st.Resources(st.Cores(9))
			f.launch("team-1").Options = append(f.launch("team-1").Options, option("large", "a", offerings.Spot, 12))
		}},
		{"the pool of a higher weight is tainted", func(f *fixture) {
			raise(f)
			taints := []corev1.Taint{{Key: "example.com/hard", Effect: corev1.TaintEffectNoSchedule}}
			f.pool("team").Spec.Template.Spec.Taints = taints
			f.launch("team-1").Taints = taints
			f.pod("red-1").Spec.Tolerations = []corev1.Toleration{{Key: "example.com/hard", Operator: corev1.TolerationOpExists}}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := handmade()
			tc.change(f)
			assert.Empty(t, f.violations(t))
		})
	}
}
