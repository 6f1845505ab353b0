package requirements

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// R38, R39.
func TestNormalizeKey(t *testing.T) {
	for alias, want := range map[string]string{
		"failure-domain.beta.kubernetes.io/zone":        "topology.kubernetes.io/zone",
		"failure-domain.beta.kubernetes.io/region":      "topology.kubernetes.io/region",
		"beta.kubernetes.io/arch":                       "kubernetes.io/arch",
		"beta.kubernetes.io/os":                         "kubernetes.io/os",
		"beta.kubernetes.io/instance-type":              "node.kubernetes.io/instance-type",
		"topology.ebs.csi.aws.com/zone":                 "topology.kubernetes.io/zone",
		"topology.ebs.csi.eks.amazonaws.com/zone":       "topology.kubernetes.io/zone",
		"topology.gke.io/zone":                          "topology.kubernetes.io/zone",
		"topology.disk.csi.azure.com/zone":              "topology.kubernetes.io/zone",
		"topology.cinder.csi.openstack.org/zone":        "topology.kubernetes.io/zone",
		"topology.diskplugin.csi.alibabacloud.com/zone": "topology.kubernetes.io/zone",
	} {
		assert.Equal(t, want, NormalizeKey(alias))
		assert.Equal(t, want, NormalizeKey(want), "stable keys stay")
		assert.Contains(t, aliases(want), alias, "nodes that carry the alias alone are understood")
		assert.Equal(t, want, MustNew(alias, Exists).Key())
		assert.True(t, WellKnown().Has(alias))

		set := NewSet(MustNew(alias, In, "a", "b"), MustNew(want, In, "b", "c"))
		assert.Equal(t, want+" In [b]", set.String(), "aliases of one selector intersect")
		assert.True(t, set.Has(alias))
		assert.Equal(t, want, set.Get(alias).Key())
		assert.Zero(t, set.Without(alias).Len())
		parsed, err := Parse(alias + " In [a]")
		require.NoError(t, err)
		assert.Equal(t, want, parsed.Key())
	}
	for _, key := range []string{"", "zone", "topology.kubernetes.io/zone", "example.com/zone"} {
		assert.Equal(t, key, NormalizeKey(key))
	}
	for _, stable := range []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type"} {
		for _, alias := range aliases(stable) {
			assert.Equal(t, stable, NormalizeKey(alias))
		}
	}
	assert.Empty(t, aliases("example.com/zone"))
}

// R37.
func TestWellKnown(t *testing.T) {
	for _, key := range []string{
		"karpenter.sh/nodepool", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
		"node.kubernetes.io/instance-type", "kubernetes.io/arch", "kubernetes.io/os",
		"karpenter.sh/capacity-type", "node.kubernetes.io/windows-build",
		"karpenter.k8s.aws/instance-family", "karpenter.azure.com/sku-cpu", "karpenter.kwok.sh/instance-size",
	} {
		assert.True(t, WellKnown().Has(key), key)
		assert.False(t, Restricted(key), key)
	}
	assert.False(t, WellKnown().Has("kubernetes.io/hostname"))
	assert.False(t, WellKnown().Has("example.com/team"))

	keys := WellKnown().Keys()
	assert.Len(t, keys, WellKnown().Len())
	assert.True(t, slices.IsSorted(keys))
	keys[0] = "changed"
	assert.NotEqual(t, keys, WellKnown().Keys(), "the caller's slice is a copy")
	_ = WellKnown().With("example.com/team")
	assert.False(t, WellKnown().Has("example.com/team"))
}

func TestKeySet(t *testing.T) {
	ks := NewKeySet("b", "beta.kubernetes.io/arch", "a", "b")
	assert.Equal(t, []string{"a", "b", "kubernetes.io/arch"}, ks.Keys())
	assert.Equal(t, 3, ks.Len())
	left, right := ks.With("l"), ks.With("r")
	assert.True(t, left.Has("l") && !left.Has("r") && right.Has("r") && !right.Has("l"))
	assert.Equal(t, 3, ks.Len())
}

// R41–R44.
func TestRestricted(t *testing.T) {
	for key, want := range map[string]bool{
		"kubernetes.io/hostname":                    true,
		"karpenter.sh/initialized":                  true,
		"karpenter.sh/registered":                   true,
		"karpenter.sh/do-not-sync-taints":           true,
		"karpenter.sh/anything":                     true,
		"sub.karpenter.sh/anything":                 true,
		"a.b.karpenter.sh/anything":                 true,
		"karpenter.k8s.aws/anything":                true,
		"sub.karpenter.k8s.aws/anything":            true,
		"karpenter.azure.com/anything":              true,
		"karpenter.kwok.sh/anything":                true,
		"notkarpenter.sh/anything":                  false,
		"karpenter.sh":                              false, // no domain, only a name
		"karpenter.sh.example.com/anything":         false,
		"kubernetes.io/anything":                    false,
		"k8s.io/anything":                           false,
		"node-restriction.kubernetes.io/team":       false,
		"kops.k8s.io/instancegroup":                 false,
		"example.com/team":                          false,
		"team":                                      false,
		"":                                          false,
		"karpenter.sh/nodepool":                     false, // see R49 for NodePools
		"karpenter.sh/capacity-type":                false,
		"karpenter.k8s.aws/capacity-reservation-id": false, // pods and pools choose reservations by it
	} {
		assert.Equal(t, want, Restricted(key), key)
	}
}
