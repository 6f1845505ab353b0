package provisioning_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// shop is a small problem: one pool, two sizes in two zones, and pods.
func shop(pods ...*corev1.Pod) scheduling.Problem {
	return scheduling.Problem{
		Pods:      pods,
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog: st.MustCatalog(
			st.Type("m.large", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(10)), st.OnDemand("b", st.Cents(12))),
			st.Type("m.xlarge", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(20)), st.Spot("b", st.Cents(9))),
		),
	}
}

// planOf solves p with a solver.
func planOf(t *testing.T, s scheduling.Policy, p scheduling.Problem) *scheduling.Plan {
	t.Helper()
	plan, err := provisioning.Planner{Policy: s}.Plan(t.Context(), p)
	require.NoError(t, err)
	return plan
}

// P16: no pod comes first for being older or for its identity: neither changes the
// plan. Between equal claims the names decide.
func TestAgeAndIdentityOfPodsDoNotMatter(t *testing.T) {
	for seed := range soak.Cases(40) {
		p := st.Random(700_000+seed, st.Size{})
		want := solved(t, scheduling.Policy{Effort: 20}, p)
		for i, pod := range p.Pods {
			pod = pod.DeepCopy()
			pod.UID = types.UID("uid-" + string(rune('a'+(i*7)%26)) + pod.Name)
			pod.CreationTimestamp = metav1.Unix(int64(1_700_000_000+(i*7919)%1009), 0)
			p.Pods[i] = pod
		}
		assert.Equal(t, string(want), string(solved(t, scheduling.Policy{Effort: 20}, p)), "seed %d", seed)
	}
}

// P12, P13: a deadline ends the search, and the plan that comes back is whole: every
// pod stands in it, with a place or with a reason.
func TestDeadlineLosesNoPod(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	ended := 0
	for seed := range uint64(60) {
		p := st.Random(710_000+seed, st.Size{Pods: 30, TopologyTerms: seed%2 == 1})
		plan, err := provisioning.Planner{}.Plan(late, p)
		require.NoError(t, err, "seed %d", seed)
		var got []string
		for pod := range plan.Placements() {
			got = append(got, pod.String())
		}
		for i := range plan.Unschedulable {
			got = append(got, plan.Unschedulable[i].Pod)
			assert.NotEmpty(t, plan.Unschedulable[i].Reasons, "seed %d: %s", seed, plan.Unschedulable[i].Pod)
		}
		var want []string
		for _, pod := range p.Pods {
			if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
				want = append(want, pod.Namespace+"/"+pod.Name)
			}
		}
		assert.ElementsMatch(t, want, got, "seed %d", seed)
		if plan.Summary.Status == scheduling.StatusDeadline {
			ended++
		}
	}
	assert.Positive(t, ended, "some plan says that the deadline ended its search")
}

// P15: without settings, wishes are respected and minValues hold strictly.
func TestSettingsByDefault(t *testing.T) {
	wishing := shop(st.Pods(3, "web", st.Requests(st.MilliCPU(1500)), st.Prefer(10, requirements.Selector{Key: corev1.LabelTopologyZone, Operator: requirements.In, Values: []string{"a"}}))...)
	stated := scheduling.Policy{Preferences: scheduling.PreferencesRespect, MinValues: scheduling.MinValuesStrict, Weights: scheduling.WeightStrict}
	assert.Equal(t, planOf(t, stated, wishing), planOf(t, scheduling.Policy{}, wishing))
	assert.NotEqual(t, planOf(t, scheduling.Policy{Preferences: scheduling.PreferencesIgnore}, wishing), planOf(t, scheduling.Policy{}, wishing))

	three := 3
	floored := shop(st.Pod("web", st.Requests(st.MilliCPU(1500))))
	floored.NodePools[0].Spec.Template.Spec.Requirements = []requirements.Selector{{Key: corev1.LabelInstanceTypeStable, Operator: requirements.Exists, MinValues: &three}}
	assert.Len(t, planOf(t, scheduling.Policy{}, floored).Unschedulable, 1)

	// P44: a launch against minValues says so.
	effort := planOf(t, scheduling.Policy{MinValues: scheduling.MinValuesBestEffort}, floored)
	require.Len(t, effort.Launches, 1)
	assert.True(t, effort.Launches[0].MinValuesRelaxed)
	three = 2
	assert.False(t, planOf(t, scheduling.Policy{MinValues: scheduling.MinValuesBestEffort}, floored).Launches[0].MinValuesRelaxed)
}

// P37: machines that do not exist yet have no name. No launch says or asks which host
// it is, be its pods kept apart by host or spread over hosts.
func TestLaunchesNameNoHost(t *testing.T) {
	apart := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{},
	}}}}
	pods := st.Pods(3, "web", st.Requests(st.MilliCPU(100)))
	for _, pod := range pods {
		pod.Spec.Affinity = apart
	}
	plan := planOf(t, scheduling.Policy{}, shop(pods...))
	require.Len(t, plan.Launches, 3)
	for i := range plan.Launches {
		assert.NotContains(t, plan.Launches[i].Labels, corev1.LabelHostname)
		for _, r := range plan.Launches[i].Requirements {
			assert.NotEqual(t, corev1.LabelHostname, r.Key)
		}
	}
}

// P174: a pod with a resource claim is refused, and the reason names the claim; other pods are planned. P94: a
// DaemonSet with such a claim takes its room, as its requests are known.
func TestResourceClaims(t *testing.T) {
	claims := []corev1.PodResourceClaim{{Name: "accelerator"}}
	claiming := st.Pod("train", st.Requests(st.MilliCPU(500)))
	claiming.Spec.ResourceClaims = claims
	p := shop(claiming, st.Pod("web", st.Requests(st.MilliCPU(500))))
	daemon := st.DaemonSet("driver", st.Requests(st.MilliCPU(300)))
	daemon.Spec.Template.Spec.ResourceClaims = claims
	p.DaemonSets = append(p.DaemonSets, daemon)

	plan := planOf(t, scheduling.Policy{}, p)
	require.Len(t, plan.Unschedulable, 1)
	assert.Equal(t, "default/train", plan.Unschedulable[0].Pod)
	assert.Equal(t, scheduling.ReasonUnsupported, plan.Unschedulable[0].Reasons[0].Code)
	assert.Contains(t, plan.Unschedulable[0].Message, "accelerator")
	require.Len(t, plan.Launches, 1)
	assert.Equal(t, []string{"default/web"}, plan.Launches[0].Pods)
	assert.Equal(t, int64(800), plan.Launches[0].Requests.Cpu().MilliValue())
}

// P90: the pods of a DaemonSet are tied to their nodes by name; that is not how the
// DaemonSet chooses nodes, and so it comes to new machines, too.
func TestDaemonPodsAreTiedToTheirNodes(t *testing.T) {
	p := shop(st.Pod("web", st.Requests(st.MilliCPU(1900))))
	p.DaemonSets = append(p.DaemonSets, st.DaemonSet("agent", st.Requests(st.MilliCPU(50))))
	p.Nodes = append(p.Nodes, st.Node("n1", st.Allocatable(st.Cores(1), st.GiB(4), st.Count("pods", 110))))
	running := st.Pod("agent-1", st.OnNode("n1"), st.OwnedByDaemonSet("agent"), st.Requests(st.MilliCPU(70)))
	running.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}}}}},
	}}}
	p.Running = append(p.Running, running)
	plan := planOf(t, scheduling.Policy{}, p)
	require.Len(t, plan.Launches, 1)
	assert.Equal(t, int64(1970), plan.Launches[0].Requests.Cpu().MilliValue())
}

// T4: two taints of a pool with one key and effect are a fault of the input, wherever
// they stand. Which of them was meant is not guessed.
func TestTaintsThereTwice(t *testing.T) {
	p := shop(st.Pod("web"))
	p.NodePools[0].Spec.Template.Spec.Taints = []corev1.Taint{{Key: "team", Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	p.NodePools[0].Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "team", Value: "b", Effect: corev1.TaintEffectNoSchedule}}
	_, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	assert.ErrorContains(t, err, "spec.template.spec.startupTaints[0]")

	p.NodePools[0].Spec.Template.Spec.StartupTaints[0].Effect = corev1.TaintEffectNoExecute
	assert.NoError(t, provisioning.Validate(&p), "another effect is another taint")
}

// S10: a pod that is being deleted, has ended or has a node is not to be placed. The caller adds the pods that will
// replace it.
func TestPodsThatNeedNoPlace(t *testing.T) {
	p := shop(st.Pod("web", st.Requests(st.MilliCPU(500))), st.Pod("going", st.Deleting()), st.Pod("done", st.PodPhase(corev1.PodSucceeded)), st.Pod("failed", st.PodPhase(corev1.PodFailed)))
	plan := planOf(t, scheduling.Policy{}, p)
	assert.Equal(t, 1, plan.Summary.Pods)
	require.Len(t, plan.Launches, 1)
	assert.Equal(t, []string{"default/web"}, plan.Launches[0].Pods)
	assert.Equal(t, offerings.CapacityType("spot"), plan.Launches[0].Options[0].CapacityType)
}

// P35: a machine of a pool has the labels of the pool's name and of its node class, and
// a pod may select either. The pool's own requirements are in the launch.
func TestLabelsOfPoolAndNodeClass(t *testing.T) {
	p := shop(
		st.Pod("classy", st.Requests(st.MilliCPU(500)), st.Select("karpenter.k8s.aws/ec2nodeclass", "large-disks")),
		st.Pod("lost", st.Requests(st.MilliCPU(500)), st.Select("karpenter.k8s.aws/ec2nodeclass", "other")),
	)
	special := st.NodePool("special", st.Where(requirements.Selector{Key: corev1.LabelTopologyZone, Operator: requirements.In, Values: []string{"b"}}))
	special.Spec.Template.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "large-disks"}
	p.NodePools = append(p.NodePools, special)
	plan := planOf(t, scheduling.Policy{}, p)
	require.Len(t, plan.Unschedulable, 1)
	assert.Equal(t, "default/lost", plan.Unschedulable[0].Pod)
	require.Len(t, plan.Launches, 1)
	l := plan.Launches[0]
	assert.Equal(t, []string{"default/classy"}, l.Pods)
	assert.Equal(t, "special", l.Labels[scheduling.NodePoolLabel])
	assert.Equal(t, "b", l.Options[0].Zone)
	assert.Contains(t, l.Requirements, requirements.Selector{Key: corev1.LabelTopologyZone, Operator: requirements.In, Values: []string{"b"}})
}
