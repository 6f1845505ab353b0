package podspec

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Workloads knows which pods belong to one workload, for [scheduling.Policy.WorkloadShare]: pods of one
// controller or, without one, pods that the same Services select.
type Workloads struct {
	Percent  int64
	Services map[string][]*corev1.Service // by namespace
	Pods     map[string]int64             // number of pods by workload
}

// NewWorkloads returns workloads without pods. share is a percentage.
func NewWorkloads(p *scheduling.Problem, share int) *Workloads {
	w := &Workloads{Percent: int64(share), Services: map[string][]*corev1.Service{}, Pods: map[string]int64{}}
	for _, s := range p.Services {
		if len(s.Spec.Selector) > 0 {
			ns := OrDefault(s.Namespace)
			w.Services[ns] = append(w.Services[ns], s)
		}
	}
	return w
}

// WorkloadKey is a pseudo label with the name of the workload. It is no valid label key.
const WorkloadKey = "workload:"

// Count adds a pod to its workload, if it has one.
func (w *Workloads) Count(pod *corev1.Pod) {
	if name := w.Of(pod); name != "" {
		w.Pods[name]++
	}
}

// Of returns the name of a pod's workload; "" for none. Pods of DaemonSets and static pods have none, because
// each node has its own.
func (w *Workloads) Of(pod *corev1.Pod) string {
	ns := NamespaceOf(pod)
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "DaemonSet" || ref.Kind == "Node" {
			return ""
		}
		return ref.Kind + "/" + ns + "/" + ref.Name
	}
	var names []string
	for _, s := range w.Services[ns] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "Service/" + ns + "/" + strings.Join(names, "+")
}

// Most returns the number of a workload's pods that may share a machine: its share, rounded down, at least one.
func (w *Workloads) Most(name string) int64 { return max(1, w.Pods[name]*w.Percent/100) }

// DefaultSpread deduces the selectors of the cluster's default spread constraints for a pod, as kube-scheduler
// does (component helper.DefaultSelector): from the Services that select the pod and the controller that owns
// it.
type DefaultSpread struct {
	Constraints []corev1.TopologySpreadConstraint
	services    map[string][]*corev1.Service // by namespace
	owners      map[string]*metav1.LabelSelector
	controllers map[string]map[string]string // selectors of replication controllers
	memo        map[string]*Deduced
}

// NewDefaultSpread reads default constraints, Services and owners.
func NewDefaultSpread(p *scheduling.Problem) *DefaultSpread {
	d := &DefaultSpread{
		Constraints: p.DefaultSpread, services: map[string][]*corev1.Service{},
		owners: map[string]*metav1.LabelSelector{}, controllers: map[string]map[string]string{}, memo: map[string]*Deduced{},
	}
	for _, s := range p.Services {
		ns := cmp.Or(s.Namespace, metav1.NamespaceDefault)
		if len(s.Spec.Selector) > 0 {
			d.services[ns] = append(d.services[ns], s)
		}
	}
	for _, rc := range p.Owners.ReplicationControllers {
		d.controllers[ownerName(rc.Namespace, "ReplicationController", rc.Name)] = rc.Spec.Selector
	}
	for _, rs := range p.Owners.ReplicaSets {
		d.owners[ownerName(rs.Namespace, "ReplicaSet", rs.Name)] = rs.Spec.Selector
	}
	for _, ss := range p.Owners.StatefulSets {
		d.owners[ownerName(ss.Namespace, "StatefulSet", ss.Name)] = ss.Spec.Selector
	}
	return d
}

func ownerName(namespace, kind, name string) string {
	return kind + "/" + cmp.Or(namespace, metav1.NamespaceDefault) + "/" + name
}

// Deduce returns the selector for a pod; nil where neither a Service nor an owner gives one.
func (d *DefaultSpread) Deduce(pod *corev1.Pod) *Deduced {
	ns := NamespaceOf(pod)
	set := labels.Set{}
	for _, s := range d.services[ns] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			for k, v := range s.Spec.Selector {
				set[k] = v
			}
		}
	}
	var owner *metav1.LabelSelector
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		switch group, _, _ := strings.Cut(ref.APIVersion, "/"); {
		case ref.Kind == "ReplicationController":
			for k, v := range d.controllers[ownerName(ns, ref.Kind, ref.Name)] {
				set[k] = v
			}
		case group == "apps" && (ref.Kind == "ReplicaSet" || ref.Kind == "StatefulSet"):
			owner = d.owners[ownerName(ns, ref.Kind, ref.Name)]
		}
	}
	selector := labels.SelectorFromValidatedSet(set)
	if len(set) == 0 {
		selector = labels.NewSelector()
	}
	for _, r := range ownerRequirements(owner) {
		selector = selector.Add(r)
	}
	if selector.Empty() {
		return nil
	}
	name := selector.String()
	if known, ok := d.memo[name]; ok {
		return known
	}
	made := &Deduced{Labels: selector, Name: name}
	d.memo[name] = made
	return made
}

// ownerRequirements returns the requirements of a workload's selector.
func ownerRequirements(selector *metav1.LabelSelector) []labels.Requirement {
	if selector == nil {
		return nil
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil
	}
	requirements, selectable := s.Requirements()
	if !selectable {
		never, _ := labels.NewRequirement("kubernetes.io/metadata.name", selection.DoesNotExist, nil)
		always, _ := labels.NewRequirement("kubernetes.io/metadata.name", selection.Exists, nil)
		return []labels.Requirement{*never, *always}
	}
	return slices.Clone(requirements)
}
