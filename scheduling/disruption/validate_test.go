package disruption

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestValidate(t *testing.T) {
	budget := func(change func(*policyv1.PodDisruptionBudget)) func(*Planner, *Cluster) {
		return func(_ *Planner, c *Cluster) {
			b := guarding(1)
			change(b)
			c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{b}
		}
	}
	text := func(s string) *intstr.IntOrString { v := intstr.FromString(s); return &v }
	for want, spoil := range map[string]func(*Planner, *Cluster){
		`planner.now: is missing, and so is now of the problem`:                                                      func(p *Planner, c *Cluster) { p.Now, c.Now = time.Time{}, time.Time{} },
		`planner.reasons[1]: must be one of interrupted, expired, drifted, empty, underutilized, misplaced: "Empty"`: func(p *Planner, _ *Cluster) { p.Reasons = []Reason{Empty, "Empty"} },
		`planner.minSaving.perHour: is negative: "-0.000000001"`:                                                     func(p *Planner, _ *Cluster) { p.MinSaving.PerHour = -1 },
		`planner.minSaving.perMonth: is negative: "-0.000000001"`:                                                    func(p *Planner, _ *Cluster) { p.MinSaving.PerMonth = -1 },
		`planner.minSaving.share: must lie between 0 and 1: "1.5"`:                                                   func(p *Planner, _ *Cluster) { p.MinSaving.Share = 1.5 },
		`planner.minSaving.share: must lie between 0 and 1: "NaN"`:                                                   func(p *Planner, _ *Cluster) { p.MinSaving.Share = math.NaN() },
		`planner.balancedK: must be above 0, or 0 for the default of 2: "-2"`:                                        func(p *Planner, _ *Cluster) { p.BalancedK = -2 },
		`planner.balancedK: must be above 0, or 0 for the default of 2: "+Inf"`:                                      func(p *Planner, _ *Cluster) { p.BalancedK = math.Inf(1) },
		`planner.nodeCost: must be above 0, or 0 for the default of 1: "-1"`:                                         func(p *Planner, _ *Cluster) { p.NodeCost = -1 },
		`planner.minLifetime: is negative: "-1m0s"`:                                                                  func(p *Planner, _ *Cluster) { p.MinLifetime = -time.Minute },
		`machines[1].node: is missing`:                                                                               func(_ *Planner, c *Cluster) { c.Machines = []Machine{{Node: "n"}, {}} },
		`machines[n]: is there twice, as entries 0 and 2`:                                                            func(_ *Planner, c *Cluster) { c.Machines = []Machine{{Node: "n"}, {Node: "m"}, {Node: "n"}} },
		`machines[x].node: there is no node of this name: "x"`:                                                       func(_ *Planner, c *Cluster) { c.Machines = []Machine{{Node: "x"}} },
		`machines[n].expireAfter: is negative: "-1s"`: func(_ *Planner, c *Cluster) {
			c.Machines = []Machine{{Node: "n", ExpireAfter: &scheduling.NillableDuration{Duration: new(-time.Second)}}}
		},
		`machines[n].terminationGracePeriod: is negative: "-1s"`: func(_ *Planner, c *Cluster) {
			c.Machines = []Machine{{Node: "n", TerminationGracePeriod: &metav1.Duration{Duration: -time.Second}}}
		},
		`podDisruptionBudgets[0]: is missing`: func(_ *Planner, c *Cluster) { c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{nil} },
		`podDisruptionBudgets[shop/web]: is there twice, as entries 0 and 1`: func(_ *Planner, c *Cluster) {
			c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{guarding(1), guarding(2)}
		},
		`podDisruptionBudgets[0].metadata.name: is missing`: budget(func(b *policyv1.PodDisruptionBudget) { b.Name = "" }),
		`podDisruptionBudgets[shop/web].spec.selector: "~" is not a valid label selector operator`: budget(func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "~"}}
		}),
		`podDisruptionBudgets[shop/web].spec.maxUnavailable: must not be there together with minAvailable: "1"`:                 budget(func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable = b.Spec.MaxUnavailable }),
		`podDisruptionBudgets[shop/web].spec.maxUnavailable: must be a number of pods or a percentage, and not negative: "-1"`:  budget(func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable.IntVal = -1 }),
		`podDisruptionBudgets[shop/web].spec.maxUnavailable: must be a number of pods or a percentage, and not negative: "few"`: budget(func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = text("few") }),
		`podDisruptionBudgets[shop/web].spec.maxUnavailable: must not be more than 100%: "101%"`:                                budget(func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = text("101%") }),
		`podDisruptionBudgets[shop/web].spec.unhealthyPodEvictionPolicy: must be one of IfHealthyBudget, AlwaysAllow: "Never"`: budget(func(b *policyv1.PodDisruptionBudget) {
			b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.UnhealthyPodEvictionPolicyType("Never"))
		}),
		`nodes[1]: is nil`: func(_ *Planner, c *Cluster) { c.Nodes = append(c.Nodes[:1:1], nil) },
		`pods[0]: is nil`:  func(_ *Planner, c *Cluster) { c.Pods = []*corev1.Pod{nil} },
		`nodepools[default].spec.disruption.budgets[0].nodes: must be a number of nodes or a share from 0% to 100%: "many"`: func(_ *Planner, c *Cluster) {
			c.NodePools = []*scheduling.NodePool{poolWithBudgets(scheduling.Budget{Nodes: "many"})}
		},
		`alternative[0]: is nil`:           func(_ *Planner, c *Cluster) { c.Alternative = []*scheduling.NodePool{nil} },
		`solver.effort: is negative: "-1"`: func(p *Planner, _ *Cluster) { p.Policy.Effort = -1 },
	} {
		t.Run(want, func(t *testing.T) {
			p := Planner{}
			c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od), machine(t, "m", "m.large", od)})
			spoil(&p, &c)
			plan, err := p.Plan(t.Context(), c)
			require.ErrorIs(t, err, scheduling.ErrInvalid)
			assert.Nil(t, plan)
			assert.Contains(t, err.Error(), want)
			var seen []error
			for step, err := range p.Steps(t.Context(), c) {
				assert.Empty(t, step)
				seen = append(seen, err)
			}
			require.Len(t, seen, 1)
			assert.EqualError(t, seen[0], err.Error())
		})
	}
}

// All faults are reported at once, in the order of paths, those of the problem among them.
func TestValidateFindsEverything(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od), nil})
	c.Machines = []Machine{{Node: "x"}}
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{nil}
	c.NodePools = []*scheduling.NodePool{poolWithBudgets(scheduling.Budget{Nodes: "many"})}
	_, err := Planner{BalancedK: -1, Now: noon()}.Plan(t.Context(), c)
	var list *scheduling.FieldErrors
	require.ErrorAs(t, err, &list)
	var paths []string
	for _, f := range list.Errors {
		paths = append(paths, f.Path)
	}
	assert.Equal(t, []string{"machines[x].node", "nodepools[default].spec.disruption.budgets[0].nodes", "nodes[1]", "planner.balancedK", "podDisruptionBudgets[0]"}, paths)

	_, err = Planner{BalancedK: -1, Policy: scheduling.Policy{Effort: -1}}.Plan(t.Context(), c)
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	assert.ErrorContains(t, err, "planner.balancedK")
	assert.ErrorContains(t, err, "solver.effort")
}
