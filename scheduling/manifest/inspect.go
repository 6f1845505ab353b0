package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// inspector looks at the values of one object and reports those that the API server
// would refuse and a plan must not be built on.
type inspector struct {
	c    *collector
	at   Location
	ref  string // for faults
	name string // for warnings
	raw  []byte
}

// inspect returns the inspector of an object.
func (c *collector) inspect(o rawObject, obj metav1.Object) inspector {
	return inspector{c: c, at: o.at, ref: reference(o.kind, obj), name: warned(o.kind, obj), raw: o.json}
}

// fault reports the value at p, as it was written.
func (in inspector) fault(p path, msg string) {
	f := &Fault{At: in.at, Object: in.ref, Field: p.String(), Message: msg}
	if tree, _, err := parseTree(in.raw); err == nil {
		if v, ok := p.lookup(tree); ok {
			f.Value = written(v)
		}
	}
	in.c.fault(f)
}

// count reports a count that is negative.
func (in inspector) count(n *int32, p path) {
	if n != nil && *n < 0 {
		in.fault(p, "is negative")
	}
}

// resources looks at every quantity of a list.
func (in inspector) resources(list corev1.ResourceList, p path) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		if msg := quantityFault(name, q); msg != "" {
			in.fault(p.key(string(name)), msg)
		}
	}
}

// resourceNames looks at whether containers can ask for what a list names.
func (in inspector) resourceNames(list corev1.ResourceList, p path) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if msg := resourceHint(name); msg != "" {
			in.c.fault(&Fault{At: in.at, Object: in.ref, Field: p.String(), Value: quote(string(name)), Message: msg})
			continue
		}
		if q := list[name]; isBytes(name) && q.Sign() > 0 && q.Value() < 1<<10 {
			in.c.warn(in.name, fmt.Sprintf("%s of %s is less than a kibibyte: check its unit, m stands for thousandths and Mi for mebibytes", p.key(string(name)), q.String()))
		}
	}
}

// isBytes says whether a resource is measured in bytes.
func isBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// quantityFault says what is wrong with an amount of a resource. CPU is counted in
// thousandths, everything else in whole units.
func quantityFault(name corev1.ResourceName, q resource.Quantity) string {
	most := resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
	if name == corev1.ResourceCPU {
		most = resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
	}
	switch {
	case q.Sign() < 0:
		return "is negative"
	case q.Cmp(*most) >= 0: // larger amounts than the largest decode as the largest
		return "overflows: it does not fit into 64 bits"
	case isCountable(name) && q.MilliValue()%1000 != 0:
		return "is not a whole number"
	}
	return ""
}

// isCountable says whether a resource comes in pieces, as pods and devices do.
func isCountable(name corev1.ResourceName) bool {
	return name == corev1.ResourcePods || strings.Contains(string(name), "/")
}

// podSpec looks at the specification of a pod.
func (in inspector) podSpec(spec *corev1.PodSpec, p path) {
	if len(spec.Containers) == 0 {
		in.fault(p.key("containers"), "is missing or empty")
	}
	names := map[string]bool{}
	for i := range spec.InitContainers {
		in.container(&spec.InitContainers[i], p.key("initContainers").at(i), names)
	}
	for i := range spec.Containers {
		in.container(&spec.Containers[i], p.key("containers").at(i), names)
	}
	if spec.Resources != nil {
		in.requirements(*spec.Resources, p.key("resources"))
	}
	in.resources(spec.Overhead, p.key("overhead"))
	in.affinity(spec.Affinity, p.key("affinity", "nodeAffinity"))
	// A field of Kubernetes 1.35 that our types do not have any more.
	if bytes.Contains(in.raw, []byte(`"workloadRef"`)) {
		in.c.workloadRefs.object = cmp.Or(in.c.workloadRefs.object, in.name)
		in.c.workloadRefs.count++
	}
}

// container looks at one container. Names already holds those of its pod.
func (in inspector) container(c *corev1.Container, p path, names map[string]bool) {
	if c.Name != "" && names[c.Name] {
		in.fault(p.key("name"), "is a duplicate of another container's")
	}
	names[c.Name] = true
	in.requirements(c.Resources, p.key("resources"))
	for i, port := range c.Ports {
		if port.HostPort < 0 || port.HostPort > math.MaxUint16 {
			in.fault(p.key("ports").at(i).key("hostPort"), fmt.Sprintf("is not between 0 and %d", math.MaxUint16))
		}
	}
}

// requirements looks at requests and limits, and that they do not contradict each other.
func (in inspector) requirements(r corev1.ResourceRequirements, p path) {
	in.resources(r.Limits, p.key("limits"))
	in.resources(r.Requests, p.key("requests"))
	in.resourceNames(r.Limits, p.key("limits"))
	in.resourceNames(r.Requests, p.key("requests"))
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		if limit, ok := r.Limits[name]; ok && request.Cmp(limit) > 0 && limit.Sign() >= 0 {
			in.fault(p.key("requests", string(name)), fmt.Sprintf("is more than the limit of %s", limit.String()))
		}
	}
}

// affinity looks at the expressions on node labels.
func (in inspector) affinity(a *corev1.Affinity, p path) {
	if a == nil || a.NodeAffinity == nil {
		return
	}
	if required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		at := p.key("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		for i, term := range required.NodeSelectorTerms {
			in.expressions(term.MatchExpressions, at.at(i).key("matchExpressions"))
		}
	}
	at := p.key("preferredDuringSchedulingIgnoredDuringExecution")
	for i, term := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		in.expressions(term.Preference.MatchExpressions, at.at(i).key("preference", "matchExpressions"))
	}
}

// expressions looks at each expression of a term on its own; that a term as a whole
// matches no node is for the plan to tell.
func (in inspector) expressions(exprs []corev1.NodeSelectorRequirement, p path) {
	for i := range exprs {
		_, err := requirements.FromNodeSelector(exprs[i : i+1])
		if err == nil {
			continue
		}
		for _, e := range flatten(err) {
			var fe *requirements.FieldError
			if !errors.As(e, &fe) {
				in.fault(p.at(i), "is no requirement: "+e.Error())
				continue
			}
			in.c.fault(&Fault{
				At: in.at, Object: in.ref, Value: quote(fe.Value), Message: fe.Problem,
				Field: p.at(i).String() + strings.TrimPrefix(fe.Path, "[0]"),
			})
		}
	}
}

// selects looks at whether a workload selects the pods it makes, without which the
// API server refuses it.
func (in inspector) selects(selector *metav1.LabelSelector, template map[string]string) {
	if selector == nil {
		return
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		in.fault(path{}.key("spec", "selector"), "is no selector: "+err.Error())
		return
	}
	if !s.Matches(labels.Set(template)) {
		in.fault(path{}.key("spec", "selector"), "contradicts the labels in spec.template.metadata.labels")
	}
}
