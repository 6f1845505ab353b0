package expander_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/autoscaler"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// byLabel has the prices that nodes carry in a label.
type byLabel struct{}

func (byLabel) PriceOf(node *corev1.Node) offerings.Price {
	return offerings.MustPrice(node.Labels["price"])
}

// node is a template with so many cores and GiB.
func node(price string, cores, gib int64) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"price": price}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(gib<<30, resource.BinarySI),
		corev1.ResourcePods: resource.MustParse("110"),
	}
	return n
}

// pods are n pods of so many cores and GiB.
func pods(name string, n int, cores, gib int64) (out []*corev1.Pod) {
	for i := range n {
		out = append(out, autoscaler.Pod(fmt.Sprintf("%s-%d", name, i), 1000*cores, gib<<30))
	}
	return out
}

func request(options []expander.Option, templates ...*corev1.Node) expander.Request {
	r := expander.Request{Options: options, Templates: map[string]*corev1.Node{}}
	for i, t := range templates {
		r.Templates[options[i].NodeGroup] = t
	}
	return r
}

func best(t *testing.T, r expander.Request) (groups []string) {
	t.Helper()
	choice, err := (&expander.Chooser{Prices: byLabel{}}).Choose(t.Context(), r)
	require.NoError(t, err)
	for _, o := range choice.Best {
		groups = append(groups, o.NodeGroup)
	}
	return groups
}

// Small pods go first to their own cheap group, though the group of large nodes would place all pods with less waste:
// least-waste would take the latter, and pay $4 an hour for pods that cost $2.2.
func TestChoosesByThePriceInThePlan(t *testing.T) {
	small, large := pods("small", 8, 1, 1), pods("large", 1, 2, 24)
	r := request([]expander.Option{
		{NodeGroup: "memory", NodeCount: 2, Pods: append(large, small...)},
		{NodeGroup: "compute", NodeCount: 1, Pods: small},
	}, node("2", 5, 32), node("0.2", 8, 8))
	choice, err := (&expander.Chooser{Prices: byLabel{}}).Choose(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, choice.Best, 1)
	assert.Equal(t, "compute", choice.Best[0].NodeGroup)
	assert.InDelta(t, 1.0, choice.Best[0].Ratio(), 1e-9)
	require.Len(t, choice.Options, 2)
	assert.InDelta(t, 4/2.2, choice.Options[1].Ratio(), 1e-9)
	assert.Equal(t, offerings.MustPrice("4"), choice.Options[1].Price)
}

// Options that differ in nothing but the group are all best, in order of their ids, so that the next expander chooses.
func TestEqualOptions(t *testing.T) {
	p := pods("web", 4, 1, 1)
	r := request([]expander.Option{
		{NodeGroup: "zone-b", NodeCount: 1, Pods: p}, {NodeGroup: "zone-a", NodeCount: 1, Pods: p}, {NodeGroup: "dear", NodeCount: 1, Pods: p},
	}, node("0.2", 4, 16), node("0.2", 4, 16), node("0.3", 4, 16))
	assert.Equal(t, []string{"zone-a", "zone-b"}, best(t, r))
}

// The autoscaler has asked kube-scheduler's filters already, with the cluster that the request does not have: a pod whose
// selector, toleration or volume is unknown here runs where the autoscaler says.
func TestTheAutoscalerDecidesWherePodsFit(t *testing.T) {
	p := pods("db", 2, 1, 1)
	for _, pod := range p {
		pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "running"}}},
		}}}
	}
	r := request([]expander.Option{{NodeGroup: "a", NodeCount: 1, Pods: p}, {NodeGroup: "b", NodeCount: 1, Pods: p[:1]}}, node("0.2", 4, 16), node("0.2", 4, 16))
	assert.Equal(t, []string{"a"}, best(t, r))
}

// Terms over host names hold on new nodes, too: three pods that exclude each other need three nodes, which are cheapest
// small, though one large node has room for all.
func TestTermsOverHostNames(t *testing.T) {
	p := pods("web", 3, 1, 1)
	for _, pod := range p {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		}}}
	}
	r := request([]expander.Option{{NodeGroup: "large", NodeCount: 3, Pods: p}, {NodeGroup: "small", NodeCount: 3, Pods: p}}, node("0.4", 16, 32), node("0.1", 2, 4))
	choice, err := (&expander.Chooser{Prices: byLabel{}}).Choose(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, "small", choice.Best[0].NodeGroup)
	assert.Len(t, choice.Plan.Launches, 3)
}

// The pods that need a GPU pay for it, also where others fill up its node: the group of ordinary nodes looks cheap beside
// the price of that node, but these nodes are not needed.
func TestGPUs(t *testing.T) {
	gpu := node("3", 8, 32)
	gpu.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("1")
	training, web := pods("training", 1, 2, 8), pods("web", 6, 1, 4)
	training[0].Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
	r := request([]expander.Option{
		{NodeGroup: "gpu", NodeCount: 1, Pods: append(training, web...)}, {NodeGroup: "general", NodeCount: 1, Pods: web},
	}, gpu, node("0.4", 8, 32))
	choice, err := (&expander.Chooser{Prices: byLabel{}}).Choose(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, "gpu", choice.Best[0].NodeGroup, "the node that the training needs has room for all")
	assert.InDelta(t, 1.0, choice.Best[0].Ratio(), 1e-9)
}

func TestSkippedOptions(t *testing.T) {
	p := pods("web", 1, 1, 1)
	r := request([]expander.Option{
		{NodeGroup: "good", NodeCount: 1, Pods: p}, {NodeGroup: "broken", NodeCount: 1, Pods: p}, {NodeGroup: "none", NodeCount: 0, Pods: p},
		{NodeGroup: "empty", NodeCount: 1}, {NodeGroup: "nil", NodeCount: 1, Pods: append(p, nil)}, {NodeGroup: "unknown", NodeCount: 1, Pods: p},
	}, node("0.2", 4, 16), node("0.1", 0, 16), node("0.1", 4, 16), node("0.1", 4, 16), node("0.1", 4, 16))
	choice, err := (&expander.Chooser{Prices: byLabel{}}).Choose(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, "good", choice.Best[0].NodeGroup)
	assert.Nil(t, choice.Plan, "one option needs no plan")
	require.Len(t, choice.Skipped, 5)
	assert.Contains(t, choice.Skipped[0], `node group "broken": template node: `)
	assert.Contains(t, choice.Skipped[0], "cpu")
	assert.Equal(t, []string{`node group "none": a scale-up by 0 nodes`, `node group "empty": no pods`, `node group "nil": pods[1] is nil`, `node group "unknown": no template node`}, choice.Skipped[1:])

	_, err = (&expander.Chooser{Prices: byLabel{}}).Choose(t.Context(), expander.Request{Options: r.Options[2:]})
	require.ErrorIs(t, err, expander.ErrNoChoice)
	assert.ErrorContains(t, err, `node group "empty": no template node`)
	_, err = (&expander.Chooser{Prices: byLabel{}}).Choose(t.Context(), expander.Request{})
	assert.EqualError(t, err, "no option to recommend: there is no option")
	_, err = (&expander.Chooser{}).Choose(t.Context(), r)
	assert.EqualError(t, err, "prices: must be set")
}

// Nodes without a price, e.g. of a reservation that is paid for, are best.
func TestNodesWithoutAPrice(t *testing.T) {
	p := pods("web", 4, 1, 1)
	r := request([]expander.Option{{NodeGroup: "spot", NodeCount: 1, Pods: p}, {NodeGroup: "paid", NodeCount: 2, Pods: p}}, node("0.1", 4, 16), node("0", 2, 8))
	assert.Equal(t, []string{"paid"}, best(t, r))
}

func TestNodeOverhead(t *testing.T) {
	p := pods("web", 4, 1, 1)
	r := request([]expander.Option{{NodeGroup: "small", NodeCount: 4, Pods: p}, {NodeGroup: "large", NodeCount: 1, Pods: p}}, node("0.05", 1, 2), node("0.21", 4, 8))
	assert.Equal(t, []string{"small"}, best(t, r))
	choice, err := (&expander.Chooser{Prices: byLabel{}, NodeOverhead: offerings.MustPrice("0.01")}).Choose(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, "large", choice.Best[0].NodeGroup)
	assert.Equal(t, "0.22", choice.Best[0].Price.String())
}

func TestContextThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := pods("web", 100, 1, 1)
	r := request([]expander.Option{{NodeGroup: "a", NodeCount: 100, Pods: p}, {NodeGroup: "b", NodeCount: 25, Pods: p}}, node("0.05", 1, 2), node("0.21", 4, 8))
	_, err := (&expander.Chooser{Prices: byLabel{}}).Choose(ctx, r)
	assert.ErrorContains(t, err, "plan over 2 node groups and 100 pods: ")
}

// Whatever is asked, the plan behind the answer is right: its problem, planned with its proof, passes the check that shares
// no code with the planner, and costs as much as the answer's plan or a few per cent less. The pods of the best option fit
// the nodes of its group one by one.
func TestChoicesAreAudited(t *testing.T) {
	for seed := range uint64(5) {
		r := autoscaler.Sample(seed, 12, 200)
		prices, err := expander.NewPrices(nil, nil)
		require.NoError(t, err)
		choice, err := (&expander.Chooser{Prices: prices}).Choose(t.Context(), r)
		require.NoError(t, err)
		require.Len(t, choice.Problem.Pods, 200)
		policy := scheduling.Policy{Effort: scheduling.EffortFast, Preferences: scheduling.PreferencesIgnore}
		plan, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), choice.Problem)
		require.NoError(t, err)
		require.NoError(t, verify.Checker{Policy: policy}.Plan(choice.Problem, plan))
		var sketch offerings.Price
		placed := map[string]bool{}
		for _, l := range choice.Plan.Launches {
			sketch = offerings.Sum(sketch, l.Price)
			for _, pod := range l.Pods {
				placed[pod] = true
			}
		}
		assert.Len(t, placed, 200)
		assert.InDelta(t, plan.Summary.PricePerHour.USD(), sketch.USD(), 0.1*plan.Summary.PricePerHour.USD())

		for _, o := range choice.Best {
			room := r.Templates[o.NodeGroup].Status.Allocatable
			for _, requests := range provisioning.PodRequests(o.Pods) {
				for name, q := range requests {
					assert.LessOrEqual(t, q.Cmp(room[name]), 0)
				}
			}
		}
		again, err := (&expander.Chooser{Prices: prices}).Choose(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, choice.Options, again.Options, "equal requests have equal answers")
	}
}
