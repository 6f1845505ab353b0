package requirements

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hot paths of the solver: none of these may allocate.
func TestHotPathsDoNotAllocate(t *testing.T) {
	many := make([]string, 800)
	for i := range many {
		many[i] = "m" + strconv.Itoa(i) + ".large"
	}
	long := MustNew("node.kubernetes.io/instance-type", In, many...)
	not := MustNew("node.kubernetes.io/instance-type", NotIn, many[:50]...)
	cpu := MustNew("cpu", Gt, "3").Intersect(MustNew("cpu", NotIn, "4", "5"))
	upper := MustNew("cpu", Lt, "9").Intersect(MustNew("cpu", NotIn, "6", "7", "8"))
	set := NewSet(long, cpu, MustNew("topology.kubernetes.io/zone", In, "a", "b"), MustNew("kubernetes.io/arch", NotIn, "arm64"))
	labels := map[string]string{
		"node.kubernetes.io/instance-type": "m799.large", "cpu": "16", "beta.kubernetes.io/arch": "amd64",
		"failure-domain.beta.kubernetes.io/zone": "a",
	}
	require.True(t, set.Matches(labels))
	offered := FromLabels(labels)

	var sink int
	count := func(ok bool) {
		if ok {
			sink++
		}
	}
	for name, f := range map[string]func(){
		"Has listed":          func() { count(long.Has("m400.large")) },
		"Has no integer":      func() { count(cpu.Has("not-a-number")) },
		"Has integer":         func() { count(cpu.Has("4711")) },
		"Empty":               func() { count(cpu.Empty()) },
		"Overlaps lists":      func() { count(long.Overlaps(not)) },
		"Overlaps ranges":     func() { count(cpu.Overlaps(upper)) },
		"Intersect identity":  func() { count(long.Intersect(Requirement{}).Complement()) },
		"Intersect unchanged": func() { count(cpu.Intersect(cpu).Complement()) },
		"Set.Matches":         func() { count(set.Matches(labels)) },
		"Set.Has":             func() { count(set.Has("cpu")) },
		"Set.Get":             func() { count(set.Get("cpu").Complement()) },
		"Set.Overlaps":        func() { count(set.Overlaps(offered) == nil) },
		"Set.Compatible":      func() { count(offered.Compatible(set) == nil) },
		"WellKnown":           func() { count(WellKnown().Has("kubernetes.io/arch")) },
		"Restricted":          func() { count(Restricted("karpenter.sh/nope")) },
		"NormalizeKey":        func() { count(NormalizeKey("beta.kubernetes.io/os") == "") },
		"Set.All": func() {
			for r := range set.All() {
				count(r.Complement())
			}
		},
		"Set.Intersect narrow": func() { count(set.Intersect(Set{}).Len() > 0) },
	} {
		t.Run(name, func(t *testing.T) {
			require.Zero(t, testing.AllocsPerRun(100, f))
		})
	}
	require.NotZero(t, sink)
}
