package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Cluster has the objects of a cluster as of the last Read, and a session with them. Upsert, Delete, Resync and Wake are
// for any goroutine; all other methods are for one at a time. Maps that methods return are the cluster's own: callers
// read them until the next Read, and change nothing.
type Cluster struct {
	kinds   []kind
	inbox   inbox
	session *provisioning.Session
	// asPlanned is a node as plans see it.
	asPlanned func(*corev1.Node) *corev1.Node
	known     map[key]metav1.Object
	nodes     map[string]*corev1.Node
	budgets   map[types.NamespacedName]*policyv1.PodDisruptionBudget
	// rejected are objects that the session refuses.
	rejected map[key]bool
	pods     pods
}

// New starts a cluster. The problem has the objects that do not come as events: catalog, kube-scheduler's configuration,
// NodePools if they are not watched. It must have no pods and no nodes. asPlanned returns a node as plans see it, e.g. with
// a taint that it is about to get, in place of the node of an event, which it must not change; nil is the node itself.
func New(policy scheduling.Policy, p scheduling.Problem, asPlanned func(*corev1.Node) *corev1.Node) (*Cluster, error) {
	if len(p.Pods)+len(p.Running)+len(p.Nodes) > 0 {
		return nil, fmt.Errorf("the problem has %d pods and %d nodes; hand them to Upsert", len(p.Pods)+len(p.Running), len(p.Nodes))
	}
	session, err := provisioning.NewSession(policy, p)
	if err != nil {
		return nil, err
	}
	if asPlanned == nil {
		asPlanned = func(node *corev1.Node) *corev1.Node { return node }
	}
	c := &Cluster{
		kinds: kinds(), session: session, asPlanned: asPlanned, known: map[key]metav1.Object{}, nodes: map[string]*corev1.Node{},
		budgets: map[types.NamespacedName]*policyv1.PodDisruptionBudget{}, rejected: map[key]bool{}, pods: newPods(),
	}
	c.inbox.wake = make(chan struct{}, 1)
	for _, pool := range p.NodePools {
		c.known[c.keyOf(pool)] = pool
	}
	return c, nil
}

// Session has the objects of the last Read. Its caller may apply changes that do not come as events, and plan.
func (c *Cluster) Session() *provisioning.Session { return c.session }

// Change is an object before and after an event; nil is none.
type Change struct {
	key           key
	Before, After metav1.Object
}

// Kind is the kind of the object, e.g. Pod.
func (x *Change) Kind() string { return x.key.kind }

// Name is the name of the object, without its namespace.
func (x *Change) Name() string { return x.key.name.Name }

// Rejected is an object that the session refuses. It keeps its last state there, or is left out.
type Rejected struct {
	// Object is the object, as kind and name.
	Object string
	// Err lists its faults.
	Err error
}

// Read hands the events that have come since the last Read to the session, in one change, and returns the objects that
// have changed, by kind and name. Where the session refuses the change, malformed objects are left out of it.
func (c *Cluster) Read(now time.Time) (changes []Change, rejected []Rejected) {
	events, whole := c.inbox.take()
	if whole {
		for k := range c.known {
			if _, there := events[k]; !there {
				events[k] = nil
			}
		}
		for k := range c.rejected {
			if _, there := events[k]; !there {
				events[k] = nil
			}
		}
	}
	d := scheduling.Delta{Now: now}
	for _, k := range inOrder(events) {
		x := Change{k, c.known[k], events[k]}
		if x.After != nil && x.Before != nil && same(x.Before, x.After) {
			continue
		}
		if x.After != nil && !read(x.After) {
			x.After = nil
		}
		delete(c.rejected, k)
		if x.Before == nil && x.After == nil {
			continue
		}
		changes = append(changes, x)
		c.add(&d, &x)
	}
	if err := c.session.Apply(d); err == nil {
		for i := range changes {
			c.keep(&changes[i], now)
		}
		return changes, nil
	}
	taken := changes[:0]
	for _, x := range changes {
		d := scheduling.Delta{Now: now}
		c.add(&d, &x)
		if err := c.session.Apply(d); err != nil {
			c.rejected[x.key] = true
			rejected = append(rejected, Rejected{x.key.String(), err})
			continue
		}
		c.keep(&x, now)
		taken = append(taken, x)
	}
	return taken, rejected
}

// add adds a change to that of the session.
func (c *Cluster) add(d *scheduling.Delta, x *Change) {
	for _, k := range c.kinds {
		if k.name != x.key.kind {
			continue
		}
		if node, ok := x.After.(*corev1.Node); ok {
			k.put(d, c.asPlanned(node))
		} else if x.After != nil {
			k.put(d, x.After)
		} else {
			k.remove(d, x.key.name)
		}
	}
}

// keep notes a change that the session has.
func (c *Cluster) keep(x *Change, now time.Time) {
	if x.After == nil {
		delete(c.known, x.key)
	} else {
		c.known[x.key] = x.After
	}
	switch x.key.kind {
	case "Pod":
		before, _ := x.Before.(*corev1.Pod)
		after, _ := x.After.(*corev1.Pod)
		c.pods.index(before, after, now)
	case "Node":
		if node, ok := x.After.(*corev1.Node); ok {
			c.nodes[node.Name] = node
		} else {
			delete(c.nodes, x.Name())
			delete(c.pods.touched, x.Name())
		}
	case "PodDisruptionBudget":
		if b, ok := x.After.(*policyv1.PodDisruptionBudget); ok {
			c.budgets[x.key.name] = b
		} else {
			delete(c.budgets, x.key.name)
		}
	}
}

// Nodes are the nodes by name.
func (c *Cluster) Nodes() map[string]*corev1.Node { return c.nodes }

// Budgets are the PodDisruptionBudgets, by namespace and name.
func (c *Cluster) Budgets() []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, name := range slices.SortedFunc(maps.Keys(c.budgets), func(a, b types.NamespacedName) int { return cmp.Compare(a.String(), b.String()) }) {
		out = append(out, c.budgets[name])
	}
	return out
}

// PodKey reads namespace/name.
func PodKey(pod string) types.NamespacedName {
	namespace, name, _ := strings.Cut(pod, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// read reports whether the session reads an object: not pods of DaemonSets and static pods without a node, which no
// plan places.
func read(o metav1.Object) bool {
	pod, ok := o.(*corev1.Pod)
	return !ok || pod.Spec.NodeName != "" || !lifecycle.OfDaemonSet(pod) && !lifecycle.Static(pod)
}

// same reports whether an event tells nothing new.
func same(a, b metav1.Object) bool {
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() != "" && a.GetResourceVersion() == b.GetResourceVersion()
}
