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

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// surroundings are the objects that Karpenter asks the API server for while it
// schedules: claims, volumes, storage classes, and every namespace that a pod is in.
func surroundings(p *scheduling.Problem) []client.Object {
	var out []client.Object
	for _, o := range schedulingtest.Objects(p) {
		o.SetResourceVersion("")
		if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
			// The fake client accepts an object with a deletion timestamp only if it has a finalizer.
			o.SetFinalizers([]string{"example.com/kept"})
		}
		out = append(out, o)
	}
	return out
}

// server is an API server that has the objects. Karpenter asks it for volumes in the
// namespace of a pod, as if they had one; like the client that Karpenter runs with, and
// unlike the bare fake, it does not mind.
func server(objects []client.Object) client.Client {
	get := func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if _, ok := o.(*corev1.PersistentVolume); ok {
			key.Namespace = ""
		}
		return c.Get(ctx, key, o, opts...)
	}
	return fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{Get: get}).Build()
}

// memory holds the objects that Karpenter's controllers read most often. It answers as their
// caches do, with copies of objects in memory and pods indexed by node, because the plain fake
// client sends every object through JSON at each request, which would take most of the time.
type memory struct {
	pools   []*karpv1.NodePool
	nodes   map[string]*corev1.Node
	pods    map[string][]*corev1.Pod // by node; "" is none
	daemons []*appsv1.DaemonSet
	budgets []*policyv1.PodDisruptionBudget
}

// client reads kinds of objects that memory holds from there, and all others from objects.
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
