package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

func TestSpotPolicies(t *testing.T) {
	const group = "plimsoll-go.github.io/v1"
	read := func(spec string) (*manifest.Snapshot, error) {
		return manifest.Loader{}.Read("x.yaml", strings.NewReader(object(group, "SpotPolicy", "web", spec)))
	}
	s, err := read("{podSelector: {matchLabels: {app: web}}, namespaces: [shop], maxSpotPercent: 60, minOnDemand: 2}")
	require.NoError(t, err)
	policy := s.Problem.SpotPolicies[0]
	require.Equal(t, "web", policy.Name)
	require.Equal(t, []any{"web", "shop", int32(60), int32(2)},
		[]any{policy.Spec.PodSelector.MatchLabels["app"], policy.Spec.Namespaces[0], *policy.Spec.MaxSpotPercent, policy.Spec.MinOnDemand})
	for spec, want := range map[string]string{
		"{maxSpotPercent: 60}":                                                          "spec.podSelector: is missing; {} selects all pods",
		"{podSelector: {}}":                                                             "spec.maxSpotPercent: is missing, and so is minOnDemand: the policy bounds nothing",
		"{podSelector: {}, maxSpotPercent: 101}":                                        `spec.maxSpotPercent: must lie between 0 and 100: "101"`,
		"{podSelector: {}, maxSpotPercent: -1}":                                         `spec.maxSpotPercent: must lie between 0 and 100: "-1"`,
		"{podSelector: {}, minOnDemand: -1}":                                            `spec.minOnDemand: is negative: "-1"`,
		"{podSelector: {}, minOnDemand: 1.5}":                                           "spec.minOnDemand: 1.5 is not a whole number of 32 bits",
		"{podSelector: {matchLabels: {app: '?'}}, minOnDemand: 1}":                      `spec.podSelector.matchLabels.app: is no label value`,
		"{podSelector: {matchExpressions: [{key: a, operator: Near}]}, minOnDemand: 1}": `spec.podSelector.matchExpressions[0].operator`,
		"{podSelector: {}, minOnDemand: 1, namespaces: ['A shop']}":                     `spec.namespaces[0]: is no name of a namespace: "A shop"`,
	} {
		_, err := read(spec)
		require.ErrorContains(t, err, want, spec)
	}
	s, err = read("{podSelector: {}, minOnDemand: 1, minSpotPools: 3}")
	require.NoError(t, err)
	require.Contains(t, s.Warnings[0].Message, "spec.minSpotPools")
}

// A limit on the price of nodes may have cents, other than limits on devices.
func TestLimitOnPrices(t *testing.T) {
	read := func(name string) (*manifest.Snapshot, error) {
		return manifest.Loader{}.Read("x.yaml", strings.NewReader(object("karpenter.sh/v1", "NodePool", "web", `{limits: {`+name+`: "12.5"}}`)))
	}
	s, err := read(string(scheduling.PriceResource))
	require.NoError(t, err)
	limit := s.Problem.NodePools[0].Spec.Limits[scheduling.PriceResource]
	require.Zero(t, limit.Cmp(resource.MustParse("12.5")))
	_, err = read("nvidia.com/gpu")
	require.ErrorContains(t, err, `spec.limits[nvidia.com/gpu]: "12.5" is not a whole number`)
}
