package scheduling

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Values are made up where pods keep apart, or ask for so many domains, and only where
// the pool leaves the choice.
func TestLevels(t *testing.T) {
	const key = "example.com/level"
	anti := tie{kind: antiTie, key: key}
	spread := func(least int64) tie { return tie{kind: spreadTie, key: key, maxSkew: 1, minDomains: least} }
	wish := anti
	wish.weight = 5
	exists := requirements.MustNew(key, requirements.Exists)
	for name, tc := range map[string]struct {
		ties    []tie
		pods    int
		keepers []keeper
		nodes   []string
		pool    requirements.Requirement
		have    []string
		want    []string
	}{
		"nobody asks":                {nil, 3, nil, nil, exists, []string{"0"}, []string{"0"}},
		"one for each, and others":   {[]tie{anti}, 2, nil, nil, exists, []string{"0"}, []string{"0", "1", "2"}},
		"those that others ask for":  {[]tie{anti}, 1, nil, nil, exists, []string{"b", "a", "b"}, []string{"a", "b"}},
		"not more than eight":        {[]tie{anti}, 99, nil, nil, exists, nil, []string{"0", "1", "2", "3", "4", "5", "6", "7"}},
		"a wish is none":             {[]tie{wish}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"a host is its own":          {[]tie{{kind: antiTie, key: corev1.LabelHostname}}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"as many domains as asked":   {[]tie{spread(3)}, 9, nil, nil, exists, []string{"0"}, []string{"0", "1", "2"}},
		"no domain without need":     {[]tie{spread(0)}, 9, nil, nil, exists, []string{"0"}, []string{"0"}},
		"nor for those that spread":  {[]tie{anti, spread(1)}, 2, nil, nil, exists, []string{"0"}, []string{"0"}},
		"what nodes have is taken":   {[]tie{anti}, 1, nil, []string{"0", "2"}, exists, []string{"0"}, []string{"0", "1", "3"}},
		"who runs keeps others away": {nil, 0, []keeper{{tie: anti}}, []string{"0"}, exists, []string{"0"}, []string{"0", "1"}},
		"the pool lists its values":  {[]tie{anti}, 5, nil, nil, requirements.MustNew(key, requirements.In, "x", "y"), []string{"x", "y"}, []string{"x", "y"}},
		"the pool leaves some out":   {[]tie{anti}, 1, nil, nil, requirements.MustNew(key, requirements.NotIn, "0"), nil, []string{"1", "2"}},
		"what the pool does not have": {
			[]tie{anti}, 1, nil, nil, requirements.MustNew(key, requirements.NotIn, "a"), []string{"a"}, []string{"a", "0", "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLevels()
			l.want(tc.ties, tc.pods)
			var nodes []*corev1.Node
			for _, value := range tc.nodes {
				nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{key: value, "other": "1"}}})
			}
			l.survey(tc.keepers, nodes)
			assert.Equal(t, tc.want, l.add(tc.pool, tc.have))
		})
	}
}

// What may be bought is not remembered where it hangs on what running pods keep away.
func TestKeptOff(t *testing.T) {
	for key, want := range map[string]bool{"example.com/level": true, corev1.LabelTopologyZone: false, corev1.LabelHostname: false} {
		c := &compiler{keepers: []keeper{{tie: tie{kind: antiTie, key: key}}}}
		assert.Equal(t, want, c.keptOff(), key)
	}
	assert.False(t, (&compiler{}).keptOff())
}
