package provisioning_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// sharing is a problem with pods that want a machine each and wait for one volume.
func sharing(pods int, opts ...st.PodOption) scheduling.Problem {
	p := threeZones()
	p.StorageClasses = []*storagev1.StorageClass{st.StorageClass("waits")}
	p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("common", st.OfClass("waits"))}
	p.Pods = st.Pods(pods, "web", append(opts, st.Requests(st.MilliCPU(100), st.MiB(100)), st.Label("app", "web"), st.Apart(corev1.LabelHostname), st.UseClaim("common"))...)
	return p
}

// launchZones are the zones of all options of a plan's launches.
func launchZones(plan *scheduling.Plan) map[string]bool {
	zones := map[string]bool{}
	for i := range plan.Launches {
		for _, o := range plan.Launches[i].Options {
			zones[o.Zone] = true
		}
	}
	return zones
}

// Pods that wait for the same volume go to one zone, at any effort and deadline, and pods without a place have a
// reason.
func TestPodsMeetAtTheirVolume(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), late} {
		for _, effort := range []scheduling.Effort{scheduling.EffortFast, 20} {
			p := sharing(6)
			plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: effort}}.Plan(ctx, p)
			require.NoError(t, err)
			require.NoError(t, verify.Plan(p, plan))
			assert.Len(t, launchZones(plan), 1)
			assert.Empty(t, plan.Unschedulable)
		}
	}
}

// A zone is looked for in which all of the pods have a place, even one that none of
// them would have chosen.
func TestPodsMeetWhereAllCan(t *testing.T) {
	either := func(zone string) st.PodOption { return st.Where(st.In(zoneKey, zone, "c")) }
	p := sharing(0)
	for i, zone := range []string{"a", "b"} {
		p.Pods = append(p.Pods, sharing(1, either(zone)).Pods[0])
		p.Pods[i].Name = fmt.Sprintf("web-%d", i)
	}
	plan := planned(t, p)
	require.NoError(t, verify.Plan(p, plan))
	assert.Empty(t, plan.Unschedulable)
	assert.Equal(t, map[string]bool{"c": true}, launchZones(plan))
}

// The effect of a claim on its pods does not depend on the order of the input.
func TestMeetingsInAnyOrder(t *testing.T) {
	p := sharing(5)
	p.Claims = append(p.Claims, st.Claim("other", st.OfClass("waits")), st.Claim("third", st.OfClass("waits")))
	for i, pod := range p.Pods {
		pod.Spec.Volumes = append(pod.Spec.Volumes, st.Pod("x", st.UseClaim([]string{"other", "third"}[i%2])).Spec.Volumes...)
	}
	p.Pods[1].Spec.Volumes = p.Pods[1].Spec.Volumes[1:]
	want := solved(t, scheduling.Policy{Effort: 20}, p)
	for seed := range uint64(5) {
		assert.Equal(t, string(want), string(solved(t, scheduling.Policy{Effort: 20}, st.Shuffle(p, seed))))
	}
}

// A bound takes no zone for granted, so that the judge can follow it.
func TestBoundsOfMeetings(t *testing.T) {
	p := sharing(4, st.Where(st.In(zoneKey, "a", "b", "c")))
	p.Pods[0].Spec.NodeSelector = map[string]string{zoneKey: "c"}
	plan := planned(t, p)
	require.NoError(t, verify.Plan(p, plan))
	assert.Positive(t, plan.Summary.LowerBoundPerHour)
	assert.Equal(t, map[string]bool{"c": true}, launchZones(plan))
}

// A ReadWriteOncePod claim passes from a pod that fits nowhere to the next, at once for all equal pods.
func TestClaimsPassOn(t *testing.T) {
	p := sharing(0)
	p.Claims = []*corev1.PersistentVolumeClaim{st.Claim("common", st.OfClass("waits"), st.Access(corev1.ReadWriteOncePod))}
	p.Pods = st.Pods(30, "a-huge", st.Requests(st.Cores(500)), st.UseClaim("common"))
	p.Pods = append(p.Pods, st.Pod("b-small", st.Requests(st.Cores(1)), st.UseClaim("common")), st.Pod("c-small", st.Requests(st.Cores(1)), st.UseClaim("common")))
	plan := planned(t, p)
	require.NoError(t, verify.Plan(p, plan))
	require.Len(t, plan.Launches, 1)
	assert.Equal(t, []string{"default/b-small"}, plan.Launches[0].Pods)
	require.Len(t, plan.Unschedulable, 31)
	for _, u := range plan.Unschedulable {
		if u.Pod == "default/c-small" {
			assert.Equal(t, scheduling.ReasonVolume, u.Reasons[0].Code)
			assert.Contains(t, u.Message, "pod default/b-small comes first")
		} else {
			assert.Equal(t, scheduling.ReasonResources, u.Reasons[0].Code, u.Pod)
		}
	}
}
