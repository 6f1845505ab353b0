package schedulingtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func tied(seed uint64) scheduling.Problem { return Random(seed, Size{Ties: true}) }

func TestTiedProblemsAreRepeatable(t *testing.T) {
	for seed := range uint64(60) {
		assert.Equal(t, tied(seed).Pods, tied(seed).Pods, "seed %d", seed)
		assert.Equal(t, Scenario(tied(seed)), Scenario(tied(seed)), "seed %d", seed)
	}
}

// What a seed gives without ties is what it gave before there were any.
func TestTiesComeOnTop(t *testing.T) {
	for seed := range uint64(60) {
		plain, with := Random(seed, Size{}), tied(seed)
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
	for seed := range uint64(1500) {
		p := tied(seed)
		assert.NoError(t, p.Validate(), "seed %d", seed)
	}
}

// A generator that stops to draw something would leave it untested without a sign.
func TestTiesDrawEverything(t *testing.T) {
	want := []string{
		"spread=(zone", "spread=(host", "spread=(capacity-type", "spread=(example.com/", "skew=2", "min=2", " soft", "affinity=ignore",
		"taints=honor", "near=(zone", "near=(host", "near=(arch", "near=(example.com/", "apart=(zone", "apart=(host", "apart=(capacity-type",
		"weight=", "ns=(shop default)", "ns-of=()", "ns-of=(team in red)", "same=version", "other=version", "of=()", "of=none",
		"of=(app in ", "of=(app not in ", "version absent", "prefer=", "claim=", "ephemeral=(scratch)", "class=nowhere", "mode=rwop",
		"lost", "half-bound=", "volume=disk-of-nobody", "classes", "csi-nodes", "driver=in-tree-ebs", "driver=local",
		"default-spread", "services", "owners", "owner=replicaset/", "owner=statefulset/", "owner=controller/", "namespaces",
		"topology.ebs.csi.aws.com/zone in ", "immediate", "version=v1", "version=v2", "tier=front",
	}
	seen := map[string]int{}
	several := 0
	for seed := range uint64(600) {
		p := tied(seed)
		text := Scenario(p)
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
	for seed := range uint64(300) {
		for _, pod := range tied(seed).Pods {
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

// A problem with ties that is written as a scenario reads back with the same pods and
// the same surroundings.
func TestTiesReadBack(t *testing.T) {
	for seed := range uint64(200) {
		p := tied(seed)
		q := read(t, Scenario(p))
		for _, kind := range []string{"claim", "volume", "storage class", "CSI node", "namespace", "service", "default spread"} {
			want, got := objectsOf(p)[kind], objectsOf(q)[kind]
			require.Len(t, got, len(want), "seed %d", seed)
			for i := range want {
				require.True(t, equality.Semantic.DeepEqual(want[i], got[i]), "seed %d, %s %d\nwant %v\ngot  %v", seed, kind, i, want[i], got[i])
			}
		}
		for i, pod := range p.Pods {
			got := q.Pods[i].Spec
			require.True(t, equality.Semantic.DeepEqual(pod.Spec.TopologySpreadConstraints, got.TopologySpreadConstraints), "seed %d", seed)
			require.True(t, equality.Semantic.DeepEqual(pod.Spec.Affinity, got.Affinity), "seed %d", seed)
			require.True(t, equality.Semantic.DeepEqual(pod.Spec.Volumes, got.Volumes), "seed %d", seed)
			require.Equal(t, pod.Labels, q.Pods[i].Labels, "seed %d", seed)
		}
	}
}

func TestMinimiseTies(t *testing.T) {
	var p scheduling.Problem
	hard := func(q scheduling.Problem) bool {
		for _, pod := range q.Pods {
			for _, c := range pod.Spec.TopologySpreadConstraints {
				if c.TopologyKey == corev1.LabelTopologyZone && c.WhenUnsatisfiable == corev1.DoNotSchedule {
					return len(q.Claims) > 0
				}
			}
		}
		return false
	}
	for seed := uint64(0); !hard(p); seed++ {
		p = tied(seed)
	}
	q := Minimise(p, hard)
	require.Len(t, q.Pods, 1)
	assert.Len(t, q.Claims, 1)
	assert.Empty(t, q.Volumes)
	assert.Empty(t, q.StorageClasses)
	assert.Empty(t, q.Namespaces)
	assert.Empty(t, q.DefaultSpread)
	assert.Empty(t, q.Pods[0].Labels)
	assert.Empty(t, q.Pods[0].Spec.Volumes)
	assert.Nil(t, q.Pods[0].Spec.Affinity)
	assert.Len(t, q.Pods[0].Spec.TopologySpreadConstraints, 1)
}
