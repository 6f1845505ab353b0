package disruption

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// moveFrom is a move in short: nodes that go, machines that come with their pods, and where
// pods go from and to.
func moveFrom(drain []string, launches map[string][]string, evictions ...Eviction) *Step {
	s := &Step{Reason: Underutilized, Drain: drain, Evictions: evictions}
	for _, name := range []string{"new-1", "new-2", "new-3"} {
		if pods, ok := launches[name]; ok {
			s.Launches = append(s.Launches, scheduling.Launch{Name: name, NodePool: "new", Pods: pods, Options: []scheduling.Option{{InstanceType: "big"}, {InstanceType: "other"}}})
		}
	}
	return s
}

func unchanged(requests corev1.ResourceList, _, _ []string) corev1.ResourceList { return requests }

func TestNet(t *testing.T) {
	type list = map[string][]string
	for name, tt := range map[string]struct {
		moves    []*Step
		drains   [][]string
		launches [][]string
		to       map[string]string
		exact    int
	}{
		"moves that have nothing to do with each other stay as they are": {
			moves: []*Step{
				moveFrom([]string{"a"}, nil, Eviction{Pod: "p", From: "a", To: "z"}),
				moveFrom([]string{"b"}, list{"new-1": {"q"}}, Eviction{Pod: "q", From: "b", To: "new-1"}),
			},
			drains: [][]string{{"a"}, {"b"}}, launches: [][]string{nil, {"new-1"}}, to: map[string]string{"p": "z", "q": "new-1"}, exact: 2,
		},
		"a pod that moves twice goes at once to where it ends": {
			moves: []*Step{
				moveFrom([]string{"a"}, nil, Eviction{Pod: "p", From: "a", To: "b"}),
				moveFrom([]string{"b"}, nil, Eviction{Pod: "p", From: "b", To: "z"}, Eviction{Pod: "q", From: "b", To: "y"}),
			},
			drains: [][]string{{"a"}, {"b"}}, launches: [][]string{nil, nil}, to: map[string]string{"p": "z", "q": "y"}, exact: 0,
		},
		"a machine that goes again is never bought": {
			moves: []*Step{
				moveFrom([]string{"a"}, list{"new-1": {"p"}}, Eviction{Pod: "p", From: "a", To: "new-1"}),
				moveFrom([]string{"new-1", "b"}, list{"new-2": {"p", "q"}}, Eviction{Pod: "p", From: "new-1", To: "new-2"}, Eviction{Pod: "q", From: "b", To: "new-2"}),
			},
			drains: [][]string{{"a", "b"}}, launches: [][]string{{"new-2"}}, to: map[string]string{"p": "new-2", "q": "new-2"}, exact: 0,
		},
		"moves that need each other's machines become one": {
			moves: []*Step{
				moveFrom([]string{"a"}, list{"new-1": {"p"}}, Eviction{Pod: "p", From: "a", To: "new-1"}, Eviction{Pod: "o", From: "a", To: "c"}),
				moveFrom([]string{"b"}, nil, Eviction{Pod: "q", From: "b", To: "new-1"}),
				moveFrom([]string{"c"}, list{"new-2": {"o", "r"}}, Eviction{Pod: "o", From: "c", To: "new-2"}, Eviction{Pod: "r", From: "c", To: "new-1"}),
			},
			drains: [][]string{{"a", "c"}, {"b"}}, launches: [][]string{{"new-1", "new-2"}, nil},
			to: map[string]string{"p": "new-1", "o": "new-2", "q": "new-1", "r": "new-1"}, exact: 0,
		},
		"a machine is bought by a move whose pods go there": {
			moves: []*Step{
				moveFrom([]string{"a"}, list{"new-1": {"p"}}, Eviction{Pod: "p", From: "a", To: "new-1"}),
				moveFrom([]string{"b"}, nil, Eviction{Pod: "q", From: "b", To: "new-1"}),
				moveFrom(nil, nil, Eviction{Pod: "p", From: "new-1", To: "z"}),
			},
			drains: [][]string{{"a", "b"}}, launches: [][]string{{"new-1"}}, to: map[string]string{"p": "z", "q": "new-1"}, exact: 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			steps, exact := net(tt.moves, unchanged)
			assert.Equal(t, tt.exact, exact)
			var got [][]string
			var bought [][]string
			to := map[string]string{}
			for _, s := range steps {
				if len(s.Drain) == 0 {
					continue
				}
				var names []string
				for i := range s.Launches {
					names = append(names, s.Launches[i].Name)
				}
				got, bought = append(got, s.Drain), append(bought, names)
				for _, e := range s.Evictions {
					assert.NotContains(t, to, e.Pod, "moves once")
					assert.Contains(t, s.Drain, e.From)
					to[e.Pod] = e.To
				}
			}
			assert.Equal(t, tt.drains, got)
			assert.Equal(t, tt.launches, bought)
			assert.Equal(t, tt.to, to)
		})
	}
}

// A launch with pods that it was not bought for is only sure of its first option.
func TestTrimmed(t *testing.T) {
	l := &moveFrom(nil, map[string][]string{"new-1": {"p", "q"}}).Launches[0]
	fewer := trimmed(l, []Eviction{{Pod: "p", To: "new-1"}}, unchanged)
	assert.Equal(t, []string{"p"}, fewer.Pods)
	assert.Len(t, fewer.Options, 2)
	other := trimmed(l, []Eviction{{Pod: "x", To: "new-1"}, {Pod: "p", To: "new-1"}}, unchanged)
	assert.Equal(t, []string{"p", "x"}, other.Pods)
	assert.Len(t, other.Options, 1)
	assert.Len(t, l.Options, 2, "the launch stays as it is")
}

func TestFindRing(t *testing.T) {
	assert.Nil(t, findRing(map[int][]int{1: {2}, 2: {3}}))
	ring := findRing(map[int][]int{0: {1}, 1: {2}, 2: {3}, 3: {1}})
	require.Len(t, ring, 3)
	assert.ElementsMatch(t, []int{1, 2, 3}, ring)
}
