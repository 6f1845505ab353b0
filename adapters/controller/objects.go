package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
)

// Upsert tells of objects that are new or have changed: pods, nodes, NodePools, DaemonSets, claims, volumes, storage
// classes, CSINodes, namespaces, Services, PodDisruptionBudgets and the owners of pods. The controller keeps them: they
// must not be changed any more. The error names kinds that it does not read; the other objects are taken.
func (c *Controller) Upsert(objects ...metav1.Object) error { return c.state.Upsert(objects...) }

// Delete tells of objects that are gone. Unknown ones are no error.
func (c *Controller) Delete(objects ...metav1.Object) error { return c.state.Delete(objects...) }

// Resync tells of the whole cluster, e.g. after events were lost: every object that is not among these is gone.
// Events that no Reconcile has read yet are dropped.
func (c *Controller) Resync(objects ...metav1.Object) error { return c.state.Resync(objects...) }

// readEvents takes over what has changed since the last call.
func (c *Controller) readEvents() {
	changes, rejected := c.state.Read(c.clock.now)
	for _, x := range rejected {
		c.opts.Log.Warn("object is left out of plans", "object", x.Object, "error", x.Err)
		c.count(func(s *Stats) { s.RejectedObjects++ })
	}
	for i := range changes {
		c.took(&changes[i])
	}
}

// took notes a change that the session has.
func (c *Controller) took(x *state.Change) {
	c.pods.changed = true
	switch o := x.After.(type) {
	case *corev1.Pod:
		before, _ := x.Before.(*corev1.Pod)
		switch {
		case o.Spec.NodeName == "" && before == nil:
			c.pods.came = c.clock.elapsed
		case o.Spec.NodeName != "" && (before == nil || before.Spec.NodeName == "") && lifecycle.Evictable(o):
			c.pods.bound(o)
		}
	case *corev1.Node:
		c.nodeSeen(o)
	}
	if x.After == nil && x.Kind() == "Node" {
		c.nodeGone(x.Name())
	}
}
