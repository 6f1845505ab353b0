package karpenter

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	klabels "k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// memory is what Karpenter's controllers read again and again. It answers as their
// caches do, by copies of what is in memory, with pods by their nodes: the bare fake
// client sends every object through JSON at each question, which would take most of the time.
type memory struct {
	pools   []*karpv1.NodePool
	nodes   map[string]*corev1.Node
	pods    map[string][]*corev1.Pod // by node; "" is none
	daemons []*appsv1.DaemonSet
	budgets []*policyv1.PodDisruptionBudget
}

// client answers from memory, and for what is not there from the objects.
func (m *memory) client(objects []client.Object) client.Client {
	return fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{Get: m.get, List: m.list}).Build()
}

func (m *memory) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	switch o := o.(type) {
	case *corev1.Node:
		node, ok := m.nodes[key.Name]
		if !ok {
			return apierrors.NewNotFound(corev1.Resource("nodes"), key.Name)
		}
		node.DeepCopyInto(o)
		return nil
	case *corev1.PersistentVolume:
		key.Namespace = "" // see server
	}
	return c.Get(ctx, key, o, opts...)
}

func (m *memory) list(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	switch l := list.(type) {
	case *corev1.PodList:
		l.Items = m.podsThat(opts)
	case *karpv1.NodePoolList:
		l.Items = copies(m.pools)
	case *appsv1.DaemonSetList:
		l.Items = copies(m.daemons)
	case *policyv1.PodDisruptionBudgetList:
		l.Items = copies(m.budgets)
	default:
		return c.List(ctx, list, opts...)
	}
	return nil
}

// podsThat are the pods that the options ask for.
func (m *memory) podsThat(opts []client.ListOption) []corev1.Pod {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	from := m.pods
	if o.FieldSelector != nil {
		if node, exact := o.FieldSelector.RequiresExactMatch("spec.nodeName"); exact {
			from = map[string][]*corev1.Pod{node: m.pods[node]}
		}
	}
	var out []corev1.Pod
	for _, pods := range from {
		for _, pod := range pods {
			if o.Namespace != "" && o.Namespace != pod.Namespace {
				continue
			}
			if o.LabelSelector != nil && !o.LabelSelector.Matches(klabels.Set(pod.Labels)) {
				continue
			}
			out = append(out, *pod.DeepCopy())
		}
	}
	return out
}

// copied is a pointer to an object that can be copied into another one.
type copied[T any] interface {
	*T
	DeepCopyInto(into *T)
}

func copies[T any, P copied[T]](from []P) []T {
	out := make([]T, len(from))
	for i := range from {
		from[i].DeepCopyInto(&out[i])
	}
	return out
}
