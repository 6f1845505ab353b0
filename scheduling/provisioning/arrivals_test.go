package provisioning_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// between says how the next plan sees a pod that a plan has placed, until its node is ready.
type between int

const (
	forgotten between = iota // the next plan is told nothing
	nominated                // the next plan is told where it is nominated
	assumed                  // it is taken to run there
)

// arrivals is a cluster whose pods come over time and whose machines take a while to come. Plans
// are carried out: machines are launched, and pods bind where they were placed once the node is
// ready.
type arrivals struct {
	t       *testing.T
	between between
	planner provisioning.Planner
	// session holds the cluster. With alone, the planner plans without it.
	session *provisioning.Session
	alone   bool
	ready   map[string]time.Time // of nodes on their way
	target  map[types.NamespacedName]string
	names   int
	// The outcome: launched nodes, their price, and the number of times that a pod got another target.
	bought, changes int
	price           float64
}

// delay is how long a machine takes to come.
const delay = time.Minute

func newArrivals(t *testing.T, b between, alone bool) *arrivals {
	t.Helper()
	a := &arrivals{
		t: t, between: b, alone: alone, ready: map[string]time.Time{}, target: map[types.NamespacedName]string{},
		planner: provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast, NoSpot: true}},
	}
	var err error
	a.session, err = provisioning.NewSession(a.planner.Policy, scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   ec2.MustCatalog("us-east-1").Filter(instancetypes.ByName("c6a.*", "m6a.*", "r6a.*")), Now: time.Unix(1_000_000_000, 0),
	})
	require.NoError(t, err)
	return a
}

// pass advances the clock: pods are created and end, nodes become ready, and pods bind. Empty nodes are removed.
func (a *arrivals) pass(by time.Duration, come []*corev1.Pod, ended []types.NamespacedName) {
	p := a.session.Problem()
	d := scheduling.Delta{Now: p.Now.Add(by), Pods: come, Removed: scheduling.Removed{Pods: ended}}
	for _, pod := range come {
		pod.CreationTimestamp = metav1.NewTime(d.Now)
	}
	needed := map[string]bool{}
	for _, pod := range p.Running {
		needed[pod.Spec.NodeName] = needed[pod.Spec.NodeName] || !slices.Contains(ended, nameOf(pod))
	}
	for _, pod := range p.Pods {
		node := a.target[nameOf(pod)]
		if node == "" || slices.Contains(ended, nameOf(pod)) {
			continue
		}
		needed[node] = true
		if at, coming := a.ready[node]; !coming || !at.After(d.Now) {
			bound := *pod
			bound.Spec.NodeName = node
			d.Pods = append(d.Pods, &bound)
		}
	}
	for _, node := range p.Nodes {
		at, coming := a.ready[node.Name]
		switch {
		case coming && !at.After(d.Now):
			node = node.DeepCopy()
			node.Labels[scheduling.RegisteredLabel], node.Labels[scheduling.InitializedLabel] = "true", "true"
			d.Nodes = append(d.Nodes, node)
			delete(a.ready, node.Name)
		case !coming && !needed[node.Name]:
			d.Removed.Nodes = append(d.Removed.Nodes, node.Name)
		}
	}
	for _, pod := range ended {
		delete(a.target, pod)
	}
	require.NoError(a.t, a.session.Apply(d))
}

// plan plans and buys.
func (a *arrivals) plan(ctx context.Context) {
	p := a.session.Problem()
	var plan *scheduling.Plan
	var err error
	if a.alone {
		plan, err = a.planner.Plan(ctx, p)
	} else {
		plan, err = a.session.Plan(ctx)
	}
	require.NoError(a.t, err)
	require.NoError(a.t, verify.Checker{Policy: a.planner.Policy, SkipRefusals: true}.Plan(p, plan))
	require.Empty(a.t, plan.Unschedulable)
	var d scheduling.Delta
	names := map[string]string{}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		a.names++
		name := fmt.Sprintf("node-%04d", a.names)
		node, err := l.Node(name, &l.Options[0], p.CatalogOf(l.NodePool))
		require.NoError(a.t, err)
		delete(node.Labels, scheduling.RegisteredLabel)
		delete(node.Labels, scheduling.InitializedLabel)
		names[l.Name], a.ready[name] = name, p.Now.Add(delay)
		d.Nodes = append(d.Nodes, node)
		a.bought, a.price = a.bought+1, a.price+l.Price.USD()
	}
	pods := map[types.NamespacedName]*corev1.Pod{}
	for _, pod := range p.Pods {
		pods[nameOf(pod)] = pod
	}
	d.Nominated = map[types.NamespacedName]string{}
	for pod, at := range plan.Placements() {
		node := at.Node
		if at.Launch != nil {
			node = names[at.Launch.Name]
		}
		if before := a.target[pod]; before != "" && before != node {
			a.changes++
		}
		switch a.target[pod] = node; a.between {
		case nominated:
			d.Nominated[pod] = node
		case assumed:
			bound := *pods[pod]
			bound.Spec.NodeName = node
			d.Pods = append(d.Pods, &bound)
		}
	}
	require.NoError(a.t, a.session.Apply(d))
}

// overcommitted names a node whose pods, bound or nominated, request more CPU or memory than it has.
func (a *arrivals) overcommitted() string {
	p := a.session.Problem()
	used := map[string]corev1.ResourceList{}
	for _, pod := range slices.Concat(p.Running, p.Pods) {
		node := pod.Spec.NodeName
		if node == "" {
			node = a.target[nameOf(pod)]
		}
		if used[node] == nil {
			used[node] = corev1.ResourceList{}
		}
		for name, q := range pod.Spec.Containers[0].Resources.Requests {
			sum := used[node][name]
			sum.Add(q)
			used[node][name] = sum
		}
	}
	for _, node := range p.Nodes {
		for name, q := range used[node.Name] {
			if has := node.Status.Allocatable[name]; has.Cmp(q) < 0 {
				return node.Name + ": " + string(name) + " " + q.String()
			}
		}
	}
	return ""
}

// Three hundred pods arrive, ten every ten seconds, and nodes take a minute to become ready: no pod's target changes,
// and the launches are the same as if every pod were planned once and took its room at once.
func TestNobodyMovesWhileMachinesAreOnTheirWay(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("a hundred plans, one after another")
	}
	run := func(b between, alone bool, size int) *arrivals {
		pods := st.Workloads(120, 30, 1)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		a := newArrivals(t, b, alone)
		for batch := range slices.Chunk(pods, size) {
			a.pass(10*time.Second, batch, nil)
			a.plan(t.Context())
		}
		for len(a.ready) > 0 {
			a.pass(10*time.Second, nil, nil)
			a.plan(t.Context())
		}
		assert.Empty(t, a.overcommitted())
		t.Logf("%d at a time: targets changed %d times, %d machines, $%.3f an hour", size, a.changes, a.bought, a.price)
		return a
	}
	for _, size := range []int{10, 120} {
		once := run(assumed, false, size)
		for _, alone := range []bool{false, true} {
			a := run(nominated, alone, size)
			assert.Zero(t, a.changes)
			assert.Equal(t, once.bought, a.bought)
			assert.InDelta(t, once.price, a.price, 1e-9)
		}
	}
	run(forgotten, false, 10)
}

// Services of a steady size whose pods are replaced all the time, for as much of a week as there
// is time for: no pod's target changes, and no node is overcommitted at any moment.
func TestSteadyLoad(t *testing.T) {
	t.Parallel()
	const step = 20 * time.Second
	random := rand.New(rand.NewPCG(7, 7))
	a := newArrivals(t, nominated, false)
	made := 0
	pod := func(app int) *corev1.Pod {
		made++
		name := fmt.Sprintf("app-%02d", app)
		options := []st.PodOption{st.Label("app", name), st.Requests(st.MilliCPU(int64(100+150*(app%7))), st.MiB(int64(256*(1+app%5))))}
		switch app % 4 {
		case 0, 1:
			options = append(options, st.Spread(corev1.LabelTopologyZone, st.Of("app", name)))
		case 2:
			options = append(options, st.Apart(corev1.LabelHostname, st.Of("app", name)))
		}
		return st.Pod(fmt.Sprintf("%s-%06d", name, made), options...)
	}
	of := map[string]int{}
	var first []*corev1.Pod
	for app := range 12 {
		for range 4 + app {
			first = append(first, pod(app))
			of[first[len(first)-1].Name] = app
		}
	}
	a.pass(step, first, nil)
	a.plan(t.Context())
	_, steps := soak.Window(60)
	for range min(steps, int(7*24*time.Hour/step)) {
		var come []*corev1.Pod
		var ended []types.NamespacedName
		p := a.session.Problem()
		for _, old := range slices.Concat(p.Pods, p.Running) {
			if random.IntN(60) == 0 {
				ended = append(ended, nameOf(old))
				come = append(come, pod(of[old.Name]))
				of[come[len(come)-1].Name] = of[old.Name]
			}
		}
		a.pass(step, come, ended)
		require.Empty(t, a.overcommitted())
		a.plan(t.Context())
		require.Empty(t, a.overcommitted())
	}
	assert.Zero(t, a.changes)
	t.Logf("%d pods, %d machines", made, a.bought)
}
