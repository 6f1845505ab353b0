package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// key names an object.
type key struct {
	kind string
	name types.NamespacedName
}

func (k key) String() string {
	if k.name.Namespace == "" {
		return k.kind + " " + k.name.Name
	}
	return k.kind + " " + k.name.String()
}

// kind is a kind of object that the controller reads.
type kind struct {
	name       string
	namespaced bool
	// put adds an object to a change of the session, and reports whether it is of the kind; remove adds a removal. With a
	// nil change put only reports.
	put    func(*scheduling.Delta, metav1.Object) bool
	remove func(*scheduling.Delta, types.NamespacedName)
}

// kinds are all of them. PodDisruptionBudgets are no part of the session.
func kinds() []kind {
	type delta = scheduling.Delta
	return []kind{
		namespaced("Pod", func(d *delta) (*[]*corev1.Pod, *[]types.NamespacedName) { return &d.Pods, &d.Removed.Pods }),
		global("Node", func(d *delta) (*[]*corev1.Node, *[]string) { return &d.Nodes, &d.Removed.Nodes }),
		global("NodePool", func(d *delta) (*[]*scheduling.NodePool, *[]string) { return &d.NodePools, &d.Removed.NodePools }),
		namespaced("DaemonSet", func(d *delta) (*[]*appsv1.DaemonSet, *[]types.NamespacedName) {
			return &d.DaemonSets, &d.Removed.DaemonSets
		}),
		namespaced("PersistentVolumeClaim", func(d *delta) (*[]*corev1.PersistentVolumeClaim, *[]types.NamespacedName) {
			return &d.Claims, &d.Removed.Claims
		}),
		global("PersistentVolume", func(d *delta) (*[]*corev1.PersistentVolume, *[]string) { return &d.Volumes, &d.Removed.Volumes }),
		global("StorageClass", func(d *delta) (*[]*storagev1.StorageClass, *[]string) {
			return &d.StorageClasses, &d.Removed.StorageClasses
		}),
		global("CSINode", func(d *delta) (*[]*storagev1.CSINode, *[]string) { return &d.CSINodes, &d.Removed.CSINodes }),
		global("Namespace", func(d *delta) (*[]*corev1.Namespace, *[]string) { return &d.Namespaces, &d.Removed.Namespaces }),
		namespaced("Service", func(d *delta) (*[]*corev1.Service, *[]types.NamespacedName) { return &d.Services, &d.Removed.Services }),
		namespaced("ReplicationController", func(d *delta) (*[]*corev1.ReplicationController, *[]types.NamespacedName) {
			return &d.Owners.ReplicationControllers, &d.Removed.ReplicationControllers
		}),
		namespaced("ReplicaSet", func(d *delta) (*[]*appsv1.ReplicaSet, *[]types.NamespacedName) {
			return &d.Owners.ReplicaSets, &d.Removed.ReplicaSets
		}),
		namespaced("StatefulSet", func(d *delta) (*[]*appsv1.StatefulSet, *[]types.NamespacedName) {
			return &d.Owners.StatefulSets, &d.Removed.StatefulSets
		}),
		namespaced("PodDisruptionBudget", func(*delta) (*[]*policyv1.PodDisruptionBudget, *[]types.NamespacedName) {
			return new([]*policyv1.PodDisruptionBudget), new([]types.NamespacedName)
		}),
	}
}

// namespaced is a kind whose objects have a namespace, with the lists of a change for its objects and their removal.
func namespaced[T metav1.Object](name string, lists func(*scheduling.Delta) (*[]T, *[]types.NamespacedName)) kind {
	return listed(name, true, lists, func(n types.NamespacedName) types.NamespacedName { return n })
}

// global is a kind whose objects have no namespace.
func global[T metav1.Object](name string, lists func(*scheduling.Delta) (*[]T, *[]string)) kind {
	return listed(name, false, lists, func(n types.NamespacedName) string { return n.Name })
}

func listed[T metav1.Object, N any](name string, hasNamespace bool, lists func(*scheduling.Delta) (*[]T, *[]N), nameOf func(types.NamespacedName) N) kind {
	return kind{
		name: name, namespaced: hasNamespace,
		put: func(d *scheduling.Delta, o metav1.Object) bool {
			x, ok := o.(T)
			if ok && d != nil {
				objects, _ := lists(d)
				*objects = append(*objects, x)
			}
			return ok
		},
		remove: func(d *scheduling.Delta, n types.NamespacedName) {
			_, removed := lists(d)
			*removed = append(*removed, nameOf(n))
		},
	}
}

// keyOf returns the key of an object; its kind is "" where the controller does not read such objects.
func (c *Controller) keyOf(o metav1.Object) key {
	for _, k := range c.kinds {
		if !k.put(nil, o) {
			continue
		}
		name := types.NamespacedName{Name: o.GetName()}
		if k.namespaced {
			name.Namespace = cmp.Or(o.GetNamespace(), corev1.NamespaceDefault)
		}
		return key{k.name, name}
	}
	return key{}
}

// inbox holds the events that no Reconcile has read yet, the latest of each object.
type inbox struct {
	mu     sync.Mutex
	events map[key]metav1.Object // nil is deleted
	wake   chan struct{}
	// whole says that the events are the whole cluster: every other object is gone.
	whole bool
}

func (b *inbox) add(k key, o metav1.Object) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.events == nil {
		b.events = map[key]metav1.Object{}
	}
	b.events[k] = o
	b.signal()
}

// signal wakes Run up. The caller holds mu.
func (b *inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take empties the inbox.
func (b *inbox) take() (events map[key]metav1.Object, whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	events, whole = b.events, b.whole
	b.events, b.whole = nil, false
	return events, whole
}

// Upsert tells of objects that are new or have changed: pods, nodes, NodePools, DaemonSets, claims, volumes, storage
// classes, CSINodes, namespaces, Services, PodDisruptionBudgets and the owners of pods. The controller keeps them: they
// must not be changed any more. The error names kinds that it does not read; the other objects are taken.
func (c *Controller) Upsert(objects ...metav1.Object) error {
	return c.each(objects, func(k key, o metav1.Object) { c.inbox.add(k, o) })
}

// Delete tells of objects that are gone. Unknown ones are no error.
func (c *Controller) Delete(objects ...metav1.Object) error {
	return c.each(objects, func(k key, _ metav1.Object) { c.inbox.add(k, nil) })
}

// Resync tells of the whole cluster, e.g. after events were lost: every object that is not among these is gone.
// Events that no Reconcile has read yet are dropped.
func (c *Controller) Resync(objects ...metav1.Object) error {
	events := map[key]metav1.Object{}
	err := c.each(objects, func(k key, o metav1.Object) { events[k] = o })
	c.inbox.mu.Lock()
	defer c.inbox.mu.Unlock()
	c.inbox.events, c.inbox.whole = events, true
	c.inbox.signal()
	return err
}

// each calls f for the objects that the controller reads, and returns an error for the others.
func (c *Controller) each(objects []metav1.Object, f func(key, metav1.Object)) error {
	var unread []string
	for _, o := range objects {
		if k := c.keyOf(o); k.kind != "" {
			f(k, o)
		} else {
			unread = append(unread, fmt.Sprintf("%T", o))
		}
	}
	if len(unread) == 0 {
		return nil
	}
	slices.Sort(unread)
	return fmt.Errorf("controller: objects of these types are not read: %v", slices.Compact(unread))
}

// objects are the objects that Reconcile has read.
type objects struct {
	known   map[key]metav1.Object
	nodes   map[string]*corev1.Node
	budgets map[types.NamespacedName]*policyv1.PodDisruptionBudget
	// rejected are objects that the session refuses, with the reason.
	rejected map[key]string
	// pending are the pods without a node that need one, by name; on are the pods of each node.
	pending map[string]*corev1.Pod
	on      map[string]map[string]*corev1.Pod
	// touched is when a pod was last bound to a node or left it, DaemonSets aside.
	touched map[string]time.Time
}

func newObjects() objects {
	return objects{
		known: map[key]metav1.Object{}, nodes: map[string]*corev1.Node{}, budgets: map[types.NamespacedName]*policyv1.PodDisruptionBudget{}, rejected: map[key]string{}, pending: map[string]*corev1.Pod{},
		on: map[string]map[string]*corev1.Pod{}, touched: map[string]time.Time{},
	}
}

// pod returns the pod namespace/name, or nil.
func (x *objects) pod(name string) *corev1.Pod {
	p, _ := x.known[key{"Pod", podKey(name)}].(*corev1.Pod)
	return p
}

// restamp moves times of the future to now, after the clock went back.
func (x *objects) restamp(now time.Time) {
	for node, at := range x.touched {
		if at.After(now) {
			x.touched[node] = now
		}
	}
}

// index updates the lists of pods when pod before has become pod after; nil is none.
func (x *objects) index(before, after *corev1.Pod, now time.Time) {
	if before != nil {
		name := scheduling.PodName(before)
		delete(x.pending, name)
		delete(x.on[before.Spec.NodeName], name)
	}
	if after != nil && !leaving(after) && after.Spec.NodeName == "" {
		x.pending[scheduling.PodName(after)] = after
	}
	if after != nil && after.Spec.NodeName != "" && !ended(after) {
		if x.on[after.Spec.NodeName] == nil {
			x.on[after.Spec.NodeName] = map[string]*corev1.Pod{}
		}
		x.on[after.Spec.NodeName][scheduling.PodName(after)] = after
	}
	from, to := running(before), running(after)
	if from != to {
		for _, node := range []string{from, to} {
			if node != "" {
				x.touched[node] = now
			}
		}
	}
}

// running is the node on which a pod runs that is no daemon; "" where there is none.
func running(pod *corev1.Pod) string {
	if pod == nil || ended(pod) || ofDaemonSet(pod) {
		return ""
	}
	return pod.Spec.NodeName
}

// ended reports whether a pod has run to its end.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// leaving reports whether a pod has ended or is being deleted.
func leaving(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil || ended(pod) }

// ofDaemonSet reports whether a pod belongs to a DaemonSet.
func ofDaemonSet(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// read reports whether the session reads an object: not pods of DaemonSets and static pods without a node, which no
// plan places.
func read(o metav1.Object) bool {
	pod, ok := o.(*corev1.Pod)
	if !ok || pod.Spec.NodeName != "" {
		return true
	}
	owner := metav1.GetControllerOf(pod)
	return owner == nil || owner.Kind != "DaemonSet" && owner.Kind != "Node"
}

// readEvents takes over what has changed since the last call.
func (c *Controller) readEvents() {
	events, whole := c.inbox.take()
	if whole {
		for k := range c.objects.known {
			if _, there := events[k]; !there {
				events[k] = nil
			}
		}
		for k := range c.objects.rejected {
			if _, there := events[k]; !there {
				events[k] = nil
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(events), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name.Namespace, b.name.Namespace), cmp.Compare(a.name.Name, b.name.Name))
	})
	var d scheduling.Delta
	var changed []change
	for _, k := range keys {
		x := change{k, c.objects.known[k], events[k]}
		if x.after != nil && x.before != nil && same(x.before, x.after) {
			continue
		}
		if x.after != nil && !read(x.after) {
			x.after = nil
		}
		delete(c.objects.rejected, k)
		if x.before == nil && x.after == nil {
			continue
		}
		changed = append(changed, x)
		c.add(&d, x)
	}
	d.Now = c.clock.now
	if err := c.session.Apply(d); err == nil {
		for _, x := range changed {
			c.took(x)
		}
		return
	}
	// One object or more is malformed. It keeps its last state in the session, or is left out.
	for _, x := range changed {
		d := scheduling.Delta{Now: c.clock.now}
		c.add(&d, x)
		if err := c.session.Apply(d); err != nil {
			c.objects.rejected[x.key] = err.Error()
			c.opts.Log.Warn("object is left out of plans", "object", x.key.String(), "error", err)
			c.count(func(s *Stats) { s.RejectedObjects++ })
			continue
		}
		c.took(x)
	}
}

// change is an object before and after; nil is none.
type change struct {
	key           key
	before, after metav1.Object
}

// add adds a change to that of the session.
func (c *Controller) add(d *scheduling.Delta, x change) {
	for _, k := range c.kinds {
		if k.name != x.key.kind {
			continue
		}
		if node, ok := x.after.(*corev1.Node); ok {
			k.put(d, c.asPlanned(node))
		} else if x.after != nil {
			k.put(d, x.after)
		} else {
			k.remove(d, x.key.name)
		}
	}
}

// took notes a change that the session has.
func (c *Controller) took(x change) {
	if x.after == nil {
		delete(c.objects.known, x.key)
	} else {
		c.objects.known[x.key] = x.after
	}
	c.pods.changed = true
	switch x.key.kind {
	case "Pod":
		before, _ := x.before.(*corev1.Pod)
		after, _ := x.after.(*corev1.Pod)
		c.objects.index(before, after, c.clock.now)
		if after != nil && after.Spec.NodeName == "" && before == nil {
			c.pods.came = c.clock.elapsed
		}
	case "Node":
		if node, ok := x.after.(*corev1.Node); ok {
			c.objects.nodes[node.Name] = node
			c.nodeSeen(node)
		} else {
			delete(c.objects.nodes, x.key.name.Name)
			delete(c.objects.touched, x.key.name.Name)
			c.nodeGone(x.key.name.Name)
		}
	case "PodDisruptionBudget":
		if b, ok := x.after.(*policyv1.PodDisruptionBudget); ok {
			c.objects.budgets[x.key.name] = b
		} else {
			delete(c.objects.budgets, x.key.name)
		}
	}
}

// same reports whether an event tells nothing new.
func same(a, b metav1.Object) bool {
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() != "" && a.GetResourceVersion() == b.GetResourceVersion()
}
