package admission

import (
	"maps"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// ComputeClassLabel is the label by which pods ask for a ComputeClass, and the key of the taint
// of its nodes.
const ComputeClassLabel = "cloud.google.com/compute-class"

// Priorities of the classes that every cluster has.
var systemPriorities = map[string]int32{
	"system-cluster-critical": 2_000_000_000,
	"system-node-critical":    2_000_001_000,
}

// Objects are the objects that admission reads, in the order of their names.
type Objects struct {
	PriorityClasses []*schedulingv1.PriorityClass
	LimitRanges     []*corev1.LimitRange
	RuntimeClasses  []*nodev1.RuntimeClass
	// ComputeClasses are GKE's ComputeClasses by name.
	ComputeClasses map[string][]string
	// Warn gets a warning for each object that a pod names and that does not exist.
	Warn func(object, message string)
}

// Admission fills in the defaults that the API server's admission plugins set.
type Admission struct {
	Objects
	priorities      map[string]int32
	defaultPriority *int32
	runtimes        map[string]*nodev1.RuntimeClass
	defaults        map[string]containerDefaults // by namespace
}

// containerDefaults are the defaults of LimitRanges for containers without requests or limits.
type containerDefaults struct {
	requests, limits corev1.ResourceList
}

// New prepares admission from the objects of a cluster.
func New(o Objects) *Admission {
	a := &Admission{
		Objects:    o,
		priorities: maps.Clone(systemPriorities),
		runtimes:   lo.KeyBy(o.RuntimeClasses, func(r *nodev1.RuntimeClass) string { return r.Name }),
		defaults:   map[string]containerDefaults{},
	}
	for _, p := range o.PriorityClasses {
		a.priorities[p.Name] = p.Value
		// Of several defaults the API server takes the lowest.
		if p.GlobalDefault && (a.defaultPriority == nil || p.Value < *a.defaultPriority) {
			a.defaultPriority = &p.Value
		}
	}
	for _, lr := range o.LimitRanges {
		d := a.defaults[lr.Namespace]
		for _, item := range lr.Spec.Limits {
			if item.Type == corev1.LimitTypeContainer {
				requests, limits := itemDefaults(item)
				d.requests = fill(d.requests, requests)
				d.limits = fill(d.limits, limits)
			}
		}
		a.defaults[lr.Namespace] = d
	}
	return a
}

// itemDefaults are the defaults that the item of a LimitRange comes down to: a limit
// defaults to the maximum, a request to the limit or else to the minimum.
func itemDefaults(item corev1.LimitRangeItem) (requests, limits corev1.ResourceList) {
	limits = fill(fill(nil, item.Default), item.Max)
	requests = fill(fill(fill(nil, item.DefaultRequest), limits), item.Min)
	return requests, limits
}

// fill returns list with the missing entries from more. It changes neither.
func fill(list, more corev1.ResourceList) corev1.ResourceList {
	if lo.EveryBy(lo.Keys(more), func(name corev1.ResourceName) bool { return lo.HasKey(list, name) }) {
		return list
	}
	return lo.Assign(more, list)
}

// Spec returns the specification of a pod after admission. It leaves the one that it
// is given alone.
func (a *Admission) Spec(namespace, object string, spec *corev1.PodSpec) *corev1.PodSpec {
	s := *spec
	a.priority(object, &s)
	a.runtime(object, &s)
	a.tolerate(&s)
	if d, ok := a.defaults[namespace]; ok {
		s.Containers = d.containers(s.Containers)
		s.InitContainers = d.containers(s.InitContainers)
	}
	return &s
}

// priority resolves the pod's priority class.
func (a *Admission) priority(object string, s *corev1.PodSpec) {
	if s.Priority != nil {
		return
	}
	if s.PriorityClassName == "" {
		s.Priority = a.defaultPriority
		return
	}
	value, ok := a.priorities[s.PriorityClassName]
	if !ok {
		a.Warn(object, "its PriorityClass "+s.PriorityClassName+" is not in the input, so it is planned with priority 0")
		return
	}
	s.Priority = &value
}

// runtime adds the overhead of the pod's runtime class, and its node selector.
func (a *Admission) runtime(object string, s *corev1.PodSpec) {
	if s.RuntimeClassName == nil || *s.RuntimeClassName == "" {
		return
	}
	class, ok := a.runtimes[*s.RuntimeClassName]
	if !ok {
		if s.Overhead == nil {
			a.Warn(object, "its RuntimeClass "+*s.RuntimeClassName+" is not in the input, so its overhead is not counted")
		}
		return
	}
	if s.Overhead == nil && class.Overhead != nil {
		s.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling != nil {
		if len(class.Scheduling.NodeSelector) > 0 {
			s.NodeSelector = lo.Assign(class.Scheduling.NodeSelector, s.NodeSelector)
		}
		s.Tolerations = append(slices.Clip(s.Tolerations), class.Scheduling.Tolerations...)
	}
}

// tolerate adds the toleration of its taint to a pod that selects a ComputeClass, as GKE's
// admission does.
func (a *Admission) tolerate(s *corev1.PodSpec) {
	class := s.NodeSelector[ComputeClassLabel]
	if _, ok := a.ComputeClasses[class]; !ok {
		return
	}
	own := corev1.Toleration{Key: ComputeClassLabel, Operator: corev1.TolerationOpEqual, Value: class, Effect: corev1.TaintEffectNoSchedule}
	if !slices.Contains(s.Tolerations, own) {
		s.Tolerations = append(slices.Clip(s.Tolerations), own)
	}
}

// containers returns containers with defaults filled in. A limit that is stated is
// the default of its request, and comes before that of the LimitRange.
func (d containerDefaults) containers(containers []corev1.Container) []corev1.Container {
	out := slices.Clone(containers)
	for i := range out {
		r := &out[i].Resources
		r.Requests = fill(fill(r.Requests, r.Limits), d.requests)
		r.Limits = fill(r.Limits, d.limits)
	}
	return out
}

// The annotations of the class that claims without a class get, and the one by which
// claims named their class before there was a field for it.
const (
	defaultClassKey = "storageclass.kubernetes.io/is-default-class"
	betaClassKey    = "volume.beta.kubernetes.io/storage-class"
)

// Classes gives claims that have not been through admission the class that they
// would get there if they name none: the newest default class. A claim that names the
// class "" wants none.
func Classes(claims []*corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) {
	class := newestDefault(classes)
	if class == nil {
		return
	}
	for _, c := range claims {
		_, named := c.Annotations[betaClassKey]
		if c.UID == "" && c.Spec.StorageClassName == nil && !named && c.Spec.VolumeName == "" {
			c.Spec.StorageClassName = lo.ToPtr(class.Name)
		}
	}
}

// newestDefault is the default class that counts: the newest and, of several of one
// age, the first by name.
func newestDefault(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	var newest *storagev1.StorageClass
	for _, c := range classes {
		isDefault := c.Annotations[defaultClassKey] == "true" || c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
		if isDefault && (newest == nil || newest.CreationTimestamp.Before(&c.CreationTimestamp) ||
			newest.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < newest.Name) {
			newest = c
		}
	}
	return newest
}
