package controlplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/controller/informers"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// patience is how long anything may take; on a busy machine the control plane is slow.
const patience = 3 * time.Minute

// cluster is a control plane with a cloud, and a controller that may do what adapters/controller/rbac.yaml says.
type cluster struct {
	*ControlPlane
	// whole is the test, t its part.
	whole, t *testing.T
	cloud    *Cloud
	catalog  *instancetypes.Catalog
	// c is the current run of the controller, and stop kills it.
	c    *controller.Controller
	runs int
	stop func()
}

func newCluster(t *testing.T) *cluster {
	p := Start(t)
	require.NoError(t, p.Apply(t.Context(), "testdata/nodepools.yaml", "../controller/rbac.yaml", "testdata/cluster.yaml", "testdata/workloads.yaml"))
	all, err := ec2.Catalog("us-east-1")
	require.NoError(t, err)
	narrow, err := instancetypes.ParseFilter("category in (c m r),generation>=6,arch=amd64,cpu in (2 4 8),zone in (us-east-1a us-east-1b us-east-1d)")
	require.NoError(t, err)
	x := &cluster{ControlPlane: p, whole: t, t: t, catalog: all.Filter(narrow)}
	x.cloud = NewCloud(t, p, x.catalog)
	x.start()
	t.Cleanup(func() { x.stop() })
	return x
}

// start starts a run of the controller, which knows nothing of those before.
func (x *cluster) start() {
	config := x.As("plimsoll")
	client, err := kubernetes.NewForConfig(config)
	require.NoError(x.t, err)
	pools, err := dynamic.NewForConfig(config)
	require.NoError(x.t, err)
	x.runs++
	x.c, err = controller.New(controller.Options{
		Policy: scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementNominated},
		Disruption: disruption.Planner{
			Policy:    scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree},
			MinSaving: disruption.Saving{Share: 0.05},
		},
		Nominator: informers.Nominator{Client: client},
		BatchIdle: 300 * time.Millisecond, BatchMax: 2 * time.Second, DisruptEvery: 2 * time.Second, ListEvery: 500 * time.Millisecond,
		RegistrationTimeout: 20 * time.Second, PlanTimeout: 2 * time.Second,
		Run: fmt.Sprintf("run%d", x.runs),
		Log: slog.New(slog.NewTextHandler(x.whole.Output(), nil)),
		Planned: func(p scheduling.Problem, plan *scheduling.Plan) error {
			return x.check(errors.Join(x.knowsMachines(p), verify.Plan(p, plan)))
		},
		Consolidating: func(planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
			return x.check((verify.StepsChecker{Planner: planner}).Steps(c, plan))
		},
	}, x.cloud, informers.Evictor{Client: client}, scheduling.Problem{Catalog: x.catalog})
	require.NoError(x.t, err)
	ctx, cancel := context.WithCancel(x.whole.Context())
	c := x.c
	var done sync.WaitGroup
	x.stop = func() { cancel(); done.Wait() }
	require.NoError(x.t, informers.Watch(ctx, client, pools, c, func(err error) { x.whole.Error(err) }))
	done.Go(func() { _ = c.Run(ctx) })
}

// scale sets the replicas of a Deployment.
func (x *cluster) scale(deployment string, replicas int32) {
	x.t.Helper()
	s := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: deployment}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	_, err := x.Client.AppsV1().Deployments("default").UpdateScale(x.t.Context(), deployment, s, metav1.UpdateOptions{})
	require.NoError(x.t, err)
}

// pods are the pods of all Deployments.
func (x *cluster) pods() []*corev1.Pod {
	list, err := x.Client.CoreV1().Pods("default").List(x.t.Context(), metav1.ListOptions{})
	require.NoError(x.t, err)
	var out []*corev1.Pod
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

func (x *cluster) nodes() []corev1.Node {
	list, err := x.Client.CoreV1().Nodes().List(x.t.Context(), metav1.ListOptions{})
	require.NoError(x.t, err)
	return list.Items
}

// allRun reports whether every pod that the Deployments ask for runs, and no other pod is there.
func (x *cluster) allRun() bool {
	list, err := x.Client.AppsV1().Deployments("default").List(x.t.Context(), metav1.ListOptions{})
	require.NoError(x.t, err)
	want := 0
	for i := range list.Items {
		d := &list.Items[i]
		if d.Status.ObservedGeneration != d.Generation {
			return false
		}
		want += int(*d.Spec.Replicas)
	}
	pods := x.pods()
	return len(pods) == want && !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil })
}

func (x *cluster) eventually(what string, f func() bool) {
	x.t.Helper()
	require.Eventually(x.t, f, patience, 100*time.Millisecond, what)
}

// bound is what the pods that the Deployments ask for cost at least, on new nodes.
func (x *cluster) bound() offerings.Price {
	deployments, err := x.Client.AppsV1().Deployments("default").List(x.t.Context(), metav1.ListOptions{})
	require.NoError(x.t, err)
	var pods []*corev1.Pod
	for i := range deployments.Items {
		d := &deployments.Items[i]
		pods = append(pods, podsOf(d, *d.Spec.Replicas)...)
	}
	return x.plan(pods).Summary.LowerBoundPerHour
}

// podsOf returns pods as a Deployment makes them.
func podsOf(d *appsv1.Deployment, n int32) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()}
		pod.Namespace, pod.Name = d.Namespace, fmt.Sprintf("%s-%d", d.Name, i)
		out = append(out, pod)
	}
	return out
}

// plan returns a plan of new nodes for pods.
func (x *cluster) plan(pods []*corev1.Pod) *scheduling.Plan {
	pool, err := x.nodePool()
	require.NoError(x.t, err)
	p := scheduling.Problem{Catalog: x.catalog, NodePools: []*scheduling.NodePool{pool}, Pods: pods}
	daemons, err := x.Client.AppsV1().DaemonSets(corev1.NamespaceAll).List(x.t.Context(), metav1.ListOptions{})
	require.NoError(x.t, err)
	for i := range daemons.Items {
		p.DaemonSets = append(p.DaemonSets, &daemons.Items[i])
	}
	plan, err := provisioning.Planner{}.Plan(x.t.Context(), p)
	require.NoError(x.t, err)
	require.Empty(x.t, plan.Unschedulable)
	return plan
}

func (x *cluster) nodePool() (*scheduling.NodePool, error) {
	client, err := dynamic.NewForConfig(x.Config)
	if err != nil {
		return nil, err
	}
	o, err := client.Resource(informers.NodePools()).Get(x.t.Context(), "general", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pool, _, err := informers.ReadNodePool(o)
	return pool, err
}

// closeToBound waits until the machines cost little more than the bound. With some ten nodes, one node more is ten percent.
func (x *cluster) closeToBound() {
	x.t.Helper()
	bound := x.bound()
	x.eventually("close to the bound", func() bool { return x.cloud.PricePerHour().USD() <= bound.USD()*1.3 })
	x.whole.Logf("%s per hour, the bound is %s", x.cloud.PricePerHour(), bound)
}

// check fails the test if a plan has a fault. The controller repeats the plan, so that the test would not end by itself.
func (x *cluster) check(fault error) error {
	if fault != nil {
		x.whole.Error(fault)
	}
	return fault
}

// knowsMachines returns an error if a plan lacks a machine that runs or starts, e.g. one of an earlier run: the plan would
// launch another one in its place.
func (x *cluster) knowsMachines(p scheduling.Problem) error {
	nodes := map[string]bool{}
	for _, node := range p.Nodes {
		nodes[node.Name] = true
	}
	var errs []error
	for _, m := range x.cloud.Records() {
		if m.Gone.IsZero() && !nodes[m.Name] && !nodes["order-"+m.Order.ID] {
			errs = append(errs, fmt.Errorf("the plan lacks machine %s of order %s", m.Name, m.Order.ID))
		}
	}
	return errors.Join(errs...)
}

// budget sets how many api pods may be away.
func (x *cluster) budget(unavailable int) {
	patch := fmt.Sprintf(`{"spec":{"maxUnavailable":%d}}`, unavailable)
	_, err := x.Client.PolicyV1().PodDisruptionBudgets("default").Patch(x.t.Context(), "api", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(x.t, err)
	x.eventually("budget", func() bool {
		b, err := x.Client.PolicyV1().PodDisruptionBudgets("default").Get(x.t.Context(), "api", metav1.GetOptions{})
		return err == nil && b.Status.ObservedGeneration == b.Generation && (b.Status.DisruptionsAllowed > 0) == (unavailable > 0)
	})
}

// nodeOf returns a node with a pod of an app.
func (x *cluster) nodeOf(app string) string {
	for _, p := range x.pods() {
		if p.Labels["app"] == app && p.Spec.NodeName != "" {
			return p.Spec.NodeName
		}
	}
	x.t.Fatalf("no pod of %s has a node", app)
	return ""
}

// record returns the record of a machine.
func (x *cluster) record(name string) MachineRecord {
	all := x.cloud.Records()
	return all[slices.IndexFunc(all, func(m MachineRecord) bool { return m.Name == name })]
}

// part runs a part of the test, which begins with the cluster as the part before has left it. A part that fails ends the test.
func (x *cluster) part(name string, f func(t *testing.T)) {
	x.whole.Helper()
	begun := time.Now()
	if !x.whole.Run(name, func(t *testing.T) {
		x.t = t
		defer func() { x.t = x.whole }()
		f(t)
		if x.cloud != nil {
			require.Empty(t, launchedTwice(x.cloud.Records()))
		}
	}) {
		x.whole.FailNow()
	}
	x.whole.Logf("%s: %s, %d nodes", name, time.Since(begun).Round(time.Millisecond), len(x.nodes()))
}

// The controller beside a real API server, a real kube-scheduler and the controllers of Kubernetes, with the permissions that it
// documents.
func TestController(t *testing.T) {
	x := newCluster(t)
	x.part("Deployments scale up", func(*testing.T) {
		x.cloud.Set(Conditions{JoinAfter: 300 * time.Millisecond, ReadyAfter: 300 * time.Millisecond})
		x.scale("web", 9)
		x.scale("api", 6)
		x.scale("cache", 4)
		x.eventually("all pods run", x.allRun)
		x.closeToBound()
	})
	x.part("nodes come late and one never comes", func(*testing.T) {
		before := len(x.cloud.Records())
		x.cloud.Set(Conditions{NeverJoins: true})
		x.scale("api", 9)
		x.eventually("a machine is launched", func() bool { return len(x.cloud.Records()) > before })
		x.cloud.Set(Conditions{JoinAfter: 3 * time.Second, ReadyAfter: 2 * time.Second})
		x.eventually("all pods run", x.allRun)
		x.eventually("the first is terminated", func() bool { return x.c.Stats().Unregistered > 0 })
	})
	x.part("offerings run out", func(t *testing.T) {
		first := ""
		var mu sync.Mutex
		x.cloud.Set(Conditions{JoinAfter: 300 * time.Millisecond, Unavailable: func(o scheduling.LaunchOption) bool {
			mu.Lock()
			defer mu.Unlock()
			if first == "" {
				first = o.InstanceType
			}
			return o.InstanceType == first
		}})
		before := len(x.cloud.Records())
		x.scale("api", 14)
		x.eventually("all pods run", x.allRun)
		require.Positive(t, x.c.Stats().CapacityFailures)
		for _, m := range x.cloud.Records()[before:] {
			require.NotEqual(t, first, m.Order.Option.InstanceType)
		}
	})
	x.part("a node is interrupted", func(t *testing.T) {
		x.cloud.Set(Conditions{JoinAfter: time.Second, ReadyAfter: time.Second})
		victim := x.nodeOf("web")
		deadline := time.Now().Add(patience)
		require.NoError(t, x.cloud.Interrupt(victim, patience))
		x.eventually("it is removed", func() bool { return !x.record(victim).Gone.IsZero() })
		require.True(t, x.record(victim).Gone.Before(deadline), "drained before the interruption")
		x.eventually("all pods run", x.allRun)
	})
	x.part("a PodDisruptionBudget blocks an eviction", func(t *testing.T) {
		x.budget(0)
		victim := x.nodeOf("api")
		require.NoError(t, x.cloud.Interrupt(victim, patience))
		x.eventually("the eviction is blocked", func() bool { return x.c.Stats().BlockedEvictions > 0 })
		require.True(t, x.record(victim).Gone.IsZero())
		x.budget(1)
		x.eventually("it is removed", func() bool { return !x.record(victim).Gone.IsZero() })
		x.eventually("all pods run", x.allRun)
	})
	x.part("the controller is killed while nodes join", func(*testing.T) {
		x.cloud.Set(Conditions{JoinAfter: 3 * time.Second, ReadyAfter: time.Second})
		before := len(x.cloud.Records())
		x.scale("web", 21)
		x.eventually("machines are launched", func() bool { return len(x.cloud.Records()) > before })
		x.stop()
		x.start()
		x.eventually("all pods run", x.allRun)
	})
	x.part("Deployments scale down, and the controller is killed in a step", func(*testing.T) {
		x.cloud.Set(Conditions{JoinAfter: 300 * time.Millisecond, ReadyAfter: 300 * time.Millisecond})
		x.scale("web", 3)
		x.scale("api", 3)
		x.scale("cache", 2)
		x.eventually("a step is under way", func() bool { return x.c.Stats().StepsUnderWay > 0 || x.c.Stats().Steps > 0 })
		x.stop()
		x.start()
		x.eventually("all pods run", x.allRun)
		x.closeToBound()
	})
	x.part("nothing is left over", func(t *testing.T) {
		for _, d := range []string{"web", "api", "cache"} {
			x.scale(d, 0)
		}
		x.eventually("no machine is left", func() bool { return x.cloud.PricePerHour() == 0 })
		x.eventually("no node is left", func() bool { return len(x.nodes()) == 0 })
		launched := len(x.cloud.Records())
		time.Sleep(3 * time.Second)
		require.Len(t, x.cloud.Records(), launched)
		s := x.c.Stats()
		require.Zero(t, s.PendingPods+s.InFlight+s.StepsUnderWay)
	})
	x.part("the plugin binds pods as planned", func(*testing.T) {
		x.stop()
		x.cloud.Set(Conditions{})
		x.bindsAsPlanned("web", "api", "cache")
	})
}
