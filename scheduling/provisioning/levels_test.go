package provisioning

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

// Values are made up where pods keep apart, or ask for so many domains, and only where
// the pool leaves the choice.
func TestLevels(t *testing.T) {
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
		"nobody asks":                {nil, 3, nil, nil, exists, []string{"0"}, []string{"0"}},
		"one for each, and others":   {[]podspec.TopologyTerm{anti}, 2, nil, nil, exists, []string{"0"}, []string{"0", "1", "2"}},
		"those that others ask for":  {[]podspec.TopologyTerm{anti}, 1, nil, nil, exists, []string{"b", "a", "b"}, []string{"a", "b"}},
		"not more than eight":        {[]podspec.TopologyTerm{anti}, 99, nil, nil, exists, nil, []string{"0", "1", "2", "3", "4", "5", "6", "7"}},
		"a wish is none":             {[]podspec.TopologyTerm{wish}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"a host is its own":          {[]podspec.TopologyTerm{{Kind: podspec.AntiAffinityTerm, Key: corev1.LabelHostname}}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"as many domains as asked":   {[]podspec.TopologyTerm{spread(3)}, 9, nil, nil, exists, []string{"0"}, []string{"0", "1", "2"}},
		"no domain without need":     {[]podspec.TopologyTerm{spread(0)}, 9, nil, nil, exists, []string{"0"}, []string{"0"}},
		"nor for those that spread":  {[]podspec.TopologyTerm{anti, spread(1)}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"what nodes have is taken":   {[]podspec.TopologyTerm{anti}, 1, nil, []string{"0", "2"}, exists, []string{"0"}, []string{"0", "1", "3"}},
		"who runs keeps others away": {nil, 0, []instance.ExistingAntiAffinity{{Term: anti}}, []string{"0"}, exists, []string{"0"}, []string{"0", "1"}},
		"the pool lists its values":  {[]podspec.TopologyTerm{anti}, 5, nil, nil, requirements.MustNew(key, requirements.In, "x", "y"), []string{"x", "y"}, []string{"x", "y"}},
		"the pool leaves some out":   {[]podspec.TopologyTerm{anti}, 1, nil, nil, requirements.MustNew(key, requirements.NotIn, "0"), nil, []string{"1", "2"}},
		"what the pool does not have": {
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
