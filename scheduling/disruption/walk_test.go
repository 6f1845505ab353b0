package disruption

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// A walk leads where the step leads in as small steps as rules allow: here the pods of nodes
// in zones x and y are to change zones.
func TestWalk(t *testing.T) {
	places := []Eviction{{Pod: "shop/web-a", From: "a", To: "stay-y"}, {Pod: "shop/web-b", From: "b", To: "stay-x"}}
	for name, c := range map[string]struct {
		other string // what the second pod asks for
		drain []string
		steps [][]Eviction
		stay  []string
	}{
		"pods that are alike take each other's places": {
			"100m", []string{"a", "b"},
			[][]Eviction{{{Pod: "shop/web-a", From: "a", To: "stay-x"}}, {{Pod: "shop/web-b", From: "b", To: "stay-y"}}}, nil,
		},
		"others leave together": {"200m", []string{"a", "b"}, [][]Eviction{places}, nil},
		"or not at all":         {"100m", []string{"a"}, nil, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := []*corev1.Node{
				machine(t, "a", "m.large", od, standsIn("x")), machine(t, "b", "m.large", od, standsIn("y")),
				machine(t, "stay-x", "m.large", od, standsIn("x")), machine(t, "stay-y", "m.large", od, standsIn("y")),
			}
			w := world(t, pool(), nodes, pod("web-a", "a", "100m", spreadWeb), pod("web-b", "b", c.other, spreadWeb))
			s, err := newState(t.Context(), Planner{}, &w)
			require.NoError(t, err)
			f := newFrame(Planner{Now: noon()}, &w)
			for _, at := range f.subjects { // whatever the catalog sells where
				at.price, at.priced = offerings.MustPrice("0.1"), true
			}
			var got [][]Eviction
			walker := &carrier{frame: f, state: s}
			walker.emit = func(step *Step) bool {
				f.took(step)
				got = append(got, byPod(step.Evictions))
				return true
			}
			require.True(t, walker.walkable())
			step := &Step{Reason: Underutilized, Drain: c.drain}
			for _, e := range places {
				if slices.Contains(c.drain, e.From) {
					step.Evictions = append(step.Evictions, e)
				}
			}
			way, left, err := walker.walkTo(t.Context(), step, mostWalks)
			require.NoError(t, err)
			require.NoError(t, walker.repeat(way.made))
			assert.Equal(t, len(c.stay) > 0, left)
			assert.Equal(t, c.steps, got)
			for _, name := range c.drain {
				assert.Equal(t, !slices.Contains(c.stay, name), f.at[name].gone, name)
			}
		})
	}
}

// Where limits of pools count what there is on the way, the way is looked for otherwise.
func TestNoWalkWithLimits(t *testing.T) {
	p := pool()
	c := world(t, p, []*corev1.Node{machine(t, "a", "m.large", od)}, pod("web-a", "a", "100m", spreadWeb))
	walkable := func() bool {
		s, err := newState(t.Context(), Planner{}, &c)
		require.NoError(t, err)
		return (&carrier{frame: newFrame(Planner{}, &c), state: s}).walkable()
	}
	assert.True(t, walkable())
	p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: *quantity("100")}
	assert.False(t, walkable())
}

// What was bought for a group and has stayed empty is not bought, unless the group stays.
func TestReleaseOfEmptyLaunches(t *testing.T) {
	w := &walk{
		frame: &frame{}, stage: &stage{frame: &frame{}}, bought: map[string]bool{"full": true, "empty": true},
		seating: &seating{new: map[string]*scheduling.Launch{"full": {Price: 2}, "empty": {Price: 3}}},
	}
	g := &pack{bought: []string{"empty", "full"}, saving: 1}
	w.release(g, map[string][]Eviction{"full": {{Pod: "shop/web", To: "full"}}})
	assert.Equal(t, []string{"full"}, g.bought)
	assert.Equal(t, offerings.Price(4), g.saving)
	assert.Equal(t, map[string]bool{"full": true}, w.bought)
	w.stage.undo(0)
	assert.Equal(t, map[string]bool{"full": true, "empty": true}, w.bought)
}
