package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// PodReader reads pods with the objects that they refer to: Namespaces, Services, owners, and the default topology
// spread of the cluster, and claims with their volumes.
type PodReader struct {
	problem *scheduling.Problem
	storage *storage
	// identities are the identities of pods, deduced the selectors of default spread constraints, each read once.
	identities map[string]*Identity
	deduced    map[string]*metav1.LabelSelector
}

func newPodReader(p *scheduling.Problem) *PodReader {
	return &PodReader{problem: p, storage: readStorage(p), identities: make(map[string]*Identity), deduced: make(map[string]*metav1.LabelSelector)}
}

// NewPod reads a pod.
func (r *PodReader) NewPod(pod *corev1.Pod) *Pod {
	return &Pod{
		Name:     ObjectName(pod),
		Object:   pod,
		Requests: pendingRequests(pod),
		Ports:    hostPorts(&pod.Spec),
		Selector: selectorOf(&pod.Spec),
		Mounts:   r.storage.mountsOf(pod),
		Identity: r.IdentityOf(pod),
		Terms:    r.TermsOf(pod, false),
	}
}

// preferredBy are the pods that the preferences of a pod are about.
func (r *PodReader) preferredBy(pod *corev1.Pod) []*PodSelector {
	var sets []*PodSelector
	for _, c := range r.spreadOf(pod) {
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			sets = append(sets, spreadSet(pod, &c))
		}
	}
	var terms []corev1.WeightedPodAffinityTerm
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		terms = append(terms, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		terms = append(terms, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	for i := range terms {
		sets = append(sets, termSet(pod, &terms[i].PodAffinityTerm))
	}
	return sets
}

// WorkloadOf returns the name of the pod's workload: its controller, or without one the Services that select it; ""
// for a pod of neither, and for pods of DaemonSets and kubelets, because every node has its own.
func (r *PodReader) WorkloadOf(pod *corev1.Pod) string {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "DaemonSet" || ref.Kind == "Node" {
			return ""
		}
		return ref.Kind + "/" + NamespaceOf(pod) + "/" + ref.Name
	}
	var names []string
	for _, s := range r.servicesOf(pod) {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return "Services/" + NamespaceOf(pod) + "/" + strings.Join(names, ",")
}

// TermsOf reads the topology terms of a pod. Of one that runs already only its anti-affinity matters, because it
// keeps other pods off.
func (r *PodReader) TermsOf(pod *corev1.Pod, runs bool) *TopologyTerms {
	t := &TopologyTerms{}
	a := ValueOr(pod.Spec.Affinity, corev1.Affinity{})
	if !runs {
		constraints := slices.DeleteFunc(slices.Clone(r.spreadOf(pod)), func(c corev1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == corev1.ScheduleAnyway
		})
		keys := make([]string, len(constraints))
		for i := range constraints {
			keys[i] = constraints[i].TopologyKey
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		for i := range constraints {
			t.Spread = append(t.Spread, readSpread(pod, &constraints[i], keys))
		}
		if a.PodAffinity != nil {
			t.Affinity = readTerms(pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	if a.PodAntiAffinity != nil {
		t.AntiAffinity = readTerms(pod, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	var texts []string
	for _, c := range t.Spread {
		texts = append(texts, c.Text)
	}
	for _, n := range t.Affinity {
		texts = append(texts, "near "+n.Text)
	}
	for _, n := range t.AntiAffinity {
		texts = append(texts, "apart "+n.Text)
	}
	t.Text = strings.Join(texts, "\n")
	return t
}

// IdentityOf returns the identity of the pod. Pods with equal identities share one.
func (r *PodReader) IdentityOf(pod *corev1.Pod) *Identity {
	space := NamespaceOf(pod)
	key := fmt.Sprintf("%q %v %s", space, pod.DeletionTimestamp != nil, LabelText(pod.Labels))
	f := r.identities[key]
	if f == nil {
		f = &Identity{namespace: space, namespaceLabels: r.namespaceLabels(space), Labels: pod.Labels, deleting: pod.DeletionTimestamp != nil}
		r.identities[key] = f
	}
	return f
}

// namespaceLabels returns the labels of a namespace. Every namespace has its own name as a label; a namespace that
// the problem does not list has no other.
func (r *PodReader) namespaceLabels(name string) labels.Set {
	out := labels.Set{corev1.LabelMetadataName: name}
	for _, ns := range r.problem.Namespaces {
		if ns != nil && ns.Name == name {
			maps.Copy(out, ns.Labels)
		}
	}
	return out
}

// spreadOf returns the spread constraints of a pod: its own, or if it states none at
// all, the defaults of the cluster with a selector that is deduced.
func (r *PodReader) spreadOf(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	if len(pod.Spec.TopologySpreadConstraints) > 0 || len(r.problem.DefaultSpread) == 0 {
		return pod.Spec.TopologySpreadConstraints
	}
	key := fmt.Sprintf("%q %s %v", NamespaceOf(pod), LabelText(pod.Labels), metav1.GetControllerOfNoCopy(pod))
	s := r.deduced[key]
	if s == nil {
		s = r.deducedSelector(pod)
		r.deduced[key] = s
	}
	if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return nil // no Service and no owner says which pods belong together
	}
	constraints := slices.Clone(r.problem.DefaultSpread)
	for i := range constraints {
		constraints[i].LabelSelector = s
	}
	return constraints
}

// deducedSelector returns the selector of default spread constraints, as kube-scheduler deduces it: labels that the
// Services of the pod select, and the selector of its controller. Labels of a ReplicationController replace those of
// Services; the selectors of ReplicaSets and StatefulSets must hold besides.
func (r *PodReader) deducedSelector(pod *corev1.Pod) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for _, service := range r.servicesOf(pod) {
		maps.Copy(s.MatchLabels, service.Spec.Selector)
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return s
	}
	name := NamespaceOf(pod) + "/" + ref.Name
	add := func(o metav1.Object, more *metav1.LabelSelector) {
		if more != nil && ObjectName(o) == name {
			s.MatchExpressions = slices.Concat(s.MatchExpressions, same(more.MatchLabels), more.MatchExpressions)
		}
	}
	switch ref.APIVersion + " " + ref.Kind {
	case "v1 ReplicationController":
		for _, o := range r.problem.Owners.ReplicationControllers {
			if o != nil && ObjectName(o) == name {
				maps.Copy(s.MatchLabels, o.Spec.Selector)
			}
		}
	case "apps/v1 ReplicaSet":
		for _, o := range r.problem.Owners.ReplicaSets {
			if o != nil {
				add(o, o.Spec.Selector)
			}
		}
	case "apps/v1 StatefulSet":
		for _, o := range r.problem.Owners.StatefulSets {
			if o != nil {
				add(o, o.Spec.Selector)
			}
		}
	}
	return s
}

// servicesOf are the Services that select the pod.
func (r *PodReader) servicesOf(pod *corev1.Pod) []*corev1.Service {
	var out []*corev1.Service
	for _, s := range r.problem.Services {
		if s != nil && len(s.Spec.Selector) > 0 && NamespaceOf(s) == NamespaceOf(pod) && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			out = append(out, s)
		}
	}
	return out
}
