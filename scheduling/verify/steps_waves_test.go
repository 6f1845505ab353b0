package verify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestStepsPlayEachWave: pods of a wave bind while the pods of later waves are on their old nodes.
func TestStepsPlayEachWave(t *testing.T) {
	far := func(c *stepsCase) {
		// web-1 does not want to be in a zone with web-2.
		one := c.pod("web-1")
		one.Labels = map[string]string{"app": "web", "n": "1"}
		c.pod("web-2").Labels = map[string]string{"app": "web", "n": "2"}
		keepOff(one, "web")
		one.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelTopologyZone
		one.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = map[string]string{"n": "2"}
	}
	c := newStepsCase(t)
	c.plan.Steps[1].Evictions[1].To = "own"
	c.node("own").Labels[corev1.LabelTopologyZone] = "b"
	far(c)
	codes := codesOf(t, c.check())
	assert.Contains(t, codes, verify.CodeWave, "when web-1 looks for a place, web-2 is still in its zone")
	assert.NotContains(t, codes, verify.CodePodAntiAffinity, "in the end they are apart")

	c = newStepsCase(t)
	e := c.plan.Steps[1].Evictions
	e[0].Pod, e[1].Pod, e[0].To = "default/web-2", "default/web-1", "own"
	c.node("own").Labels[corev1.LabelTopologyZone] = "b"
	far(c)
	assert.NotContains(t, codesOf(t, c.check()), verify.CodeWave, "the other way round it works")
}

// TestStepsCountDomainsThatGo: the zone of a drained node counts for spreads until its last pod has gone, although the
// node receives no pods.
func TestStepsCountDomainsThatGo(t *testing.T) {
	spread := func(c *stepsCase) {
		for _, name := range []string{"web-1", "web-2"} {
			pod := st.Pod(name, st.OnNode("left"), st.Label("app", "web"), st.Requests(st.Cores(1), st.GiB(1)), st.Spread(corev1.LabelTopologyZone))
			*c.pod(name) = *pod
		}
		c.node("left").Labels[corev1.LabelTopologyZone] = "c"
		c.machine("left").Interruption = &disruption.Interruption{}
		c.plan.Steps[1].Reason = disruption.Interrupted
	}
	// Both leave zone c at once, and it is gone when they look for places: zone a may have two.
	c := newStepsCase(t)
	spread(c)
	c.cluster.PodDisruptionBudgets = nil
	c.plan.Steps[1].Evictions[1].Wave = 1
	codes := codesOf(t, c.check())
	assert.NotContains(t, codes, verify.CodeTopologySpread)
	assert.NotContains(t, codes, verify.CodeWave)

	// Three in two waves: the third still counts in zone c when the second looks for a place.
	c = newStepsCase(t)
	spread(c)
	third := c.pod("web-1").DeepCopy()
	third.Name = "web-3"
	c.cluster.Running = append(c.cluster.Running, third)
	c.plan.Steps[1].Evictions[1].Wave = 1
	c.plan.Steps[1].Evictions = append(c.plan.Steps[1].Evictions, disruption.Eviction{Pod: "default/web-3", From: "left", To: "busy", Wave: 2})
	assert.NotContains(t, codesOf(t, c.check()), verify.CodeWave, "zone a has two, and zone c one")

	for _, name := range []string{"web-1", "web-2", "web-3"} {
		c.cluster.Running = append(c.cluster.Running, st.Pod(name+"-there", st.OnNode("busy"), st.Label("app", "web")))
	}
	assert.Contains(t, codesOf(t, c.check()), verify.CodeWave, "zone a would have five, and zone c has one")
}

// TestStepsCountReservations: machines of a reservation are counted over all steps, and come back with the nodes that
// are removed.
func TestStepsCountReservations(t *testing.T) {
	reserve := func(c *stepsCase, left int64) {
		t, _ := c.cluster.Catalog.Get("c.small")
		small := t.DeepCopy()
		small.Offerings = append(small.Offerings, offerings.Offering{
			Zone: "a", CapacityType: offerings.Reserved, Price: st.Cents(1), ReservationID: "cr-1", ReservationCount: left,
		})
		large, _ := c.cluster.Catalog.Get("m.large")
		c.cluster.Catalog = st.MustCatalog(small, large)
		c.pool().Spec.Template.Spec.Requirements = nil
		l := &c.plan.Steps[2].Launches[0]
		l.Requirements = nil
		l.Options = []scheduling.LaunchOption{{InstanceType: "c.small", Zone: "a", CapacityType: offerings.Reserved, Price: st.Cents(1), ReservationID: "cr-1"}}
		l.Price = st.Cents(1)
	}
	c := newStepsCase(t)
	reserve(c, 1)
	assert.NotContains(t, codesOf(t, c.check()), verify.CodeReservation)

	c = newStepsCase(t)
	reserve(c, 0)
	assert.Contains(t, codesOf(t, c.check()), verify.CodeReservation)

	c.node("idle").Labels[offerings.CapacityTypeLabel] = "reserved"
	c.node("idle").Labels[offerings.ReservationIDLabel] = "cr-1"
	assert.NotContains(t, codesOf(t, c.check()), verify.CodeReservation, "that of idle is free again")
}
