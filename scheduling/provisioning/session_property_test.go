package provisioning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// chance draws the changes that a session gets.
type chance struct {
	*rand.Rand
	store scheduling.Problem // the objects that may be added
	count int
}

func newChance(seed uint64, ties bool) *chance {
	return &chance{
		Rand:  rand.New(rand.NewPCG(seed, 77)),
		store: schedulingtest.Random(seed, schedulingtest.Size{Pods: 16, Types: 6, Pools: 3, Nodes: 6, TopologyTerms: ties}),
	}
}

func (c *chance) oneIn(n int) bool { return c.IntN(n) == 0 }

// some draws a part of a list.
func some[T any](c *chance, list []T, share float64) []T {
	var out []T
	for _, x := range list {
		if c.Float64() < share {
			out = append(out, x)
		}
	}
	return out
}

// start draws a part of the store to begin with.
func (c *chance) start() scheduling.Problem {
	p := c.store
	p.Pods, p.Running = some(c, p.Pods, 0.6), some(c, p.Running, 0.6)
	p.Nodes, p.DaemonSets = some(c, p.Nodes, 0.7), some(c, p.DaemonSets, 0.7)
	p.Claims, p.Volumes = some(c, p.Claims, 0.9), some(c, p.Volumes, 0.9)
	p.StorageClasses, p.CSINodes = some(c, p.StorageClasses, 0.9), some(c, p.CSINodes, 0.8)
	p.Services, p.Namespaces = some(c, p.Services, 0.7), some(c, p.Namespaces, 0.7)
	return p
}

// turnover draws additions and removals of objects of one kind: objects of the store that the session has or does not
// have, and some of those that it has.
func turnover[T metav1.Object](c *chance, have, store []T, changed func(T) T) (put []T, taken []types.NamespacedName) {
	if !c.oneIn(4) {
		return nil, nil
	}
	coming := map[types.NamespacedName]bool{}
	for _, o := range some(c, store, 0.2) {
		if changed != nil && c.oneIn(2) {
			o = changed(o)
		}
		put = append(put, o)
		coming[nameOf(o)] = true
	}
	for _, o := range some(c, have, 0.15) {
		if !coming[nameOf(o)] {
			taken = append(taken, nameOf(o))
		}
	}
	return put, taken
}

func plainNames(names []types.NamespacedName) []string {
	var out []string
	for _, n := range names {
		out = append(out, n.Name)
	}
	return out
}

// delta draws a change of the problem.
func (c *chance) delta(now scheduling.Problem) scheduling.Delta {
	var d scheduling.Delta
	c.pods(&d, now)
	var taken []types.NamespacedName
	d.Nodes, taken = turnover(c, now.Nodes, c.store.Nodes, c.otherNode)
	d.Removed.Nodes = plainNames(taken)
	d.DaemonSets, d.Removed.DaemonSets = turnover(c, now.DaemonSets, c.store.DaemonSets, func(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
		ds = ds.DeepCopy()
		ds.Spec.Template.Spec.Containers[0].Resources.Requests = schedulingtest.Resources(schedulingtest.MilliCPU(int64(10 * c.IntN(40))))
		ds.Spec.Template.Spec.Containers[0].Resources.Limits = nil
		return ds
	})
	d.NodePools, taken = turnover(c, now.NodePools, c.store.NodePools, func(p *scheduling.NodePool) *scheduling.NodePool {
		q := *p
		weight := int32(1 + c.IntN(50))
		q.Spec.Weight = &weight
		return &q
	})
	d.Removed.NodePools = plainNames(taken)
	d.Claims, d.Removed.Claims = turnover(c, now.Claims, c.store.Claims, nil)
	d.Volumes, taken = turnover(c, now.Volumes, c.store.Volumes, nil)
	d.Removed.Volumes = plainNames(taken)
	d.StorageClasses, taken = turnover(c, now.StorageClasses, c.store.StorageClasses, nil)
	d.Removed.StorageClasses = plainNames(taken)
	d.CSINodes, taken = turnover(c, now.CSINodes, c.store.CSINodes, nil)
	d.Removed.CSINodes = plainNames(taken)
	d.Namespaces, taken = turnover(c, now.Namespaces, c.store.Namespaces, nil)
	d.Removed.Namespaces = plainNames(taken)
	d.Services, d.Removed.Services = turnover(c, now.Services, c.store.Services, nil)
	d.Owners.ReplicaSets, d.Removed.ReplicaSets = turnover(c, now.Owners.ReplicaSets, c.store.Owners.ReplicaSets, nil)
	d.Owners.StatefulSets, d.Removed.StatefulSets = turnover(c, now.Owners.StatefulSets, c.store.Owners.StatefulSets, nil)
	c.market(&d, now)
	if c.oneIn(12) && len(c.store.DefaultSpread) > 0 {
		d.DefaultSpread = c.store.DefaultSpread
		if len(now.DefaultSpread) > 0 {
			d.DefaultSpread = []corev1.TopologySpreadConstraint{}
		}
	}
	return d
}

// pods draws pods that come, are bound, change, move or go.
func (c *chance) pods(d *scheduling.Delta, now scheduling.Problem) {
	seen := map[types.NamespacedName]bool{}
	put := func(pod *corev1.Pod) {
		if !seen[nameOf(pod)] {
			seen[nameOf(pod)] = true
			d.Pods = append(d.Pods, pod)
		}
	}
	for _, pod := range some(c, c.store.Pods, 0.15) {
		if c.oneIn(3) {
			pod = pod.DeepCopy()
			if len(pod.Spec.Containers) > 0 {
				pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: schedulingtest.Resources(
					schedulingtest.MilliCPU(int64(50*c.IntN(60))), schedulingtest.MiB(int64(32*c.IntN(100))))}
				pod.Spec.Resources = nil // which must not be less
			}
			if c.oneIn(4) {
				priority := int32(c.IntN(3))
				pod.Spec.Priority = &priority
			}
		}
		put(pod)
	}
	if len(now.Nodes) > 0 {
		d.Nominated = map[types.NamespacedName]string{}
		for _, pod := range some(c, slices.Concat(now.Pods, now.Running, d.Pods), 0.15) {
			d.Nominated[nameOf(pod)] = now.Nodes[c.IntN(len(now.Nodes))].Name
			if c.oneIn(4) {
				d.Nominated[nameOf(pod)] = ""
			}
		}
		for _, pod := range some(c, now.Pods, 0.1) {
			pod = pod.DeepCopy()
			pod.Status.NominatedNodeName = now.Nodes[c.IntN(len(now.Nodes))].Name
			put(pod)
		}
	}
	for range c.IntN(3) {
		pod := c.store.Pods[c.IntN(len(c.store.Pods))].DeepCopy()
		c.count++
		pod.Name = fmt.Sprintf("more-%d", c.count)
		put(pod)
	}
	for _, pod := range some(c, c.store.Running, 0.05) {
		put(pod)
	}
	if len(now.Nodes) > 0 {
		for _, pod := range some(c, now.Pods, 0.1) {
			bound := *pod
			bound.Spec.NodeName = now.Nodes[c.IntN(len(now.Nodes))].Name
			put(&bound)
		}
	}
	for _, pod := range some(c, now.Running, 0.1) {
		if len(now.Nodes) > 0 && !seen[nameOf(pod)] {
			seen[nameOf(pod)] = true
			d.Moved = append(d.Moved, scheduling.Move{Pod: nameOf(pod), Node: now.Nodes[c.IntN(len(now.Nodes))].Name})
		}
	}
	for _, pod := range some(c, slices.Concat(now.Pods, now.Running), 0.08) {
		if !seen[nameOf(pod)] {
			seen[nameOf(pod)] = true
			d.Removed.Pods = append(d.Removed.Pods, nameOf(pod))
		}
	}
}

// otherNode is a node that has changed.
func (c *chance) otherNode(n *corev1.Node) *corev1.Node {
	n = n.DeepCopy()
	switch c.IntN(4) {
	case 0:
		n.Spec.Unschedulable = true
	case 1:
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
	case 2:
		delete(n.Labels, scheduling.InitializedLabel)
	default:
		if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
			n.Labels[corev1.LabelTopologyZone] = "zone-a"
		}
	}
	return n
}

// market draws prices, offerings that fail, and time that passes.
func (c *chance) market(d *scheduling.Delta, now scheduling.Problem) {
	if c.oneIn(5) && now.Catalog != nil {
		for t := range now.Catalog.All() {
			if len(t.Offerings) > 0 && c.oneIn(4) {
				o := t.Offerings[c.IntN(len(t.Offerings))]
				o.Price = o.Price*offerings.Price(50+c.IntN(100))/100 + 1
				o.Unavailable = c.oneIn(4)
				d.Offerings = append(d.Offerings, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
			}
		}
	}
	if c.oneIn(8) {
		d.Catalog = c.store.Catalog
		d.Offerings = nil
	}
	if c.oneIn(4) {
		d.Now = now.Now.Add(time.Duration(c.IntN(5)) * time.Minute)
	}
	if c.oneIn(5) {
		d.Unavailable = &offerings.Unavailable{}
		for t := range now.Catalog.All() {
			if c.oneIn(3) {
				d.Unavailable.Mark(offerings.Key{InstanceType: t.Name}, now.Now, 0)
			}
		}
	}
}

// same compares a plan of a session with that of a planner that starts anew.
func same(t require.TestingT, solver scheduling.Policy, s *provisioning.Session, what string) *scheduling.Plan {
	warm, warmErr := s.Plan(context.Background())
	cold, coldErr := provisioning.Planner{Policy: solver}.Plan(context.Background(), s.Problem())
	if coldErr != nil {
		require.EqualError(t, warmErr, coldErr.Error(), what)
		return nil
	}
	require.NoError(t, warmErr, what)
	a, err := json.Marshal(warm)
	require.NoError(t, err)
	b, err := json.Marshal(cold)
	require.NoError(t, err)
	require.Equal(t, string(b), string(a), what)
	return warm
}

// lives runs a session and its forks through changes.
func lives(t require.TestingT, seed uint64, steps int) {
	c := newChance(seed, seed%2 == 1)
	solver := scheduling.Policy{Effort: scheduling.EffortFast}
	switch seed % 9 {
	case 1:
		solver.Preferences = scheduling.PreferencesIgnore
	case 2:
		solver.WorkloadShare = 40
	case 3:
		solver.NoSpot = true
	case 4:
		solver.MinValues = scheduling.MinValuesBestEffort
	}
	s, err := provisioning.NewSession(solver, c.start())
	require.NoError(t, err)
	var forks []*provisioning.Session
	for step := range steps {
		what := fmt.Sprintf("seed %d, step %d", seed, step)
		if plan := same(t, solver, s, what); plan != nil && step%3 == 0 {
			require.NoError(t, verify.Checker{Policy: solver, SkipRefusals: true}.Plan(s.Problem(), plan), what)
		}
		if c.oneIn(3) {
			forks = append(forks, s.Fork())
		}
		require.NoError(t, s.Apply(c.delta(s.Problem())), what)
		if len(forks) > 0 && c.oneIn(2) {
			f := forks[c.IntN(len(forks))]
			require.NoError(t, f.Apply(c.delta(f.Problem())), what)
			same(t, solver, f, what+", of a fork")
		}
	}
	for i, f := range forks {
		same(t, solver, f, fmt.Sprintf("seed %d, fork %d in the end", seed, i))
	}
}

func TestSessionsPlanAsIfTheyHadNoMemory(t *testing.T) {
	for seed := range soak.Cases(12) {
		lives(t, seed, 6)
	}
}

func FuzzSession(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(1_000+seed, 8)
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps int) {
		lives(t, seed, min(max(steps, 0), 8))
	})
}

// Forks may be used at the same time, each by one goroutine.
func TestForksPlanAtTheSameTime(t *testing.T) {
	for seed := range uint64(6) {
		c := newChance(seed, true)
		solver := scheduling.Policy{Effort: scheduling.EffortFast}
		s, err := provisioning.NewSession(solver, c.start())
		require.NoError(t, err)
		same(t, solver, s, "before")
		var all sync.WaitGroup
		for i := range 4 {
			f, own := s.Fork(), newChance(seed, true)
			own.Rand = rand.New(rand.NewPCG(seed, uint64(i)))
			all.Go(func() {
				for range 3 {
					assert.NoError(t, f.Apply(own.delta(f.Problem())))
					same(&quiet{t}, solver, f, "fork")
				}
			})
		}
		same(t, solver, s, "meanwhile")
		all.Wait()
	}
}

// quiet lets other goroutines fail a test.
type quiet struct{ *testing.T }

func (q *quiet) FailNow() { q.Fail() }
func nameOf(o metav1.Object) types.NamespacedName {
	if o.GetNamespace() == "" {
		return types.NamespacedName{Namespace: "default", Name: o.GetName()}
	}
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
