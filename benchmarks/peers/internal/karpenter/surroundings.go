package karpenter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	klabels "k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// surroundings are the objects that Karpenter asks the API server for while it
// schedules: claims, volumes, storage classes, and every namespace that a pod is in.
func surroundings(p *scheduling.Problem) []client.Object {
	var out []client.Object
	claims := map[string]bool{}
	for _, c := range p.Claims {
		c = c.DeepCopy()
		c.Namespace = cmp.Or(c.Namespace, corev1.NamespaceDefault)
		claims[c.Namespace+"/"+c.Name] = true
		out = append(out, c)
	}
	for _, v := range p.Volumes {
		out = append(out, v.DeepCopy())
	}
	for _, s := range p.StorageClasses {
		out = append(out, s.DeepCopy())
	}
	for _, c := range p.CSINodes {
		out = append(out, c.DeepCopy())
	}
	standard := standardClass(p.StorageClasses)
	namespaces := map[string]bool{}
	for _, n := range p.Namespaces {
		n = n.DeepCopy()
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[corev1.LabelMetadataName] = n.Name
		namespaces[n.Name] = true
		out = append(out, n)
	}
	for _, pod := range p.Pods {
		if !namespaces[pod.Namespace] {
			namespaces[pod.Namespace] = true
			out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: pod.Namespace, Labels: map[string]string{corev1.LabelMetadataName: pod.Namespace},
			}})
		}
		for i := range pod.Spec.Volumes {
			if c := ephemeralClaim(pod, &pod.Spec.Volumes[i], standard); c != nil && !claims[c.Namespace+"/"+c.Name] {
				out = append(out, c)
			}
		}
	}
	for _, o := range out {
		o.SetResourceVersion("")
		if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
			// Nothing stays while it is being deleted but for a finalizer.
			o.SetFinalizers([]string{"example.com/kept"})
		}
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

// ephemeralClaim is the claim that the controller of ephemeral volumes makes for one of
// the pod's volumes, and that the API server gives the standard class.
func ephemeralClaim(pod *corev1.Pod, v *corev1.Volume, standard string) *corev1.PersistentVolumeClaim {
	if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
		return nil
	}
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: fmt.Sprintf("%s-%s", pod.Name, v.Name)},
		Spec:       *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy(),
	}
	if c.Spec.StorageClassName == nil && standard != "" {
		c.Spec.StorageClassName = &standard
	}
	return c
}

// standardClass is the newest of the default classes, the first by name of equally new
// ones; "" if there is none.
func standardClass(classes []*storagev1.StorageClass) string {
	var standard []*storagev1.StorageClass
	for _, c := range classes {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			standard = append(standard, c)
		}
	}
	if len(standard) == 0 {
		return ""
	}
	return slices.MinFunc(standard, func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	}).Name
}

// mergeLabelKeys does to the terms of pod affinity and anti-affinity what the API
// server does when a pod is created: label keys become part of the selector.
func mergeLabelKeys(pod *corev1.Pod) {
	a := pod.Spec.Affinity
	if a == nil {
		return
	}
	merge := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			mergeKeys(&required[i], pod.Labels)
		}
		for i := range preferred {
			mergeKeys(&preferred[i].PodAffinityTerm, pod.Labels)
		}
	}
	if a.PodAffinity != nil {
		merge(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		merge(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func mergeKeys(t *corev1.PodAffinityTerm, labels map[string]string) {
	if t.LabelSelector == nil {
		return
	}
	add := func(keys []string, op metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if value, ok := labels[key]; ok {
				t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions,
					metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
			}
		}
	}
	add(t.MatchLabelKeys, metav1.LabelSelectorOpIn)
	add(t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
}

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
