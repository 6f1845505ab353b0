package offers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// TestOpenLabelValues: a label that a NodePool leaves open gets further values only where pods need more domains of it,
// because of required anti-affinity or minDomains, and only values that the NodePool allows; at most eight.
func TestOpenLabelValues(t *testing.T) {
	const key = "example.com/level"
	anti := podspec.TopologyTerm{Kind: podspec.AntiAffinityTerm, Key: key}
	spread := func(least int64) podspec.TopologyTerm {
		return podspec.TopologyTerm{Kind: podspec.SpreadTerm, Key: key, MaxSkew: 1, MinDomains: least}
	}
	wish := anti
	wish.Weight = 5
	exists := requirements.MustNew(key, requirements.Exists)
	for name, tc := range map[string]struct {
		ties    []podspec.TopologyTerm
		pods    int
		keepers []instance.ExistingAntiAffinity
		nodes   []string
		pool    requirements.Requirement
		have    []string
		want    []string
	}{
		"no term on the label":       {nil, 3, nil, nil, exists, []string{"0"}, []string{"0"}},
		"one for each pod, and more": {[]podspec.TopologyTerm{anti}, 2, nil, nil, exists, []string{"0"}, []string{"0", "1", "2"}},
		"values of other pods":       {[]podspec.TopologyTerm{anti}, 1, nil, nil, exists, []string{"b", "a", "b"}, []string{"a", "b"}},
		"not more than eight":        {[]podspec.TopologyTerm{anti}, 99, nil, nil, exists, nil, []string{"0", "1", "2", "3", "4", "5", "6", "7"}},
		"a preferred term":           {[]podspec.TopologyTerm{wish}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"a term over hosts":          {[]podspec.TopologyTerm{{Kind: podspec.AntiAffinityTerm, Key: corev1.LabelHostname}}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"as many domains as asked":   {[]podspec.TopologyTerm{spread(3)}, 9, nil, nil, exists, []string{"0"}, []string{"0", "1", "2"}},
		"no domain without need":     {[]podspec.TopologyTerm{spread(0)}, 9, nil, nil, exists, []string{"0"}, []string{"0"}},
		"a spread without minimum":   {[]podspec.TopologyTerm{anti, spread(1)}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"values of existing nodes":   {[]podspec.TopologyTerm{anti}, 1, nil, []string{"0", "2"}, exists, []string{"0"}, []string{"0", "1", "3"}},
		"anti-affinity that runs":    {nil, 0, []instance.ExistingAntiAffinity{{Term: anti}}, []string{"0"}, exists, []string{"0"}, []string{"0", "1"}},
		"the pool lists its values":  {[]podspec.TopologyTerm{anti}, 5, nil, nil, requirements.MustNew(key, requirements.In, "x", "y"), []string{"x", "y"}, []string{"x", "y"}},
		"the pool leaves some out":   {[]podspec.TopologyTerm{anti}, 1, nil, nil, requirements.MustNew(key, requirements.NotIn, "0"), nil, []string{"1", "2"}},
		"a value that the pool excludes": {
			[]podspec.TopologyTerm{anti}, 1, nil, nil, requirements.MustNew(key, requirements.NotIn, "a"), []string{"a"}, []string{"a", "0", "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := offers.NewOpenLabelValues()
			l.Want(tc.ties, tc.pods)
			var nodes []*corev1.Node
			for _, value := range tc.nodes {
				nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{key: value, "other": "1"}}})
			}
			instance.Survey(&l, tc.keepers, nodes)
			assert.Equal(t, tc.want, l.Add(tc.pool, tc.have))
		})
	}
}
