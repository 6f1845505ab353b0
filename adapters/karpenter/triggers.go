package karpenter

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	utilscontroller "sigs.k8s.io/karpenter/pkg/utils/controller"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
)

// triggerEvery is how often an object triggers while it needs a plan, as in Karpenter: a pod may stay pending after a plan
// because other pods came first.
const triggerEvery = 10 * time.Second

// trigger is a controller that calls [Provisioner.Trigger] for the objects of a kind that need a plan. Karpenter's own
// controllers of the same names trigger Karpenter's provisioner.
type trigger[T client.Object] struct {
	name        string
	provisioner *Provisioner
	// object is an empty object of the kind.
	object T
	// due reports whether an object needs a plan.
	due func(T) bool
}

// newPodTrigger triggers for pods that kube-scheduler found no node for.
func newPodTrigger(p *Provisioner) *trigger[*corev1.Pod] {
	return &trigger[*corev1.Pod]{name: "provisioner.trigger.pod", provisioner: p, object: &corev1.Pod{}, due: func(pod *corev1.Pod) bool {
		if !podutils.IsProvisionable(pod) {
			return false
		}
		p.reader.Cluster.AckPods(pod)
		return true
	}}
}

// newNodeTrigger triggers for nodes that are being removed, whose pods need other nodes.
func newNodeTrigger(p *Provisioner) *trigger[*corev1.Node] {
	return &trigger[*corev1.Node]{name: "provisioner.trigger.node", provisioner: p, object: &corev1.Node{}, due: func(node *corev1.Node) bool {
		return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&karpv1.DisruptedNoScheduleTaint) })
	}}
}

// Name is the controller's name in Karpenter.
func (t *trigger[T]) Name() string { return t.name }

// Reconcile triggers the provisioner, and again for as long as the object needs a plan.
func (t *trigger[T]) Reconcile(_ context.Context, object T) (reconcile.Result, error) {
	if !t.due(object) {
		return reconcile.Result{}, nil
	}
	t.provisioner.Trigger(object.GetUID())
	return reconcile.Result{RequeueAfter: triggerEvery}, nil
}

// Register registers the controller with a manager.
func (t *trigger[T]) Register(ctx context.Context, m manager.Manager) error {
	return controllerruntime.NewControllerManagedBy(m).
		Named(t.name).
		For(t.object).
		WithOptions(controller.Options{MaxConcurrentReconciles: utilscontroller.LinearScaleReconciles(utilscontroller.CPUCount(ctx), 10, 1000)}).
		Complete(reconcile.AsReconciler(m.GetClient(), t))
}
