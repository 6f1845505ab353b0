package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// inbox holds the events that no Read has seen yet, the latest of each object.
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

// signal wakes the receiver of wake. The caller holds mu.
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

// Upsert tells of objects that are new or have changed: pods, nodes, NodePools, NodeClaims, DaemonSets, claims, volumes,
// storage classes, CSINodes, namespaces, Services, PodDisruptionBudgets and the owners of pods. The cluster keeps them:
// they must not be changed any more. The error names kinds that it does not read; the other objects are taken. Any
// goroutine may call it.
func (c *Cluster) Upsert(objects ...metav1.Object) error {
	return c.each(objects, func(k key, o metav1.Object) { c.inbox.add(k, o) })
}

// Delete tells of objects that are gone. Unknown ones are no error. Any goroutine may call it.
func (c *Cluster) Delete(objects ...metav1.Object) error {
	return c.each(objects, func(k key, _ metav1.Object) { c.inbox.add(k, nil) })
}

// Resync tells of the whole cluster, e.g. after events were lost: every object that is not among these is gone. Events
// that no Read has seen yet are dropped. Any goroutine may call it.
func (c *Cluster) Resync(objects ...metav1.Object) error {
	events := map[key]metav1.Object{}
	err := c.each(objects, func(k key, o metav1.Object) { events[k] = o })
	c.inbox.mu.Lock()
	defer c.inbox.mu.Unlock()
	c.inbox.events, c.inbox.whole = events, true
	c.inbox.signal()
	return err
}

// Wake receives a value when events have come since the last Read.
func (c *Cluster) Wake() <-chan struct{} { return c.inbox.wake }

// each calls f for the objects that the cluster reads, and returns an error for the others.
func (c *Cluster) each(objects []metav1.Object, f func(key, metav1.Object)) error {
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
	return fmt.Errorf("objects of these types are not read: %v", slices.Compact(unread))
}

// keyOf returns the key of an object; its kind is "" where such objects are not read.
func (c *Cluster) keyOf(o metav1.Object) key {
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

// inOrder are the keys by kind, namespace and name.
func inOrder(events map[key]metav1.Object) []key {
	return slices.SortedFunc(maps.Keys(events), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name.Namespace, b.name.Namespace), cmp.Compare(a.name.Name, b.name.Name))
	})
}
