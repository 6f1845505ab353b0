package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// sizeable returns a valid plan of n pods in apps of 200 pods, for machines that hold eight. Of five apps two are
// spread over zones, one is spread over hosts, one has anti-affinity to its own pods and one has affinity to them. Pods
// that are spread over zones bind in the worst order: zone by zone.
func sizeable(n int) *draft {
	const size, slots = 200, 8
	d := &draft{p: scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(slots), st.GiB(16)), st.OnDemand("a", 10), st.OnDemand("b", 10), st.OnDemand("c", 10))),
		NodePools: []*scheduling.NodePool{st.NodePool("pool")},
	}}
	var machines [3][][]string
	for z := range machines {
		machines[z] = make([][]string, n/20)
	}
	var next [3]int
	put := func(z int, pod string) {
		for len(machines[z][next[z]%len(machines[z])]) == slots {
			next[z]++
		}
		at := next[z] % len(machines[z])
		machines[z][at] = append(machines[z][at], pod)
		next[z]++
	}
	for i := range n / size {
		name := fmt.Sprintf("app-%03d", i)
		rules := []change{spread(zoneOf, 1, of(name)), spread(zoneOf, 1, of(name)), spread(hostOf, 1, of(name)), apart(hostOf, of(name)), near(zoneOf, of(name))}
		pods := apps(size, name, rules[i%5])
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		for k, p := range pods {
			d.p.Pods = append(d.p.Pods, p)
			switch i % 5 {
			case 0, 1:
				put(k*3/size, p.Name)
			case 4:
				put(i/5%3, p.Name)
			default:
				put(k%3, p.Name)
			}
		}
	}
	for z, zone := range []string{"a", "b", "c"} {
		for _, pods := range machines[z] {
			if len(pods) > 0 {
				d.buys = append(d.buys, buy{pool: "pool", pods: strings.Join(pods, " "), options: []string{"m/" + zone + "/on-demand"}})
			}
		}
	}
	return d
}

// TestLargePlans: judging a plan of thousands of pods with topology terms takes seconds at most.
func TestLargePlans(t *testing.T) {
	n := 5_000
	if testing.Short() || race.Enabled {
		n = 2_000
	}
	f := sizeable(n).plan()
	start := time.Now()
	err := verify.Checker{SkipRefusals: true}.Plan(f.p, f.plan)
	t.Logf("%d pods on %d machines: %v", len(f.p.Pods), len(f.plan.Launches), time.Since(start))
	assert.NoError(t, err)
	f.pod("app-003-1").Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = zoneOf
	assert.Equal(t, broken(verify.CodePodAntiAffinity), codes(f.violations(t)))
}
