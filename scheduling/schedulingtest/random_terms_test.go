package schedulingtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

func withTerms(seed uint64) scheduling.Problem { return Random(seed, Size{TopologyTerms: true}) }

// Topology terms are added to the problem that the same seed gives without them.
func TestTermsAreAdded(t *testing.T) {
	for seed := range soak.Cases(60) {
		plain, with := Random(seed, Size{}), withTerms(seed)
		require.Len(t, with.Pods, len(plain.Pods), "seed %d", seed)
		for i := range plain.Pods {
			assert.Empty(t, plain.Pods[i].Spec.TopologySpreadConstraints)
			assert.Empty(t, plain.Pods[i].Spec.Volumes)
			assert.Equal(t, plain.Pods[i].Spec.Containers, with.Pods[i].Spec.Containers)
			assert.Equal(t, plain.Pods[i].Labels["app"], with.Pods[i].Labels["app"])
		}
		assert.Empty(t, plain.Claims)
		assert.Len(t, with.Nodes, len(plain.Nodes))
		assert.Equal(t, Random(seed, Size{}).NodePools, with.NodePools)
	}
}

func TestTiedProblemsAreValid(t *testing.T) {
	if race.Enabled {
		t.Skip("the generators know no goroutines")
	}
	for seed := range soak.Cases(250) {
		p := withTerms(seed)
		assert.NoError(t, provisioning.Validate(&p), "seed %d", seed)
	}
}

// A generator that stops to draw something would leave it untested without a sign.
func TestTiesDrawEverything(t *testing.T) {
	if race.Enabled {
		t.Skip("the generators know no goroutines")
	}
	want := []string{
		`"maxSkew":2`, `"minDomains":2`, `"ScheduleAnyway"`, `"nodeAffinityPolicy":"Ignore"`, `"nodeTaintsPolicy":"Honor"`, `"podAffinity"`,
		`"podAntiAffinity"`, `"topologyKey":"kubernetes.io/arch"`, `"topologyKey":"example.com/`, `"topologyKey":"karpenter.sh/capacity-type"`,
		`"weight"`, `"namespaces":["shop","default"]`, `"namespaceSelector":{}`, `"matchLabelKeys"`, `"mismatchLabelKeys"`, `"labelSelector":{}`,
		`"DoesNotExist"`, `"preferredDuringSchedulingIgnoredDuringExecution"`, `"claimName"`, `"ephemeral"`, `"nowhere"`, `"ReadWriteOncePod"`,
		`"Lost"`, `"disk-of-nobody"`, `"StorageClasses"`, `"CSINodes"`, `"awsElasticBlockStore"`, `"local"`, `"DefaultSpread"`, `"Services"`,
		`"kind":"ReplicaSet"`, `"kind":"StatefulSet"`, `"kind":"ReplicationController"`, `"Namespaces"`, `"topology.ebs.csi.aws.com/zone"`,
		`"Immediate"`, `"version":"v1"`, `"version":"v2"`, `"tier":"front"`,
	}
	seen := map[string]int{}
	several := 0
	for seed := range soak.Cases(200) {
		p := withTerms(seed)
		text := string(inJSON(p))
		for _, w := range want {
			if strings.Contains(text, w) {
				seen[w]++
			}
		}
		for _, pod := range p.Pods {
			if len(pod.Spec.TopologySpreadConstraints) > 1 {
				several++
				break
			}
		}
	}
	for _, w := range want {
		assert.Positive(t, seen[w], "no problem has %s", w)
	}
	assert.Positive(t, several)
}

// No API server lets two hard constraints on one key pass.
func TestTidy(t *testing.T) {
	for seed := range soak.Cases(200) {
		for _, pod := range withTerms(seed).Pods {
			keys := map[string]bool{}
			for _, c := range pod.Spec.TopologySpreadConstraints {
				assert.False(t, keys[c.TopologyKey], "seed %d, pod %s", seed, pod.Name)
				keys[c.TopologyKey] = true
				assert.False(t, c.MinDomains != nil && c.WhenUnsatisfiable == corev1.ScheduleAnyway)
				assert.False(t, len(c.MatchLabelKeys) > 0 && c.LabelSelector == nil)
			}
		}
	}
}
