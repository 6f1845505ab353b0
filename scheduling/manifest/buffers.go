package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// bufferGroup is the API group of CapacityBuffers.
const bufferGroup = "autoscaling.x-k8s.io"

// activeCapacity is the strategy of CapacityBuffers, also by default, that keeps nodes for their pods.
const activeCapacity = "buffer.x-k8s.io/active-capacity"

// capacityBuffer is a CapacityBuffer of v1alpha1 or v1beta1, whose fields are the same.
type capacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		ProvisioningStrategy *string      `json:"provisioningStrategy"`
		PodTemplateRef       *bufferRef   `json:"podTemplateRef"`
		ScalableRef          *scalableRef `json:"scalableRef"`
		// Replicas and Percentage, of the replicas of ScalableRef, are how many pods there is room for: the larger of the
		// two. Limits are the most that these pods request; alone they say how many pods there are.
		Replicas   *int32              `json:"replicas"`
		Percentage *int32              `json:"percentage"`
		Limits     corev1.ResourceList `json:"limits"`
	} `json:"spec"`

	Status json.RawMessage `json:"status"`

	at Location
}

// bufferRef names a PodTemplate in the namespace of a CapacityBuffer.
type bufferRef struct {
	Name string `json:"name"`
}

// scalableRef names a workload in the namespace of a CapacityBuffer.
type scalableRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// readCapacityBuffer reads a CapacityBuffer.
func readCapacityBuffer(c *collector, o rawObject) {
	if b, ok := take(c, o, true, checkBuffer); ok {
		b.at = o.at
		c.objects.buffers = append(c.objects.buffers, b)
	}
}

// readPodTemplate reads a PodTemplate, which counts only if a CapacityBuffer names it.
func readPodTemplate(c *collector, o rawObject) {
	t, ok := take(c, o, true, func(t *corev1.PodTemplate) []fieldFault {
		return checkPod(c.found, qualified(t), &t.Template.Spec, "template.spec")
	})
	if ok {
		c.objects.templates = append(c.objects.templates, t)
	}
}

// checkBuffer finds the faults that the API server would refuse.
func checkBuffer(b *capacityBuffer) (faults []fieldFault) {
	fault := func(field, value, msg string) {
		faults = append(faults, fieldFault{field: "spec." + field, value: value, msg: msg})
	}
	s := &b.Spec
	switch {
	case s.PodTemplateRef != nil && s.ScalableRef != nil:
		fault("scalableRef", written(s.ScalableRef), "stands beside podTemplateRef: a buffer has one of them")
	case s.PodTemplateRef != nil && s.PodTemplateRef.Name == "":
		fault("podTemplateRef.name", "", "is missing")
	case s.PodTemplateRef != nil && s.Replicas == nil && s.Limits == nil:
		fault("replicas", "", "is missing: a buffer with podTemplateRef has replicas or limits")
	case s.ScalableRef != nil && s.ScalableRef.Kind == "":
		fault("scalableRef.kind", "", "is missing")
	case s.ScalableRef != nil && s.ScalableRef.Name == "":
		fault("scalableRef.name", "", "is missing")
	}
	for field, n := range map[string]*int32{"replicas": s.Replicas, "percentage": s.Percentage} {
		if n != nil && *n < 0 {
			fault(field, fmt.Sprint(*n), "is negative")
		}
	}
	for name, q := range s.Limits {
		if q.Sign() < 0 {
			fault("limits."+string(name), q.String(), "is negative")
		}
	}
	slices.SortFunc(faults, func(a, b fieldFault) int { return cmp.Compare(a.field, b.field) })
	return faults
}

// expandBuffers makes the virtual pods of CapacityBuffers. A warning names each buffer that keeps no room, with the reason, and each
// percentage that has no effect.
func (e *expander) expandBuffers() {
	slices.SortFunc(e.objects.buffers, byName)
	for _, b := range e.objects.buffers {
		if b.Spec.Percentage != nil && b.Spec.ScalableRef == nil {
			e.found.warn(qualified(b), fmt.Sprintf("spec.percentage of the CapacityBuffer, %d, has no effect: it is a share of the replicas of scalableRef, which is missing", *b.Spec.Percentage))
		}
		template, replicas, why := e.templateOf(b)
		if strategy := lo.FromPtrOr(b.Spec.ProvisioningStrategy, activeCapacity); strategy != activeCapacity {
			why = fmt.Sprintf("spec.provisioningStrategy: %s is not %s", strategy, activeCapacity)
		}
		kept := buffers.Buffer{Namespace: b.Namespace, Name: b.Name}
		if why == "" {
			kept.Template = *template
			kept.Template.Spec = *e.admit.Spec(b.Namespace, qualified(b), &template.Spec)
			kept.Replicas, why = b.pods(&kept.Template.Spec, replicas)
		}
		if why != "" {
			e.found.warn(qualified(b), "the CapacityBuffer keeps no room: "+why)
			continue
		}
		w := &workload{workloadKey: workloadKey{buffers.CapacityBufferKind, b.Namespace, b.Name}, at: b.at, obj: b, path: "spec"}
		m := &maker{expander: e, workload: w}
		if kept.Replicas > 0 && m.room(kept.Replicas) {
			e.keep(&kept, w)
		}
	}
}

// keep adds the virtual pods of a buffer, which belong to a workload. Names that the input has already are left out, e.g. in
// Karpenter's own list of pending pods.
func (e *expander) keep(b *buffers.Buffer, w *workload) {
	for _, pod := range b.Pods() {
		if name := qualified(pod); !e.owners.names[name] {
			e.owners.names[name], e.made[name] = true, w
			e.pods = append(e.pods, pod)
		}
	}
}

// templateOf is the template of a buffer's pods and, for a workload, its replicas; or why there is none.
func (e *expander) templateOf(b *capacityBuffer) (template *corev1.PodTemplateSpec, replicas int, why string) {
	switch s := &b.Spec; {
	case s.PodTemplateRef != nil:
		for _, t := range e.objects.templates {
			if t.Namespace == b.Namespace && t.Name == s.PodTemplateRef.Name {
				return &t.Template, 0, ""
			}
		}
		return nil, 0, fmt.Sprintf("spec.podTemplateRef.name: PodTemplate %s is not in the input; add the output of kubectl get podtemplates -A -o json", s.PodTemplateRef.Name)
	case s.ScalableRef == nil:
		return nil, 0, "spec.scalableRef: is missing, and so is podTemplateRef"
	default:
		ref := s.ScalableRef
		for _, w := range e.objects.workloads {
			group, _ := splitVersion(w.apiVersion)
			if w.workloadKey != (workloadKey{ref.Kind, b.Namespace, ref.Name}) || group != cmp.Or(ref.APIGroup, appsv1.GroupName) || w.template == nil {
				continue
			}
			if w.job != nil {
				return w.template, int(lo.FromPtrOr(w.job.Parallelism, 1)), ""
			}
			return w.template, w.wanted(), ""
		}
		return nil, 0, fmt.Sprintf("spec.scalableRef: %s %s is not in the input", ref.Kind, ref.Name)
	}
}

// pods is how many pods there is room for: the larger of replicas and of the percentage of a workload's replicas, rounded up,
// at most as many as the limits hold; as many as the limits hold where neither is stated. A limit of a resource that the pods
// do not request does not count. Where there is room for none, although the buffer does not state 0, why names the reason.
func (b *capacityBuffer) pods(spec *corev1.PodSpec, replicas int) (n int, why string) {
	s := &b.Spec
	wanted, stated := int64(lo.FromPtr(s.Replicas)), s.Replicas != nil
	if s.Percentage != nil && s.ScalableRef != nil && replicas > 0 {
		wanted, stated = max(wanted, (int64(*s.Percentage)*int64(replicas)+99)/100), true
	}
	most, lowest := int64(math.MaxInt32), corev1.ResourceName("")
	requests := provisioning.PodRequests([]*corev1.Pod{{Spec: *spec}})[0]
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		limit, request := s.Limits[name], requests[name]
		if request.Sign() <= 0 {
			continue
		}
		if fit := baseUnits(name, limit) / baseUnits(name, request); lowest == "" || fit < most {
			most, lowest = min(most, fit), name
		}
	}
	if !stated && lowest != "" {
		wanted = most
	}
	if n = int(min(wanted, most)); n > 0 {
		return n, ""
	}
	switch limit, request := s.Limits[lowest], requests[lowest]; {
	case most == 0 && (wanted > 0 || !stated):
		why = fmt.Sprintf("spec.limits.%s: %s is less than one pod requests, %s", lowest, limit.String(), request.String())
	case stated:
	case len(s.Limits) > 0:
		why = fmt.Sprintf("spec.limits: %s limit resources that its pods do not request, and replicas is missing", written(s.Limits))
	case s.Percentage == nil:
		why = "spec.replicas: is missing, and so are percentage and limits"
	case *s.Percentage > 0:
		why = fmt.Sprintf("spec.percentage: %d is a share of the replicas of %s %s, and it has none", *s.Percentage, s.ScalableRef.Kind, s.ScalableRef.Name)
	}
	return 0, why
}

// baseUnits is a quantity in millicores for CPU, in units of the resource otherwise, rounded up; the largest int64 for quantities
// above 9.2e15, which are no limits.
func baseUnits(name corev1.ResourceName, q resource.Quantity) int64 {
	switch {
	case q.AsApproximateFloat64() > math.MaxInt64/1000:
		return math.MaxInt64
	case name == corev1.ResourceCPU:
		return q.MilliValue()
	}
	return q.Value()
}
