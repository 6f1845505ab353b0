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

// keyOf returns the key of an object; its kind is "" where the controller does not read such objects.
func keyOf(o metav1.Object) key {
	namespaced := func(kind string) key {
		return key{kind, types.NamespacedName{Namespace: cmp.Or(o.GetNamespace(), corev1.NamespaceDefault), Name: o.GetName()}}
	}
	global := func(kind string) key { return key{kind, types.NamespacedName{Name: o.GetName()}} }
	switch o.(type) {
	case *corev1.Pod:
		return namespaced("Pod")
	case *corev1.Node:
		return global("Node")
	case *scheduling.NodePool:
		return global("NodePool")
	case *appsv1.DaemonSet:
		return namespaced("DaemonSet")
	case *corev1.PersistentVolumeClaim:
		return namespaced("PersistentVolumeClaim")
	case *corev1.PersistentVolume:
		return global("PersistentVolume")
	case *storagev1.StorageClass:
		return global("StorageClass")
	case *storagev1.CSINode:
		return global("CSINode")
	case *corev1.Namespace:
		return global("Namespace")
	case *corev1.Service:
		return namespaced("Service")
	case *corev1.ReplicationController:
		return namespaced("ReplicationController")
	case *appsv1.ReplicaSet:
		return namespaced("ReplicaSet")
	case *appsv1.StatefulSet:
		return namespaced("StatefulSet")
	case *policyv1.PodDisruptionBudget:
		return namespaced("PodDisruptionBudget")
	}
	return key{}
}

// put adds an object to a change of the session; budgets are not part of it.
func put(d *scheduling.Delta, o metav1.Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		d.Pods = append(d.Pods, o)
	case *corev1.Node:
		d.Nodes = append(d.Nodes, o)
	case *scheduling.NodePool:
		d.NodePools = append(d.NodePools, o)
	case *appsv1.DaemonSet:
		d.DaemonSets = append(d.DaemonSets, o)
	case *corev1.PersistentVolumeClaim:
		d.Claims = append(d.Claims, o)
	case *corev1.PersistentVolume:
		d.Volumes = append(d.Volumes, o)
	case *storagev1.StorageClass:
		d.StorageClasses = append(d.StorageClasses, o)
	case *storagev1.CSINode:
		d.CSINodes = append(d.CSINodes, o)
	case *corev1.Namespace:
		d.Namespaces = append(d.Namespaces, o)
	case *corev1.Service:
		d.Services = append(d.Services, o)
	case *corev1.ReplicationController:
		d.Owners.ReplicationControllers = append(d.Owners.ReplicationControllers, o)
	case *appsv1.ReplicaSet:
		d.Owners.ReplicaSets = append(d.Owners.ReplicaSets, o)
	case *appsv1.StatefulSet:
		d.Owners.StatefulSets = append(d.Owners.StatefulSets, o)
	}
}

// remove adds a removal to a change of the session.
func remove(d *scheduling.Delta, k key) {
	r := &d.Removed
	switch k.kind {
	case "Pod":
		r.Pods = append(r.Pods, k.name)
	case "Node":
		r.Nodes = append(r.Nodes, k.name.Name)
	case "NodePool":
		r.NodePools = append(r.NodePools, k.name.Name)
	case "DaemonSet":
		r.DaemonSets = append(r.DaemonSets, k.name)
	case "PersistentVolumeClaim":
		r.Claims = append(r.Claims, k.name)
	case "PersistentVolume":
		r.Volumes = append(r.Volumes, k.name.Name)
	case "StorageClass":
		r.StorageClasses = append(r.StorageClasses, k.name.Name)
	case "CSINode":
		r.CSINodes = append(r.CSINodes, k.name.Name)
	case "Namespace":
		r.Namespaces = append(r.Namespaces, k.name.Name)
	case "Service":
		r.Services = append(r.Services, k.name)
	case "ReplicationController":
		r.ReplicationControllers = append(r.ReplicationControllers, k.name)
	case "ReplicaSet":
		r.ReplicaSets = append(r.ReplicaSets, k.name)
	case "StatefulSet":
		r.StatefulSets = append(r.StatefulSets, k.name)
	}
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
	return each(objects, func(k key, o metav1.Object) { c.inbox.add(k, o) })
}

// Delete tells of objects that are gone. Unknown ones are no error.
func (c *Controller) Delete(objects ...metav1.Object) error {
	return each(objects, func(k key, _ metav1.Object) { c.inbox.add(k, nil) })
}

// Resync tells of the whole cluster, e.g. after events were lost: every object that is not among these is gone.
// Events that no Reconcile has read yet are dropped.
func (c *Controller) Resync(objects ...metav1.Object) error {
	events := map[key]metav1.Object{}
	err := each(objects, func(k key, o metav1.Object) { events[k] = o })
	c.inbox.mu.Lock()
	defer c.inbox.mu.Unlock()
	c.inbox.events, c.inbox.whole = events, true
	c.inbox.signal()
	return err
}

// each calls f for the objects that the controller reads, and returns an error for the others.
func each(objects []metav1.Object, f func(key, metav1.Object)) error {
	var unread []string
	for _, o := range objects {
		if k := keyOf(o); k.kind != "" {
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
	known map[key]metav1.Object
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
		known: map[key]metav1.Object{}, rejected: map[key]string{}, pending: map[string]*corev1.Pod{},
		on: map[string]map[string]*corev1.Pod{}, touched: map[string]time.Time{},
	}
}

// node returns the node of a name, or nil.
func (x *objects) node(name string) *corev1.Node {
	n, _ := x.known[key{"Node", types.NamespacedName{Name: name}}].(*corev1.Node)
	return n
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
	if x.after == nil {
		remove(d, x.key)
		return
	}
	if node, ok := x.after.(*corev1.Node); ok {
		put(d, c.asPlanned(node))
		return
	}
	put(d, x.after)
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
		if x.after == nil {
			c.nodeGone(x.key.name.Name)
			delete(c.objects.touched, x.key.name.Name)
		} else {
			c.nodeSeen(x.after.(*corev1.Node))
		}
	case "PodDisruptionBudget":
		if x.after == nil {
			delete(c.budgets, x.key.name)
		} else {
			c.budgets[x.key.name] = x.after.(*policyv1.PodDisruptionBudget)
		}
	}
}

// same reports whether an event tells nothing new.
func same(a, b metav1.Object) bool {
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() != "" && a.GetResourceVersion() == b.GetResourceVersion()
}
