package nodegroups_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/nodegroups"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// randomWorld has groups of all kinds, some nodes with pods, some under way, and pending pods.
func randomWorld(dice *rand.Rand) *world {
	w := newWorld()
	for range 1 + dice.IntN(5) {
		cores := int64(2 << dice.IntN(4))
		zone := string(rune('a' + dice.IntN(3)))
		most := dice.IntN(6)
		g := nodegroups.Group{
			ID: fmt.Sprintf("g%d", len(w.Groups)), Max: most, Min: dice.IntN(most + 1),
			Template: template(fmt.Sprintf("type-%d", cores), zone, cores, fmt.Sprintf("%.3f", float64(cores)*(0.04+0.01*float64(dice.IntN(3))))), Atomic: dice.IntN(5) == 0,
		}
		if dice.IntN(4) == 0 {
			g.ID = "https://cloud/groups/" + g.ID
		}
		if dice.IntN(4) == 0 {
			g.Template.Spec.Taints = []corev1.Taint{{Key: "team", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		}
		w.Groups = append(w.Groups, g)
		if dice.IntN(2) == 0 { // a similar one
			other := g
			other.ID, other.Template = g.ID+"-other-zone", g.Template.DeepCopy()
			other.Template.Labels[corev1.LabelTopologyZone] = "d"
			w.Groups = append(w.Groups, other)
		}
	}
	if dice.IntN(3) == 0 {
		w.Problem.DaemonSets = append(w.Problem.DaemonSets, st.DaemonSet("agent", st.Requests(st.MilliCPU(100)), st.TolerateAll()))
	}
	for g := range w.Groups {
		most := w.Groups[g].Max
		if w.Groups[g].Atomic {
			if dice.IntN(2) == 0 {
				w.join(g, most, 100)
			}
			continue
		}
		for w.Groups[g].Target < most && dice.IntN(2) == 0 {
			w.join(g, 1, []int64{100, 300, 700}[:dice.IntN(4)]...)
		}
		w.Groups[g].Target = min(most, w.Groups[g].Target+dice.IntN(3)/2)
	}
	for _, node := range w.Problem.Nodes {
		switch dice.IntN(12) {
		case 0:
			node.DeletionTimestamp = &metav1.Time{Time: w.Problem.Now}
		case 1:
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "ToBeDeletedByClusterAutoscaler", Effect: corev1.TaintEffectNoSchedule})
		case 2:
			node.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
		case 3:
			node.CreationTimestamp, node.Status.Conditions = metav1.Time{Time: w.Problem.Now}, nil
		}
	}
	for i, pod := range w.Problem.Running {
		switch dice.IntN(8) {
		case 0:
			pod.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
		case 1:
			pod.OwnerReferences = nil
		case 2:
			w.Problem.Running[i].Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
	}
	for i := range 1 + dice.IntN(4) {
		opts := []st.PodOption{st.Label("app", fmt.Sprint(i))}
		switch dice.IntN(5) {
		case 0:
			opts = append(opts, st.Select(corev1.LabelTopologyZone, "b"))
		case 1:
			opts = append(opts, st.TolerateAll())
		case 2:
			opts = append(opts, st.Spread(corev1.LabelTopologyZone))
		case 3:
			opts = append(opts, st.Apart(corev1.LabelHostname))
		}
		w.wait(fmt.Sprintf("p%d", i), dice.IntN(8), 100+100*dice.Int64N(30), opts...)
	}
	return w
}

// Groups of all kinds keep their limits, each pending pod is accounted for once, and independent code agrees with the plans
// (ScaleUp and ScaleDown return its findings as errors).
func TestRandomGroups(t *testing.T) {
	n := 150
	if testing.Short() {
		n = 30
	}
	grew, balanced, atomic, shrank := 0, 0, 0, 0
	for seed := range uint64(n) {
		dice := rand.New(rand.NewPCG(seed, 7))
		w := randomWorld(dice)
		p := nodegroups.Planner{Prices: byLabel{}, Balance: dice.IntN(2) == 0, ScaleDownSettings: nodegroups.ScaleDownSettings{UtilizationThreshold: []float64{0, 0.9}[dice.IntN(2)], Replace: dice.IntN(4) == 0}}
		if dice.IntN(2) == 0 {
			p.Policy.Placement = scheduling.PlacementPinned
		}
		byID := map[string]nodegroups.Group{}
		for _, g := range w.Groups {
			byID[g.ID] = g
		}
		up, err := p.ScaleUp(t.Context(), w.Cluster)
		require.NoError(t, err, "seed %d", seed)
		pods := slices.Clone(up.Waiting)
		for _, u := range up.Unschedulable {
			pods = append(pods, u.Pod)
		}
		for _, r := range up.Resizes {
			g := byID[r.Group]
			require.Greater(t, r.To, r.From, "seed %d", seed)
			require.LessOrEqual(t, r.To, g.Max, "seed %d, %s", seed, r.Group)
			if g.Atomic {
				atomic++
				require.Equal(t, g.Max, r.To, "seed %d", seed)
			}
			if strings.Contains(r.Reason, "balanced") {
				balanced++
			}
			grew++
			pods = append(pods, r.Pods...)
		}
		var want []string
		for _, pod := range w.Problem.Pods {
			want = append(want, scheduling.PodName(pod))
		}
		require.ElementsMatch(t, want, pods, "seed %d", seed)

		down, err := p.ScaleDown(t.Context(), w.Cluster)
		require.NoError(t, err, "seed %d", seed)
		require.Len(t, w.Problem.Nodes, len(down.Removals)+len(down.Unremovable), "seed %d", seed)
		shrank += len(down.Removals)
		gone := map[string]int{}
		for _, r := range down.Removals {
			gone[r.Group]++
		}
		for id, k := range gone {
			g := byID[id]
			require.GreaterOrEqual(t, g.Target-k, g.Min, "seed %d, %s", seed, id)
			if g.Atomic {
				require.Equal(t, g.Target, k, "seed %d, %s", seed, id)
			}
		}
		for _, r := range down.Resizes {
			require.LessOrEqual(t, r.To, byID[r.Group].Max, "seed %d", seed)
			require.True(t, p.ScaleDownSettings.Replace || r.To < r.From, "seed %d", seed)
		}
	}
	if !testing.Short() {
		assert.Greater(t, grew, 50)
		assert.Positive(t, balanced)
		assert.Positive(t, atomic)
		assert.Greater(t, shrank, 30)
	}
	t.Logf("%d groups grew, of them %d balanced and %d atomic ones; %d nodes were removed", grew, balanced, atomic, shrank)
}

// On small problems a plan costs as little as the cheapest sizes that hold all pods, found by trying all of them.
func TestScaleUpAgainstAllSizes(t *testing.T) {
	same, all := 0, 0
	for seed := range uint64(60) {
		dice := rand.New(rand.NewPCG(seed, 8))
		w := newWorld()
		for g := range 2 + dice.IntN(2) {
			cores := int64(2 + dice.IntN(7))
			w.Groups = append(w.Groups, nodegroups.Group{
				ID: fmt.Sprintf("g%d", g), Max: 1 + dice.IntN(3), Atomic: dice.IntN(4) == 0,
				Template: template(fmt.Sprintf("type-%d", g), "a", cores, fmt.Sprintf("%.3f", float64(cores)*(0.04+0.01*float64(dice.IntN(4))))),
			})
		}
		var sizes []int64
		for i := range 2 + dice.IntN(5) {
			sizes = append(sizes, 500+250*dice.Int64N(14))
			w.wait(fmt.Sprintf("p%d", i), 1, sizes[i])
		}
		plan := w.up(t, nodegroups.Planner{})
		cheapest, ok := cheapestSizes(w.Groups, sizes)
		require.Equal(t, ok, len(plan.Unschedulable) == 0, "seed %d", seed)
		if !ok {
			continue
		}
		require.GreaterOrEqual(t, plan.PricePerHour, cheapest, "seed %d", seed)
		if all++; plan.PricePerHour == cheapest {
			same++
		} else {
			t.Logf("seed %d: %v instead of %v", seed, plan.PricePerHour, cheapest)
		}
	}
	assert.Greater(t, all, 30)
	assert.Equal(t, all, same)
}

// cheapestSizes is the lowest price of sizes of groups whose nodes hold pods of so many millicores.
func cheapestSizes(groups []nodegroups.Group, pods []int64) (best offerings.Price, ok bool) {
	pods = slices.Clone(pods)
	slices.SortFunc(pods, func(a, b int64) int { return int(b - a) })
	var grow func(g int, nodes []int64, price offerings.Price)
	grow = func(g int, nodes []int64, price offerings.Price) {
		switch {
		case ok && price >= best:
		case g == len(groups):
			if packs(pods, nodes) {
				best, ok = price, true
			}
		default:
			for n := 0; n <= groups[g].Max; n++ {
				if groups[g].Atomic && n != 0 && n != groups[g].Max {
					continue
				}
				more, node := slices.Clone(nodes), groups[g].Template
				for range n {
					more = append(more, node.Status.Allocatable.Cpu().MilliValue())
				}
				each, _ := byLabel{}.PriceOf(node).Times(int64(n))
				grow(g+1, more, offerings.Sum(price, each))
			}
		}
	}
	grow(0, nil, 0)
	return best, ok
}

// packs reports whether nodes hold all pods.
func packs(pods, nodes []int64) bool {
	if len(pods) == 0 {
		return true
	}
	for i, free := range nodes {
		if free < pods[0] || slices.Contains(nodes[:i], free) {
			continue
		}
		nodes[i] -= pods[0]
		held := packs(pods[1:], nodes)
		if nodes[i] += pods[0]; held {
			return true
		}
	}
	return false
}
