package provisioning_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// P2: the pods of a cluster without a node are pending, unless they are nominated to a node. Their PodScheduled
// condition does not matter.
func TestWhichPodsOfAClusterArePending(t *testing.T) {
	snapshot, err := manifest.Loader{}.Read("cluster.yaml", strings.NewReader(`
apiVersion: v1
kind: Pod
metadata: {name: tried, uid: a}
spec: {containers: [{name: c}]}
status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}
---
apiVersion: v1
kind: Pod
metadata: {name: untried, uid: b}
spec: {containers: [{name: c}]}
status: {nominatedNodeName: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: of-daemon, uid: c, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u1, controller: true}]}
spec: {containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: of-node, uid: d, ownerReferences: [{apiVersion: v1, kind: Node, name: n1, uid: u2, controller: true}]}
spec: {containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: bound, uid: e}
spec: {nodeName: n1, containers: [{name: c}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
`))
	require.NoError(t, err)
	var names []string
	for _, pod := range snapshot.Problem.Pods {
		names = append(names, pod.Name)
	}
	assert.ElementsMatch(t, []string{"tried", "untried"}, names)
	require.Len(t, snapshot.Problem.Running, 1)
	assert.Equal(t, "bound", snapshot.Problem.Running[0].Name)
}

// claimed plans p and writes its launches down as NodeClaims.
func claimed(t *testing.T, p scheduling.Problem) []*manifest.NodeClaim {
	t.Helper()
	claims, err := manifest.NodeClaims(planOf(t, scheduling.Policy{}, p), p.NodePools)
	require.NoError(t, err)
	return claims
}

// values returns the values that a claim requires of a label.
func values(t *testing.T, c *manifest.NodeClaim, key string) []string {
	t.Helper()
	for _, r := range c.Spec.Requirements {
		if r.Key == key {
			assert.Equal(t, requirements.In, r.Operator)
			return r.Values
		}
	}
	return nil
}

// P39: a claim allows exactly the capacity types of its options. P156: the claim of a launch from a reservation
// requires this reservation.
func TestClaimsAskForWhatTheirOptionsHave(t *testing.T) {
	p := shop(st.Pod("web", st.Requests(st.MilliCPU(3500))), st.Pod("api", st.Requests(st.MilliCPU(1500)), st.Select(corev1.LabelTopologyZone, "a")))
	claims := claimed(t, p)
	require.Len(t, claims, 2)
	for _, c := range claims {
		if len(values(t, c, corev1.LabelInstanceTypeStable)) == 1 {
			assert.Equal(t, []string{"spot"}, values(t, c, offerings.CapacityTypeLabel), "on demand in a and spot in b, together, would ask for spot in a, too")
			assert.Equal(t, []string{"b"}, values(t, c, corev1.LabelTopologyZone))
			continue
		}
		assert.Equal(t, []string{"on-demand"}, values(t, c, offerings.CapacityTypeLabel), "spot is sold in zone b only")
		assert.Equal(t, []string{"a"}, values(t, c, corev1.LabelTopologyZone))
	}

	p = shop(st.Pod("web", st.Requests(st.MilliCPU(1500)), st.Select(offerings.CapacityTypeLabel, "reserved")))
	p.Catalog = st.MustCatalog(st.Type("m.large", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(10)), st.Reserved("a", 1, "cr-1", 2), st.Reserved("b", 1, "cr-2", 0)))
	claims = claimed(t, p)
	require.Len(t, claims, 1)
	assert.Equal(t, []string{"reserved"}, values(t, claims[0], offerings.CapacityTypeLabel))
	assert.Equal(t, []string{"cr-1"}, values(t, claims[0], requirements.ReservationIDKey))
}

// P41: a claim has the taints, expiry and grace period of its pool, and the sum of the requests of its pods.
func TestClaimsCarryWhatThePoolSays(t *testing.T) {
	tolerant := st.TolerateKey("team", "")
	p := shop(st.Pod("web", st.Requests(st.MilliCPU(500)), tolerant))
	life := 48 * time.Hour
	spec := &p.NodePools[0].Spec.Template.Spec
	spec.ExpireAfter = &scheduling.NillableDuration{Duration: &life}
	spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Minute}
	spec.Taints = []corev1.Taint{{Key: "team", Effect: corev1.TaintEffectNoSchedule}}
	spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoExecute}}
	p.DaemonSets = append(p.DaemonSets, st.DaemonSet("agent", st.Requests(st.MilliCPU(100)), tolerant))
	claims := claimed(t, p)
	require.Len(t, claims, 1)
	got := claims[0].Spec
	assert.Equal(t, spec.ExpireAfter, got.ExpireAfter)
	assert.Equal(t, spec.TerminationGracePeriod, got.TerminationGracePeriod)
	assert.Equal(t, spec.Taints, got.Taints)
	assert.Equal(t, spec.StartupTaints, got.StartupTaints)
	assert.Equal(t, int64(600), got.Resources.Requests.Cpu().MilliValue())

	spec.ExpireAfter, spec.TerminationGracePeriod = nil, nil
	got = claimed(t, p)[0].Spec
	assert.Nil(t, got.ExpireAfter)
	assert.Nil(t, got.TerminationGracePeriod, "nobody else has a default to put here")
}

// Nominations of a dump are kept, and nominations that are out of date are no fault.
func TestNominationsOfAClusterAreKept(t *testing.T) {
	snapshot, err := manifest.Loader{}.Read("cluster.yaml", strings.NewReader(`
apiVersion: v1
kind: Pod
metadata: {name: kept, uid: a}
spec: {containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
status: {nominatedNodeName: n2}
---
apiVersion: v1
kind: Pod
metadata: {name: stale, uid: b}
spec: {containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
status: {nominatedNodeName: gone}
---
apiVersion: v1
kind: Pod
metadata: {name: waits-for-a-victim, uid: c}
spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: 3, memory: 1Gi}}}]}
status: {nominatedNodeName: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: victim, uid: d, deletionTimestamp: "2026-03-01T00:00:00Z"}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 3, memory: 1Gi}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
`))
	require.NoError(t, err)
	plan, err := provisioning.Planner{}.Plan(t.Context(), snapshot.Problem)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"kept": "n2", "waits-for-a-victim": "n2", "stale": "n1"}, placesOf(plan))
	assert.Contains(t, warningsOf(plan, "default/stale"), "node gone, where it is nominated, is not among the nodes")
	assert.Contains(t, warningsOf(plan, "default/waits-for-a-victim"), "node n1, where it is nominated, has no place for it")
}
