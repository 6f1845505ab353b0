package schedulingtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestAuditPassesAnErrorOn(t *testing.T) {
	p := Random(1, Size{})
	p.Pods = append(p.Pods, nil)
	plan, err := Audit(t.Context(), scheduling.Policy{}, p)
	assert.Nil(t, plan)
	assert.ErrorIs(t, err, scheduling.ErrInvalid)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan, err = Audit(ctx, scheduling.Policy{}, Random(1, Size{}))
	assert.Nil(t, plan)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestBreachesNoticeABadPlan(t *testing.T) {
	p := Random(3, Size{Pools: 1})
	solver := scheduling.Policy{Effort: scheduling.EffortFast}
	plan, err := Audit(t.Context(), solver, p)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Launches)
	assert.NoError(t, breaches(solver, p, plan))
	assert.EqualError(t, breaches(solver, p, nil), "neither a plan nor an error")

	plan.Summary.LowerBoundPerHour = plan.Summary.PricePerHour + 1
	assert.ErrorContains(t, breaches(solver, p, plan), "exceeds the price")

	plan.Launches = plan.Launches[1:]
	assert.ErrorContains(t, breaches(solver, p, plan), "pod-missing")
}

func TestRepeatsNoticesAnotherPlan(t *testing.T) {
	p := Random(3, Size{})
	err := repeats(t.Context(), scheduling.Policy{Effort: scheduling.EffortFast}, p, []byte(`{"launches":[]}`))
	assert.ErrorContains(t, err, "solving in another order gives another plan: at byte ")
}

func TestReadsBack(t *testing.T) {
	assert.ErrorContains(t, readsBack([]byte(`{"launches":7}`)), "does not read back")
	assert.ErrorContains(t, readsBack([]byte(`{"unheard":"of"}`)), "changes when it is read and written")
}

// Every part of a problem that a planner could change shows in the text that is compared.
func TestInJSONShowsEveryChange(t *testing.T) {
	p := Random(7, Size{TopologyTerms: true})
	p.Unavailable = &offerings.Unavailable{}
	require.NotEmpty(t, p.NodePools)
	changes := map[string]func(){
		"a pod":      func() { p.Pods[0].Labels["new"] = "label" },
		"a pool":     func() { p.NodePools[0].Spec.Limits = Resources(Cores(1_000_000)) },
		"the order":  func() { p.Pods = p.Pods[1:] },
		"the prices": func() { first(p.Catalog).Offerings[0].Price++ },
		"failures":   func() { p.Unavailable.Mark(offerings.Key{InstanceType: "y"}, p.Now, 0) },
	}
	for name, change := range changes {
		before := inJSON(p)
		change()
		assert.NotEqual(t, string(before), string(inJSON(p)), name)
	}
}

func first(c *instancetypes.Catalog) *instancetypes.InstanceType {
	for t := range c.All() {
		return t
	}
	return nil
}
