package simulation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Cluster is the API server, the controllers of pods and PodDisruptionBudgets, and kube-scheduler. It implements
// [controller.Evictor] and [controller.Nominator].
type Cluster struct {
	// Nodes and Pods are the objects, by name and by namespace/name. They must not be changed.
	Nodes map[string]*corev1.Node
	Pods  map[string]*corev1.Pod
	// Evicted is how often each pod was evicted, by namespace/name. A pod that takes the place of another one has its name.
	Evicted map[string]int
	// Killed is the number of pods whose node was deleted under them.
	Killed int
	// Waits are the times that pods were pending, in the order in which they were bound, those of no time among them.
	Waits []time.Duration

	now     time.Time
	created map[types.UID]time.Time
	budgets []*policyv1.PodDisruptionBudget
	made    int // pods so far
	watcher Watcher
}

func newCluster() *Cluster {
	return &Cluster{Nodes: map[string]*corev1.Node{}, Pods: map[string]*corev1.Pod{}, Evicted: map[string]int{}, created: map[types.UID]time.Time{}}
}

func nameOf(p *corev1.Pod) string { return scheduling.PodName(p) }

func (c *Cluster) putPod(p *corev1.Pod) error {
	c.Pods[nameOf(p)] = p
	return c.watcher.Upsert(p)
}

// create makes a pod, with a UID of its own.
func (c *Cluster) create(p *corev1.Pod) error {
	c.made++
	p.UID = types.UID("pod-" + strconv.Itoa(c.made))
	c.created[p.UID] = c.now
	return c.putPod(p)
}

func (c *Cluster) deletePod(name string) error {
	p := c.Pods[name]
	if p == nil {
		return nil
	}
	delete(c.Pods, name)
	delete(c.created, p.UID)
	return c.watcher.Delete(p)
}

// recreate replaces a pod by a pending one, as its controller does.
func (c *Cluster) recreate(name string) error {
	p := c.Pods[name].DeepCopy()
	if err := c.deletePod(name); err != nil {
		return err
	}
	p.Spec.NodeName, p.Status = "", corev1.PodStatus{}
	return c.create(p)
}

func (c *Cluster) putNode(n *corev1.Node) error {
	c.Nodes[n.Name] = n
	return c.watcher.Upsert(n)
}

// deleteNode deletes a node and the agent on it; all other pods on it are killed.
func (c *Cluster) deleteNode(name string) error {
	n := c.Nodes[name]
	if err := c.deletePod(nameOf(agentPod(name))); err != nil {
		return err
	}
	for _, pod := range c.On(name) {
		c.Killed++
		if err := c.recreate(nameOf(pod)); err != nil {
			return err
		}
	}
	delete(c.Nodes, name)
	return c.watcher.Delete(n)
}

// On returns the pods on a node that a drain evicts, i.e. all but that of the DaemonSet, by name.
func (c *Cluster) On(node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(c.Pods)) {
		if p := c.Pods[name]; p.Spec.NodeName == node && !isAgent(p) {
			out = append(out, p)
		}
	}
	return out
}

// Count returns the numbers of pods, and of those that are pending, without the DaemonSet's.
func (c *Cluster) Count() (pods, pending int) {
	for _, p := range c.Pods {
		if isAgent(p) {
			continue
		}
		pods++
		if p.Spec.NodeName == "" {
			pending++
		}
	}
	return pods, pending
}

// Problem has the cluster's pods and nodes in order of their names, the time, and a catalog.
func (c *Cluster) Problem(catalog *instancetypes.Catalog) scheduling.Problem {
	p := scheduling.Problem{Catalog: catalog, Now: c.now}
	for _, name := range slices.Sorted(maps.Keys(c.Pods)) {
		if pod := c.Pods[name]; pod.Spec.NodeName == "" {
			p.Pods = append(p.Pods, pod)
		} else {
			p.Running = append(p.Running, pod)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Nodes)) {
		p.Nodes = append(p.Nodes, c.Nodes[name])
	}
	return p
}

// join makes the node of a machine, and the agent's pod on it, as kubelet and controllers do at its start.
func (c *Cluster) join(n *corev1.Node) error {
	n.CreationTimestamp = metav1.NewTime(c.now)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(c.now)}}
	if err := c.putNode(n); err != nil {
		return err
	}
	p := agentPod(n.Name)
	p.Spec.NodeName, p.Status.Phase = n.Name, corev1.PodRunning
	return c.create(p)
}

// schedule binds pending pods as kube-scheduler does. A pod that fits no node loses its nomination.
func (c *Cluster) schedule(catalog *instancetypes.Catalog) error {
	p := c.Problem(catalog)
	if len(p.Pods) == 0 {
		return nil
	}
	bindings, err := provisioning.Bind(p, uint64(c.now.Unix()))
	if err != nil {
		return err
	}
	var errs []error
	for _, b := range bindings {
		before := c.Pods[b.Pod.String()]
		pod := before.DeepCopy()
		pod.Status.NominatedNodeName = ""
		if b.Node == "" {
			pod.Status.Phase = corev1.PodPending
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
			if len(before.Status.Conditions) == 0 || before.Status.NominatedNodeName != "" {
				errs = append(errs, c.putPod(pod))
			}
			continue
		}
		pod.Spec.NodeName, pod.Status.Phase = b.Node, corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		c.Waits = append(c.Waits, c.now.Sub(c.created[pod.UID]))
		errs = append(errs, c.putPod(pod))
	}
	return errors.Join(errs...)
}

// addBudget lets a tenth of a service's pods be away, rounded up.
func (c *Cluster) addBudget(service string) error {
	b := newBudget(service)
	c.budgets = append(c.budgets, b)
	return c.watcher.Upsert(b)
}

// away returns how many pods an app has, and how many of them are pending.
func (c *Cluster) away(app string) (all, away int) {
	for _, p := range c.Pods {
		if p.Labels[AppLabel] == app {
			all++
			if p.Spec.NodeName == "" {
				away++
			}
		}
	}
	return all, away
}

// Allowed is how many evictions of pods of the same app the PodDisruptionBudgets allow now.
func (c *Cluster) Allowed(pod *corev1.Pod) int {
	all, away := c.away(pod.Labels[AppLabel])
	return allowed(all, away)
}

// allowed is how many more pods may be away.
func allowed(all, away int) int { return max(0, tenth(all)-away) }

// tenth is a tenth, rounded up.
func tenth(n int) int { return (n + 9) / 10 }

// countBudgets updates the status of the PodDisruptionBudgets, as their controller does.
func (c *Cluster) countBudgets() error {
	var errs []error
	for i, b := range c.budgets {
		all, away := c.away(b.Name)
		status := policyv1.PodDisruptionBudgetStatus{
			ExpectedPods: int32(all), CurrentHealthy: int32(all - away), DesiredHealthy: int32(all - tenth(all)), DisruptionsAllowed: int32(allowed(all, away)),
		}
		if b.Status.DisruptionsAllowed == status.DisruptionsAllowed && b.Status.ExpectedPods == status.ExpectedPods {
			continue
		}
		b = b.DeepCopy()
		b.Status = status
		c.budgets[i] = b
		errs = append(errs, c.watcher.Upsert(b))
	}
	return errors.Join(errs...)
}

// SetTaint implements [controller.Evictor].
func (c *Cluster) SetTaint(_ context.Context, node string, taint corev1.Taint, on bool) error {
	if c.Nodes[node] == nil {
		return nil
	}
	n := c.Nodes[node].DeepCopy()
	controller.ApplyTaint(n, taint, on)
	return c.putNode(n)
}

// Nominate implements [controller.Nominator].
func (c *Cluster) Nominate(_ context.Context, pod *corev1.Pod, node string) error {
	p := c.Pods[nameOf(pod)]
	if p == nil || p.UID != pod.UID || p.Spec.NodeName != "" {
		return nil
	}
	p = p.DeepCopy()
	p.Status.NominatedNodeName = node
	return c.putPod(p)
}

// Evict implements [controller.Evictor].
func (c *Cluster) Evict(_ context.Context, pod *corev1.Pod) error {
	name := nameOf(pod)
	if p := c.Pods[name]; p == nil || p.UID != pod.UID {
		return nil
	}
	if c.Allowed(pod) == 0 {
		return controller.ErrEvictionBlocked
	}
	c.Evicted[name]++
	return c.recreate(name)
}
