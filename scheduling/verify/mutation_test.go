package verify_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// mutation makes the handmade plan invalid, or changes its problem, with the codes of all rules that are broken then.
type mutation struct {
	name   string
	change func(f *fixture)
	breaks []verify.Code
}

func broken(codes ...verify.Code) []verify.Code { return codes }

// mutations are all mutations, by the part of the plan that they change.
func mutations() []mutation {
	return slices.Concat(podMutations(), launchMutations(), optionMutations(), filterMutations(), nodeMutations(), summaryMutations(), betterMutations())
}

func TestMutations(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			require.False(t, seen[m.name], "two mutations have this name")
			seen[m.name] = true
			f := handmade()
			m.change(f)
			f.breaks(t, m.breaks)
		})
	}
}

// breaks checks that exactly these rules are broken.
func (f *fixture) breaks(t *testing.T, want []verify.Code) {
	t.Helper()
	got := f.violations(t)
	slices.Sort(want)
	assert.Equal(t, want, codes(got), "%v", got)
	for _, v := range got {
		assert.NotEmpty(t, v.Object)
		assert.NotEmpty(t, v.Detail)
		assert.NotContains(t, v.Error(), "\x00")
	}
}

func TestEveryCodeIsBrokenByAMutation(t *testing.T) {
	broken := make(map[verify.Code]bool)
	for _, m := range mutations() {
		for _, c := range m.breaks {
			broken[c] = true
		}
	}
	for _, m := range termMutations() {
		for _, c := range m.breaks {
			broken[c] = true
		}
	}
	for _, m := range stepsMutations() {
		broken[m.want] = true
	}
	for _, c := range verify.Codes() {
		assert.True(t, broken[c], "no mutation breaks %s", c)
		delete(broken, c)
	}
	assert.Empty(t, broken, "codes that are not listed")
}

func podMutations() []mutation {
	return []mutation{
		{"no plan", func(f *fixture) { f.plan = nil }, broken(verify.CodeNoPlan)},
		{"empty plan", func(f *fixture) { f.plan = &scheduling.Plan{} }, broken(verify.CodePodMissing, verify.CodeSummaryCounts, verify.CodeSummaryStatus)},
		{"pod dropped from a launch", func(f *fixture) {
			f.launch("default-1").Pods = []string{"shop/web-1", "shop/web-2"}
		}, broken(verify.CodePodMissing, verify.CodeLaunchRequests, verify.CodeSummaryCounts, verify.CodeSummaryResources, verify.CodeBoundUnproven)},
		{"pod dropped from a node", func(f *fixture) {
			f.plan.Existing = f.plan.Existing[1:]
		}, broken(verify.CodePodMissing, verify.CodeSummaryCounts)},
		{"refused pod dropped", func(f *fixture) { f.plan.Unschedulable = nil }, broken(verify.CodePodMissing)},
		{"pod on two machines", func(f *fixture) {
			f.plan.Existing[1].Pods = []string{"default/fly-1", "shop/web-1"}
			f.sum()
			f.plan.Summary.Pods--
		}, broken(verify.CodePodDuplicated)},
		{"pod twice on a machine", func(f *fixture) {
			l := f.launch("team-1")
			l.Pods = append(l.Pods, l.Pods[0])
			l.Requests = st.Resources(st.MilliCPU(1100), st.MiB(128), st.Count(corev1.ResourcePods, 3))
			f.plan.Summary.Resources = nil
			f.sum()
			f.plan.Summary.Pods--
		}, broken(verify.CodePodDuplicated)},
		{"pod placed and refused", func(f *fixture) {
			f.plan.Unschedulable = append(f.plan.Unschedulable, scheduling.Unschedulable{
				Pod: "shop/gpu-1", Message: "no", Reasons: []scheduling.ReasonCount{{Code: scheduling.ReasonTaints, Count: 1}}, Fixes: []string{"ask for less"},
			})
		}, broken(verify.CodePodDuplicated, verify.CodeRefusedForNothing)},
		{"unknown pod", func(f *fixture) {
			f.launch("team-1").Pods = append(f.launch("team-1").Pods, "shop/stranger")
			f.plan.Summary.Placed++
		}, broken(verify.CodePodUnknown)},
		{"pod named without its namespace", func(f *fixture) {
			f.plan.Existing[1].Pods = []string{"fly-1"}
		}, broken(verify.CodePodMissing, verify.CodePodUnknown, verify.CodeBoundUnproven)},
		{"bound pod", func(f *fixture) { f.pod("db-1").Spec.NodeName = "n1" },
			broken(verify.CodePodNotPending, verify.CodeSummaryCounts)},
		{"finished pod", func(f *fixture) { f.pod("db-1").Status.Phase = corev1.PodFailed },
			broken(verify.CodePodNotPending, verify.CodeSummaryCounts)},
		{"pod that is being deleted", func(f *fixture) { f.pod("db-1").DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} },
			broken(verify.CodePodNotPending, verify.CodeSummaryCounts)},
		{"daemon's pod", func(f *fixture) {
			f.pod("db-1").OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "logs"}}
		}, broken(verify.CodePodNotPending, verify.CodeSummaryCounts)},
		{"running pod placed again", func(f *fixture) {
			f.plan.Existing[0].Pods = []string{"default/cache", "shop/db-1"}
			f.plan.Summary.Placed++
		}, broken(verify.CodePodNotPending)},
		{"gated pod planned", func(f *fixture) {
			f.pod("db-1").Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		}, broken(verify.CodePodHeld)},
		{"pod with a resource claim planned", func(f *fixture) {
			f.pod("db-1").Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device"}}
		}, broken(verify.CodePodHeld)},
		{"no reason", func(f *fixture) { f.plan.Unschedulable[0].Reasons = nil }, broken(verify.CodeNoReason)},
		{"no fix", func(f *fixture) { f.plan.Unschedulable[0].Fixes = nil }, broken(verify.CodeNoFix)},
		{"unknown reason", func(f *fixture) { f.plan.Unschedulable[0].Reasons[0].Code = "mood" }, broken(verify.CodeNoReason)},
		{"reason that counts nothing", func(f *fixture) { f.plan.Unschedulable[0].Reasons[1].Count = 0 }, broken(verify.CodeNoReason)},
		{"no message", func(f *fixture) { f.plan.Unschedulable[0].Message = " " }, broken(verify.CodeNoMessage)},
		{"reasons unsorted", func(f *fixture) { slices.Reverse(f.plan.Unschedulable[0].Reasons) }, broken(verify.CodeUnsorted)},
		{"launches unsorted", func(f *fixture) { slices.Reverse(f.plan.Launches) }, broken(verify.CodeUnsorted)},
		{"nodes unsorted", func(f *fixture) { slices.Reverse(f.plan.Existing) }, broken(verify.CodeUnsorted)},
		{"pods of a launch unsorted", func(f *fixture) { slices.Reverse(f.launch("default-1").Pods) }, broken(verify.CodeUnsorted)},
		{"pods of a node unsorted", func(f *fixture) {
			f.p.Pods = append(f.p.Pods, st.Pod("a", st.Requests(st.MilliCPU(1))))
			f.plan.Existing[1].Pods = []string{"default/fly-1", "default/a"}
			f.sum()
		}, broken(verify.CodeUnsorted)},
	}
}

func launchMutations() []mutation {
	return []mutation{
		{"all pods of a workload on one machine", func(f *fixture) {
			f.p.Services = []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}}}
			for i := range 3 {
				f.pod(fmt.Sprintf("web-%d", i+1)).Labels = map[string]string{"app": "web"}
			}
			f.solver.WorkloadShare = 99
		}, broken(verify.CodeWorkloadShare)},
		{"too many pods of a SpotPolicy on spot nodes", func(f *fixture) {
			f.p.SpotPolicies = []*scheduling.SpotPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "two"}, Spec: scheduling.SpotPolicySpec{
				PodSelector: &metav1.LabelSelector{}, Namespaces: []string{"default"}, MinOnDemand: 2,
			}}}
			f.plan.Summary.SpotShares = []scheduling.SpotShare{{Policy: "two", Pods: 3, MinOnDemand: 2, OnDemand: 1, Spot: 2}}
		}, broken(verify.CodeSpotShare, verify.CodeSpotPolicy)},
		{"too few spot options", func(f *fixture) { f.solver.Flexibility.Options = 3 }, broken(verify.CodeFlexibility)},
		{"too few families of spot machines", func(f *fixture) { f.solver.Flexibility = scheduling.Flexibility{Options: 2, Types: 2, Families: 3} }, broken(verify.CodeFlexibility)},
		{"too few zones of spot machines", func(f *fixture) { f.solver.Flexibility.Zones = 2 }, broken(verify.CodeFlexibility)},
		{"name empty", func(f *fixture) { f.launch("team-1").Name = "" }, broken(verify.CodeLaunchName)},
		{"name taken", func(f *fixture) { f.launch("team-1").Name = "gpu-1" }, broken(verify.CodeLaunchName)},
		{"machine without pods", func(f *fixture) {
			l := *f.launch("team-1")
			l.Name, l.Pods = "team-2", nil
			l.Requests = st.Resources(st.MilliCPU(100), st.MiB(128), st.Count(corev1.ResourcePods, 1))
			f.plan.Launches = append(f.plan.Launches, l)
			f.plan.Summary.Resources = nil
			f.sum()
		}, broken(verify.CodeLaunchEmpty)},
		{"price lowered", func(f *fixture) {
			f.launch("gpu-1").Price = st.Cents(1)
			f.sum()
		}, broken(verify.CodeLaunchPrice)},
		{"price of the second option", func(f *fixture) {
			f.launch("default-1").Price = st.Cents(10)
			f.sum()
		}, broken(verify.CodeLaunchPrice)},
		{"request forged", func(f *fixture) { f.launch("default-1").Requests[corev1.ResourceCPU] = quantity("1500m") }, broken(verify.CodeLaunchRequests)},
		{"request missing", func(f *fixture) { delete(f.launch("gpu-1").Requests, gpus) }, broken(verify.CodeLaunchRequests)},
		{"request invented", func(f *fixture) { f.launch("default-1").Requests["example.com/fpga"] = quantity("1") }, broken(verify.CodeLaunchRequests)},
		{"requests without daemons", func(f *fixture) {
			f.launch("gpu-1").Requests = st.Resources(st.Cores(1), st.Count(gpus, 1), st.Count(corev1.ResourcePods, 1))
		}, broken(verify.CodeLaunchRequests)},
		{"pool label dropped", func(f *fixture) { delete(f.launch("default-1").Labels, "tier") }, broken(verify.CodeLaunchLabels)},
		{"pool label changed", func(f *fixture) { f.launch("default-1").Labels["tier"] = "db" }, broken(verify.CodeLaunchLabels)},
		{"label of another pool", func(f *fixture) { f.launch("default-1").Labels[scheduling.NodePoolLabel] = "gpu" }, broken(verify.CodeLaunchLabels)},
		{"label that the pool does not give", func(f *fixture) { f.launch("default-1").Labels[team] = "red" }, broken(verify.CodeLaunchLabels)},
		{"open label not chosen", func(f *fixture) { f.launch("team-1").Labels = nil },
			broken(verify.CodeLaunchLabels, verify.CodePoolRequirements, verify.CodeNodeAffinity)},
		{"open label with a value that the pool excludes", func(f *fixture) {
			f.pool("team").Spec.Template.Spec.Requirements[0] = st.In(team, "blue", "green")
		}, broken(verify.CodeLaunchLabels, verify.CodePoolRequirements)},
		{"open label with no label value", func(f *fixture) {
			f.launch("team-1").Labels[team] = "red!"
		}, broken(verify.CodeLaunchLabels, verify.CodeNodeAffinity)},
		{"taints dropped", func(f *fixture) { f.launch("gpu-1").Taints = nil }, broken(verify.CodeLaunchTaints)},
		{"taint with another value", func(f *fixture) { f.launch("gpu-1").Taints[0].Value = "x" }, broken(verify.CodeLaunchTaints)},
		{"start-up taints dropped", func(f *fixture) { f.launch("default-1").StartupTaints = nil }, broken(verify.CodeLaunchTaints)},
		{"requirement that an option does not meet", func(f *fixture) {
			f.launch("default-1").Requirements[0] = st.In(typeOf, "small")
		}, broken(verify.CodeLaunchRequirements)},
		{"requirement on a label that nothing has", func(f *fixture) {
			f.launch("gpu-1").Requirements = append(f.launch("gpu-1").Requirements, st.Exists("example.com/none"))
		}, broken(verify.CodeLaunchRequirements)},
		{"pool's requirement on the region not carried", func(f *fixture) {
			team := f.pool("team")
			team.Spec.Template.Spec.Requirements = append(team.Spec.Template.Spec.Requirements, st.In(corev1.LabelTopologyRegion, "r1"))
		}, broken(verify.CodeLaunchRequirements)},
		{"pool's requirement on the region carried too widely", func(f *fixture) {
			team := f.pool("team")
			team.Spec.Template.Spec.Requirements = append(team.Spec.Template.Spec.Requirements, st.In(corev1.LabelTopologyRegion, "r1"))
			f.launch("team-1").Requirements = []requirements.Selector{st.In(corev1.LabelTopologyRegion, "r1", "r2")}
		}, broken(verify.CodeLaunchRequirements)},
		{"unknown pool", func(f *fixture) {
			f.launch("team-1").NodePool = "zebra"
			f.sum()
			f.plan.Summary.Resources = nil
		}, broken(verify.CodePoolUnknown)},
		{"static pool", func(f *fixture) {
			f.launch("team-1").NodePool = "static"
			f.sum()
		}, broken(verify.CodePoolClosed, verify.CodeLaunchLabels)},
		{"pool that is being deleted", func(f *fixture) {
			f.pool("gpu").DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}, broken(verify.CodePoolClosed)},
		{"options dropped", func(f *fixture) {
			f.launch("team-1").Options = nil
			f.plan.Summary.Resources = nil
			f.sum()
		}, broken(verify.CodeNoOptions)},
		{"more options than allowed", func(f *fixture) { f.solver.MaxOptions = 4 }, broken(verify.CodeTooManyOptions)},
		{"more options than allowed, best effort", func(f *fixture) {
			f.solver.MaxOptions = 4
			f.solver.MinValues = scheduling.MinValuesBestEffort
		}, broken(verify.CodeTooManyOptions)},
		{"options cut below minValues", func(f *fixture) { f.launch("default-1").Options = f.launch("default-1").Options[:3] }, broken(verify.CodeMinValues)},
		{"minValues raised", func(f *fixture) {
			f.pool("default").Spec.Template.Spec.Requirements[0] = st.AtLeast(3, st.Exists(typeOf))
		}, broken(verify.CodeMinValues)},
		{"minValues on zones", func(f *fixture) {
			f.pool("gpu").Spec.Template.Spec.Requirements = []requirements.Selector{st.AtLeast(2, st.Exists(zoneOf))}
		}, broken(verify.CodeMinValues)},
		{"limit exceeded", func(f *fixture) { f.pool("default").Spec.Limits[corev1.ResourceCPU] = quantity("3999m") }, broken(verify.CodeLimits)},
		{"limit exceeded by another option", func(f *fixture) { f.pool("default").Spec.Limits[corev1.ResourceCPU] = quantity("9999m") }, broken(verify.CodeLimits)},
		{"limit on nodes exceeded", func(f *fixture) { f.pool("default").Spec.Limits[scheduling.NodesResource] = quantity("1") }, broken(verify.CodeLimits)},
		{"limit on prices exceeded", func(f *fixture) {
			f.pool("default").Spec.Limits[scheduling.PriceResource] = quantity("0.001")
		}, broken(verify.CodeLimits)},
		{"limit on devices exceeded", func(f *fixture) { f.pool("gpu").Spec.Limits = st.Resources(st.Count(gpus, 0)) }, broken(verify.CodeLimits)},
		{"reservation used up", func(f *fixture) { f.p.Catalog = withReservation(f.p.Catalog, 0) },
			broken(verify.CodeReservation)},
		{"a node takes more of the reservation than is left", func(f *fixture) {
			f.p.Catalog = remade(f.p.Catalog, func(_ *instancetypes.InstanceType, o *offerings.Offering) {
				if o.Counted() {
					o.ReservationCount, o.ReservationUse = 1000, 1001
				}
			})
		}, broken(verify.CodeReservation)},
	}
}

// withReservation returns the catalog with that many machines left in cr-1.
func withReservation(c *instancetypes.Catalog, count int64) *instancetypes.Catalog {
	return remade(c, func(_ *instancetypes.InstanceType, o *offerings.Offering) {
		if o.CapacityType == offerings.Reserved {
			o.ReservationCount = count
		}
	})
}

// remade returns the catalog with its offerings changed.
func remade(c *instancetypes.Catalog, change func(*instancetypes.InstanceType, *offerings.Offering)) *instancetypes.Catalog {
	var types []*instancetypes.InstanceType
	for t := range c.All() {
		t = t.DeepCopy()
		for i := range t.Offerings {
			change(t, &t.Offerings[i])
		}
		types = append(types, t)
	}
	return st.MustCatalog(types...)
}
