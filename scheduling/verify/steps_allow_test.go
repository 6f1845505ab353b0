package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestStepsAllow changes the plan or its cluster in ways that look like a violation of the code and are none; the code
// must not be reported. The comments name the numbered rule that allows it.
func TestStepsAllow(t *testing.T) {
	const doNotDisrupt = "karpenter.sh/do-not-disrupt"
	for _, tc := range []struct {
		name string
		do   func(c *stepsCase)
		not  verify.Code
	}{
		{"what goes makes room in limits for what comes, to the last unit (P68)", func(c *stepsCase) { c.pool().Spec.Limits = st.Resources(st.Cores(6)) }, verify.CodeLimits},
		{"only true keeps nodes (D7)", func(c *stepsCase) { annotate(c.node("idle"), doNotDisrupt, "false") }, verify.CodeDoNotDisrupt},
		{"the time of doNotDisrupt is over (S12)", func(c *stepsCase) {
			start := metav1.NewTime(c.cluster.Now.Add(-time.Hour))
			annotate(c.pod("web-1"), doNotDisrupt, "60m")
			c.pod("web-1").Status.StartTime = &start
		}, verify.CodeDoNotDisrupt},
		{"no duration (S12)", func(c *stepsCase) { annotate(c.pod("web-1"), doNotDisrupt, "soon") }, verify.CodeDoNotDisrupt},
		{"not above nothing (S12)", func(c *stepsCase) { annotate(c.pod("web-1"), doNotDisrupt, "-1h") }, verify.CodeDoNotDisrupt},
		{"finished pods block nothing (D9)", func(c *stepsCase) {
			pod := st.Pod("done", st.OnNode("left"), st.PodPhase(corev1.PodSucceeded))
			annotate(pod, doNotDisrupt, "true")
			c.cluster.Running = append(c.cluster.Running, pod)
		}, verify.CodeDoNotDisrupt},
		{"drift with a grace period (D13)", func(c *stepsCase) {
			annotate(c.pod("web-1"), doNotDisrupt, "true")
			drift(c, "left", 1)
			c.machine("left").TerminationGracePeriod = &metav1.Duration{}
		}, verify.CodeDoNotDisrupt},
		{"drift with the pool's grace period (D13)", func(c *stepsCase) {
			*c.cluster.PodDisruptionBudgets[0].Spec.MaxUnavailable = intstr.FromInt32(0)
			drift(c, "left", 1)
			c.pool().Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{}
		}, verify.CodePodBudget},
		{"drift does not ask for policies (D23)", func(c *stepsCase) {
			c.pool().Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{}
			c.plan.Steps = c.plan.Steps[1:2]
			drift(c, "left", 0)
		}, verify.CodePolicy},
		{"nobody counts for a budget elsewhere (D10)", func(c *stepsCase) {
			b := st.DisruptionBudget("web", map[string]string{"app": "web"}, intstr.FromInt32(0))
			b.Namespace = "elsewhere"
			c.cluster.PodDisruptionBudgets = append(c.cluster.PodDisruptionBudgets, b)
		}, verify.CodePodBudget},
		{"a budget without a selector is about nobody", func(c *stepsCase) {
			b := st.DisruptionBudget("none", nil, intstr.FromInt32(0))
			b.Spec.Selector = nil
			c.cluster.PodDisruptionBudgets = append(c.cluster.PodDisruptionBudgets, b)
		}, verify.CodePodBudget},
		{"ill pods may always go (D11)", func(c *stepsCase) {
			always := policyv1.AlwaysAllow
			c.cluster.PodDisruptionBudgets[0].Spec.UnhealthyPodEvictionPolicy = &always
			*c.cluster.PodDisruptionBudgets[0].Spec.MaxUnavailable = intstr.FromInt32(0)
			for _, name := range []string{"web-1", "web-2"} {
				c.pod(name).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			}
		}, verify.CodePodBudget},
		{"pods that tolerate it are not evicted (D12)", func(c *stepsCase) {
			*c.cluster.PodDisruptionBudgets[0].Spec.MaxUnavailable = intstr.FromInt32(0)
			for _, name := range []string{"web-1", "web-2"} {
				c.pod(name).Spec.Tolerations = []corev1.Toleration{{Key: scheduling.DisruptedTaint, Operator: corev1.TolerationOpExists}}
			}
		}, verify.CodePodBudget},
		{"expired nodes go whatever says no (D92)", func(c *stepsCase) {
			annotate(c.node("left"), doNotDisrupt, "true")
			c.machine("left").ExpireAfter = lasting(time.Hour)
			c.plan.Steps[1].Reason = disruption.Expired
		}, verify.CodeDoNotDisrupt},
		{"expired nodes need no budget (D92)", func(c *stepsCase) {
			c.pool().Spec.Disruption.Budgets[0].Nodes = "0"
			c.machine("left").ExpireAfter = lasting(time.Hour)
			c.plan.Steps = c.plan.Steps[1:2]
			c.plan.Steps[0].Reason = disruption.Expired
		}, verify.CodeNodeBudget},
		{"interrupted nodes may leave pods behind", func(c *stepsCase) {
			c.machine("left").Interruption = &disruption.Interruption{}
			c.plan.Steps[1].Reason = disruption.Interrupted
			c.plan.Steps[1].Evictions[1].To = ""
		}, verify.CodeLanding},
		{"two zones become one, of which the plan warns where it cannot be helped", func(c *stepsCase) {
			twoZones(c)
			c.machine("big").Interruption = &disruption.Interruption{}
			c.plan.Steps[2].Reason = disruption.Interrupted
			assert.Contains(t, codesOf(t, c.check()), verify.CodeTopologySpread)
			c.plan.Warnings = append(c.plan.Warnings, scheduling.Warning{Object: "node/big"})
		}, verify.CodeTopologySpread},
		{"a budget for other reasons (D29)", func(c *stepsCase) {
			c.pool().Spec.Disruption.Budgets = append(c.pool().Spec.Disruption.Budgets, scheduling.Budget{Nodes: "0", Reasons: []string{"Drifted"}})
		}, verify.CodeNodeBudget},
		{"a window that is over (D33)", func(c *stepsCase) {
			c.pool().Spec.Disruption.Budgets = append(c.pool().Spec.Disruption.Budgets, scheduled("0", "0 11 * * *", 60)...)
		}, verify.CodeNodeBudget},
		{"consolidateAfter has passed to the second (D24)", func(c *stepsCase) {
			c.pool().Spec.Disruption.ConsolidateAfter = lasting(time.Hour)
		}, verify.CodeTooSoon},
		{"daemons are left where they are", func(c *stepsCase) {
			c.cluster.Running = append(c.cluster.Running, st.Pod("daemon", st.OnNode("left"), st.OwnedByDaemonSet("d")))
		}, verify.CodeEvictionMissing},
		{"pods of kubelets are left where they are", func(c *stepsCase) {
			pod := st.Pod("mirror", st.OnNode("left"))
			annotate(pod, corev1.MirrorPodAnnotationKey, "file")
			c.cluster.Running = append(c.cluster.Running, pod)
		}, verify.CodeEvictionMissing},
		{"pods being deleted need no place (S10)", func(c *stepsCase) {
			c.cluster.Running = append(c.cluster.Running, st.Pod("old", st.OnNode("left"), st.Deleting()))
		}, verify.CodeEvictionMissing},
		{"no bound, no proof", func(c *stepsCase) { c.plan.Summary.Certificate = &certificate.Certificate{Kind: "odd"} }, verify.CodeCertificateMalformed},
	} {
		t.Run(strings.ReplaceAll(tc.name, " ", "-"), func(t *testing.T) {
			c := newStepsCase(t)
			tc.do(c)
			assert.NotContains(t, codesOf(t, c.check()), tc.not)
		})
	}
	t.Run("pods of StatefulSets that are being deleted need a place (S10)", func(t *testing.T) {
		c := newStepsCase(t)
		c.cluster.Running = append(c.cluster.Running, st.Pod("old", st.OnNode("left"), st.OwnedBy("StatefulSet", "s"), st.Deleting()))
		assert.Contains(t, codesOf(t, c.check()), verify.CodeEvictionMissing)
	})
}

// drift makes the node drift, and gives the step that reason.
func drift(c *stepsCase, node string, step int) {
	c.machine(node).Drift = "AMIDrift"
	c.plan.Steps[step].Reason = disruption.Drifted
}

func annotate(o metav1.Object, key, value string) {
	o.SetAnnotations(map[string]string{key: value})
}

// TestStepsKnowDrift covers D85 and D87: each kind of drift is found, also where the cluster does not state it.
func TestStepsKnowDrift(t *testing.T) {
	for name, do := range map[string]func(c *stepsCase){
		"it is told": func(c *stepsCase) { c.machine("idle").Drift = "AMIDrift" },
		"the template has changed": func(c *stepsCase) {
			annotate(c.pool(), "karpenter.sh/nodepool-hash", "1")
			c.pool().Annotations["karpenter.sh/nodepool-hash-version"] = "v3"
			c.machine("idle").Annotations = map[string]string{"karpenter.sh/nodepool-hash": "2", "karpenter.sh/nodepool-hash-version": "v3"}
		},
		"the requirements have changed": func(c *stepsCase) { c.node("idle").Labels[offerings.CapacityTypeLabel] = "spot" },
		"a label is missing": func(c *stepsCase) {
			c.pool().Spec.Template.Spec.Requirements = append(c.pool().Spec.Template.Spec.Requirements, st.In("disk", "ssd"))
		},
		"the type is gone": func(c *stepsCase) {
			c.planner.LiveCatalog, c.node("idle").Labels[corev1.LabelInstanceTypeStable] = true, "gone"
		},
		"the zone is gone": func(c *stepsCase) {
			c.planner.LiveCatalog, c.node("idle").Labels[corev1.LabelTopologyZone] = true, "z"
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			c := newStepsCase(t)
			c.plan.Steps = c.plan.Steps[:1]
			c.plan.Steps[0].Reason = disruption.Drifted
			assert.Contains(t, codesOf(t, c.check()), verify.CodeStepReason)
			do(c)
			assert.NotContains(t, codesOf(t, c.check()), verify.CodeStepReason)
		})
	}
	t.Run("another version of hashes tells nothing", func(t *testing.T) {
		c := newStepsCase(t)
		c.plan.Steps[0].Reason = disruption.Drifted
		annotate(c.pool(), "karpenter.sh/nodepool-hash", "1")
		c.pool().Annotations["karpenter.sh/nodepool-hash-version"] = "v3"
		c.machine("idle").Annotations = map[string]string{"karpenter.sh/nodepool-hash": "2", "karpenter.sh/nodepool-hash-version": "v2"}
		assert.Contains(t, codesOf(t, c.check()), verify.CodeStepReason)
	})
	t.Run("catalogs may lag behind for an hour, and those that are not live for ever", func(t *testing.T) {
		c := newStepsCase(t)
		c.plan.Steps[0].Reason = disruption.Drifted
		c.node("idle").Labels[corev1.LabelInstanceTypeStable] = "gone"
		assert.Contains(t, codesOf(t, c.check()), verify.CodeStepReason)
		c.planner.LiveCatalog = true
		c.machine("idle").Created = c.cluster.Now.Add(-time.Hour)
		assert.Contains(t, codesOf(t, c.check()), verify.CodeStepReason)
	})
}

// TestStepsKnowExpiry covers D92: nodes expire after the time that their machine says, or else their pool, or else 720
// hours.
func TestStepsKnowExpiry(t *testing.T) {
	for _, tc := range []struct {
		name          string
		age           time.Duration
		machine, pool *scheduling.NillableDuration
		want          bool
	}{
		{"by default", 720 * time.Hour, nil, nil, true},
		{"not before", 720*time.Hour - 1, nil, nil, false},
		{"by the pool", time.Hour, nil, lasting(time.Hour), true},
		{"never by the pool", 9999 * time.Hour, nil, &scheduling.NillableDuration{}, false},
		{"by the machine", time.Hour, lasting(time.Hour), lasting(2 * time.Hour), true},
		{"never by the machine", 9999 * time.Hour, &scheduling.NillableDuration{}, lasting(time.Hour), false},
	} {
		t.Run(strings.ReplaceAll(tc.name, " ", "-"), func(t *testing.T) {
			c := newStepsCase(t)
			c.plan.Steps[0].Reason = disruption.Expired
			m := c.machine("idle")
			m.Created, m.ExpireAfter = c.cluster.Now.Add(-tc.age), tc.machine
			c.pool().Spec.Template.Spec.ExpireAfter = tc.pool
			if tc.want {
				assert.NotContains(t, codesOf(t, c.check()), verify.CodeStepReason)
			} else {
				assert.Contains(t, codesOf(t, c.check()), verify.CodeStepReason)
			}
		})
	}
}
