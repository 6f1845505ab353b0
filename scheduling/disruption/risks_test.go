package disruption

import (
	"testing"
	"time"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// A step that takes a node away whose pods may not be evicted says so of each of them, and for how long
// Karpenter waits.
func TestForcedStepsTellHowLongKarpenterWaits(t *testing.T) {
	grace := &metav1.Duration{Duration: 90 * time.Minute}
	never := "Karpenter waits for it indefinitely (no terminationGracePeriod)"
	most := "Karpenter waits for it at most 1h30m (terminationGracePeriod), then deletes it"
	for name, tc := range map[string]struct {
		pod     func(*corev1.Pod)
		machine Machine
		budgets []*policyv1.PodDisruptionBudget
		want    string
	}{
		"expired":                       {annotated("karpenter.sh/do-not-disrupt", "true"), Machine{Created: noon().Add(-999 * time.Hour)}, nil, "do-not-disrupt: asks not to be disrupted: " + never},
		"expired, for some time":        {annotated("karpenter.sh/do-not-disrupt", "30h"), Machine{Created: noon().Add(-999 * time.Hour)}, nil, "do-not-disrupt: asks not to be disrupted: Karpenter waits for it until " + noon().Add(6*time.Hour).Format(time.RFC3339)},
		"expired, no longer":            {annotated("karpenter.sh/do-not-disrupt", "23h"), Machine{Created: noon().Add(-999 * time.Hour)}, nil, ""},
		"expired, with a grace":         {annotated("karpenter.sh/do-not-disrupt", "30h"), Machine{Created: noon().Add(-999 * time.Hour), TerminationGracePeriod: grace}, nil, "do-not-disrupt: asks not to be disrupted: " + most},
		"drifted, with a grace":         {annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), Machine{Drift: "AMIDrift", TerminationGracePeriod: grace}, nil, "do-not-disrupt: asks not to be disrupted: " + most},
		"interrupted":                   {annotated("karpenter.sh/do-not-disrupt", "true"), Machine{Interruption: &Interruption{}}, nil, "do-not-disrupt: asks not to be disrupted: it is lost with its node"},
		"a budget":                      {labelled("app", "web"), Machine{Created: noon().Add(-999 * time.Hour)}, []*policyv1.PodDisruptionBudget{guarding(0)}, "pod-budget: blocked by a PodDisruptionBudget now: " + never},
		"a budget that lets one pod go": {labelled("app", "web"), Machine{Created: noon().Add(-999 * time.Hour)}, []*policyv1.PodDisruptionBudget{guarding(1)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.machine.Node = "n"
			c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.small", od)}, pod("p", "n", "500m", owned("apps/v1", "ReplicaSet"), tc.pod))
			c.Running[0].OwnerReferences[0].Controller = lo.ToPtr(true)
			c.Machines, c.PodDisruptionBudgets = []Machine{tc.machine}, tc.budgets
			plan := planned(t, Planner{Reasons: []Reason{Interrupted, Expired, Drifted}, Policy: scheduling.Policy{Effort: scheduling.EffortFast}}, c)
			require.Len(t, plan.Steps, 1)
			told := ""
			for _, r := range plan.Steps[0].Risks {
				if r.Code == RiskDoNotDisrupt || r.Code == RiskPodBudget {
					require.Equal(t, "replicaset/shop/o", r.Object)
					told += string(r.Code) + ": " + r.Detail
				}
			}
			require.Equal(t, tc.want, told)
		})
	}
}
