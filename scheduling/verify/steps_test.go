package verify_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func isOnDemand(o offerings.Offering) bool { return o.CapacityType == offerings.OnDemand }

func TestStepsAcceptsARightPlan(t *testing.T) {
	c := newStepsCase(t)
	before, err := json.Marshal(c.cluster.Running)
	require.NoError(t, err)
	require.NoError(t, c.check())
	require.NoError(t, verify.Steps(c.cluster, c.plan))
	after, err := json.Marshal(c.cluster.Running)
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(after), "the cluster is not changed")
	assert.Len(t, c.cluster.Nodes, 5)
}

// TestStepsCountDomains covers P95: a zone counts for a spread after its last node is gone if a pool could launch
// another node there.
func TestStepsCountDomains(t *testing.T) {
	c := newStepsCase(t)
	twoZones(c)
	require.Equal(t, []verify.Code{verify.CodeTopologySpread}, codesOf(t, c.check()))
	c.cluster.Unavailable = &offerings.Unavailable{}
	c.cluster.Unavailable.Mark(offerings.Key{Zone: "b"}, c.cluster.Now, time.Hour)
	require.NoError(t, c.check())
}

func TestStepsNeedsAPlan(t *testing.T) {
	err := verify.Steps(disruption.Cluster{}, nil)
	assert.Equal(t, []verify.Code{verify.CodeNoPlan}, codesOf(t, err))
	var v verify.Violation
	assert.ErrorAs(t, err, &v)
}

// TestStepsAcceptsPrefixes: the first steps of a valid plan are valid without the other steps.
func TestStepsAcceptsPrefixes(t *testing.T) {
	for n := range 3 {
		c := newStepsCase(t)
		whole := c.plan
		cut := *whole
		cut.Steps = whole.Steps[:n]
		c.plan = &cut
		for i := range cut.Nodes {
			if v := &cut.Nodes[i]; v.Step > n {
				v.Step, v.Decision, v.Reasons = 0, disruption.Keep, []disruption.Cause{{Code: disruption.CauseDeadline, Detail: "later"}}
			}
		}
		s := &cut.Summary
		s.Frontier = s.Frontier[:n]
		last := disruption.Point{}
		if n > 0 {
			last = s.Frontier[n-1]
		}
		s.PricePerHourAfter, s.PodsMoved, s.DisruptionCost = s.PricePerHourBefore-last.SavingPerHour, last.PodsMoved, last.DisruptionCost
		s.NodesAfter, s.Launches = 4-n, 0
		assert.NoError(t, c.check(), "%d steps", n)
	}
}

func TestStepsCountsWithThePlannersCosts(t *testing.T) {
	c := newStepsCase(t)
	c.planner.NodeCost = 10
	assert.Contains(t, codesOf(t, c.check()), verify.CodeStepCost)

	c = newStepsCase(t)
	c.planner.PodCost = func(*corev1.Pod) float64 { return math.NaN() }
	assert.Contains(t, codesOf(t, c.check()), verify.CodeStepCost)
}

// TestStepsAreJudgedAtThePlannersTime: the time of the planner, not of the cluster, decides e.g. whether a node has
// expired.
func TestStepsAreJudgedAtThePlannersTime(t *testing.T) {
	c := newStepsCase(t)
	c.planner.Now = c.cluster.Now.AddDate(0, 2, 0)
	require.NoError(t, c.check())
	c.planner.Now = c.cluster.Now.AddDate(-1, 0, 0)
	zero := newStepsCase(t).pool().Spec.Disruption
	c.pool().Spec.Disruption = zero
	c.pool().Spec.Disruption.ConsolidateAfter = lasting(0)
	assert.Contains(t, codesOf(t, c.check()), verify.CodeTooSoon, "clocks disagree")
}
