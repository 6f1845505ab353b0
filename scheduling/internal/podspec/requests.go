package podspec

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// RequestReader computes effective requests. It keeps scratch vectors between pods, so that reading allocates
// no memory once every resource is known.
//
// The rule is that of kube-scheduler's PodRequests: for each resource, the larger of the total of containers
// and sidecars, and the largest init container with the sidecars started before it; pod-level requests replace
// that; the pod's overhead is added. Missing requests default to limits, as the API server sets them. Every pod
// requests one "pods".
type RequestReader struct {
	Table      *ResourceTable
	containers []int64
	sidecars   []int64
	initial    []int64
	own        []int64
	stated     []bool // some container states a request or limit
	total      []int64
	named      []bool            // the spec names the resource, if only with 0
	status     *corev1.PodStatus // of a running pod; nil otherwise
}

// grow extends the vectors to resources numbered since the last call.
func (r *RequestReader) grow() {
	for len(r.total) < len(r.Table.Names) {
		r.containers = append(r.containers, 0)
		r.sidecars = append(r.sidecars, 0)
		r.initial = append(r.initial, 0)
		r.own = append(r.own, 0)
		r.stated = append(r.stated, false)
		r.total = append(r.total, 0)
		r.named = append(r.named, false)
	}
}

// Read returns the effective requests of a pod that is not running yet. The vector is valid until the next
// read.
func (r *RequestReader) Read(spec *corev1.PodSpec) []int64 {
	r.grow()
	clear(r.containers)
	clear(r.sidecars)
	clear(r.initial)
	clear(r.stated)
	clear(r.named)
	for i := range spec.Containers {
		r.container(&spec.Containers[i].Resources)
		r.raiseToStatus(spec.Containers[i].Name)
		for d, n := range r.own {
			r.containers[d] = Plus(r.containers[d], n)
		}
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		r.container(&c.Resources)
		sidecar := IsSidecar(c)
		if sidecar {
			r.raiseToStatus(c.Name)
		}
		for d, n := range r.own {
			if sidecar {
				r.sidecars[d] = Plus(r.sidecars[d], n)
				r.initial[d] = max(r.initial[d], r.sidecars[d])
			} else {
				r.initial[d] = max(r.initial[d], Plus(n, r.sidecars[d]))
			}
		}
	}
	r.grow()
	for d := range r.total {
		r.total[d] = max(Plus(r.containers[d], r.sidecars[d]), r.initial[d])
	}
	if spec.Resources != nil {
		r.podLevel(spec.Resources)
	}
	for name, q := range spec.Overhead {
		d := r.number(name)
		r.total[d] = Plus(r.total[d], Amount(name, q))
	}
	r.total[r.Table.Index[corev1.ResourcePods]] = 1
	return r.total
}

// number returns the number of a resource, marks it as named, and extends the vectors.
func (r *RequestReader) number(name corev1.ResourceName) int {
	d := r.Table.Number(name)
	r.grow()
	r.named[d] = true
	return d
}

// container reads a container's requests, with limits as defaults, into own.
func (r *RequestReader) container(res *corev1.ResourceRequirements) {
	clear(r.own)
	r.list(res.Limits)
	r.list(res.Requests)
}

// list reads a list into own.
func (r *RequestReader) list(list corev1.ResourceList) {
	for name, q := range Listed(list) {
		d := r.number(name)
		r.own[d], r.stated[d] = Amount(name, q), true
	}
}

// Listed yields the entries of a list. CPU and memory are looked up first, which is much faster than iterating
// over the map, because most pods have these two only.
func Listed(list corev1.ResourceList) iter.Seq2[corev1.ResourceName, resource.Quantity] {
	return func(yield func(corev1.ResourceName, resource.Quantity) bool) {
		left := len(list)
		for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if left == 0 {
				return
			}
			if q, ok := list[name]; ok {
				if left--; !yield(name, q) {
					return
				}
			}
		}
		if left == 0 {
			return
		}
		for name, q := range list {
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory && !yield(name, q) {
				return
			}
		}
	}
}

// restore makes an earlier vector the result of the last read.
func (r *RequestReader) restore(requests []int64) {
	r.grow()
	clear(r.total)
	copy(r.total, requests)
}

// podLevel applies pod-level requests, which replace the total of the containers. A pod-level limit without a
// request counts as one where no container states any.
func (r *RequestReader) podLevel(res *corev1.ResourceRequirements) {
	for name, q := range res.Limits {
		d := r.number(name)
		if _, set := res.Requests[name]; !set && PodLevelResource(name) && !r.stated[d] {
			r.total[d] = Amount(name, q)
		}
	}
	for name, q := range res.Requests {
		if PodLevelResource(name) {
			r.total[r.number(name)] = Amount(name, q)
		}
	}
	if r.status == nil || r.status.Resources == nil {
		return
	}
	if infeasible(r.status) {
		for name := range res.Requests {
			if PodLevelResource(name) {
				r.total[r.number(name)] = 0
			}
		}
	}
	for _, list := range []corev1.ResourceList{r.status.AllocatedResources, r.status.Resources.Requests} {
		for name, q := range list {
			if _, named := res.Requests[name]; named && PodLevelResource(name) {
				d := r.number(name)
				r.total[d] = max(r.total[d], Amount(name, q))
			}
		}
	}
}

// PodLevelResource reports whether a resource may be requested at pod level.
func PodLevelResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// ReadRunning returns the requests of a pod on its node: while a resize in place is in progress, the larger of
// requested and allocated amounts. The successor of the pod requests the result of [RequestReader.Read], see
// [Successor].
func (r *RequestReader) ReadRunning(pod *corev1.Pod) []int64 {
	r.status = &pod.Status
	defer func() { r.status = nil }()
	return r.Read(&pod.Spec)
}

// raiseToStatus raises own to the amounts in the status of a running container. A resize that the node can
// never grant does not count.
func (r *RequestReader) raiseToStatus(name string) {
	if r.status == nil {
		return
	}
	refused := infeasible(r.status)
	for _, statuses := range [][]corev1.ContainerStatus{r.status.ContainerStatuses, r.status.InitContainerStatuses} {
		for i := range statuses {
			s := &statuses[i]
			if s.Name != name || s.Resources == nil {
				continue
			}
			if refused {
				clear(r.own)
			}
			r.raise(s.AllocatedResources)
			r.raise(s.Resources.Requests)
		}
	}
}

// infeasible reports whether the node can never grant the resize that the pod requests.
func infeasible(status *corev1.PodStatus) bool {
	return slices.ContainsFunc(status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible
	})
}

// raise raises own to the amounts of a list.
func (r *RequestReader) raise(list corev1.ResourceList) {
	for name, q := range list {
		d := r.number(name)
		r.own[d] = max(r.own[d], Amount(name, q))
	}
}

// IsSidecar reports whether an init container keeps running beside the containers.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// Plus adds without wrapping: a sum beyond int64 becomes the largest int64, which fits on no machine.
func Plus(a, b int64) int64 {
	if s := a + b; s >= a || b < 0 {
		return s
	}
	return 1<<63 - 1
}

// ResourceTable numbers the resources that pods request. A resource that no pod requests plays no part in a
// plan.
type ResourceTable struct {
	Names []corev1.ResourceName
	Index map[corev1.ResourceName]int
	Asked []bool // by number: whether a pod requests it
}

// NewResourceTable returns a table with "pods" only, of which every pod requests one.
func NewResourceTable() *ResourceTable {
	t := &ResourceTable{Index: map[corev1.ResourceName]int{}}
	t.Number(corev1.ResourcePods)
	return t
}

// Number returns the number of a resource, which it adds if necessary, and marks it as asked.
func (t *ResourceTable) Number(name corev1.ResourceName) int {
	if i, ok := t.Index[name]; ok {
		t.Asked[i] = true
		return i
	}
	i := len(t.Names)
	t.Names = append(t.Names, name)
	t.Asked = append(t.Asked, true)
	t.Index[name] = i
	return i
}

// Clone returns a table that can grow without changing t, in which only "pods" is marked as asked.
func (t *ResourceTable) Clone() *ResourceTable {
	c := &ResourceTable{Names: slices.Clone(t.Names), Index: maps.Clone(t.Index), Asked: make([]bool, len(t.Names))}
	c.Number(corev1.ResourcePods)
	return c
}

// Sort removes resources that are not asked, renumbers the rest in order of names, and returns the new number
// of each old one, −1 if it is gone. After it no number depends on the order of the input.
func (t *ResourceTable) Sort() []int {
	old, asked := t.Names, t.Asked
	t.Names, t.Asked = nil, nil
	for i, name := range old {
		if asked[i] {
			t.Names = append(t.Names, name)
			t.Asked = append(t.Asked, true)
		}
	}
	slices.Sort(t.Names)
	clear(t.Index)
	for i, name := range t.Names {
		t.Index[name] = i
	}
	moved := make([]int, len(old))
	for i, name := range old {
		moved[i] = -1
		if asked[i] {
			moved[i] = t.Index[name]
		}
	}
	return moved
}

// Renumbered returns a vector in the numbers after Sort.
func (t *ResourceTable) Renumbered(v []int64, moved []int) []int64 {
	out := make([]int64, len(t.Names))
	for i, n := range v {
		if moved[i] >= 0 {
			out[moved[i]] = n
		}
	}
	return out
}

// Amount returns a quantity in base units, rounded up as kube-scheduler does: millicores for CPU, nano-USD for
// [scheduling.PriceResource], whole units (bytes, devices) otherwise. The API server admits quantities beyond 64 bits: they become the largest integer,
// which no machine has.
func Amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if Beyond64Bits(name, &q) {
		return math.MaxInt64
	}
	return q.ScaledValue(scaleOf(name))
}

// scaleOf is the power of ten of the base unit of a resource.
func scaleOf(name corev1.ResourceName) resource.Scale {
	switch name {
	case corev1.ResourceCPU:
		return resource.Milli
	case scheduling.PriceResource:
		return resource.Nano
	default:
		return 0
	}
}

// Beyond64Bits reports whether a quantity in base units exceeds 64 bits.
func Beyond64Bits(name corev1.ResourceName, q *resource.Quantity) bool {
	near, scale := q.AsApproximateFloat64(), scaleOf(name)
	switch scale {
	case resource.Milli:
		near *= 1e3
	case resource.Nano:
		near *= 1e9
	}
	// Values that are far apart need no exact arithmetic, which would write out a number like 1e1000000.
	if near < math.MaxInt64/2 || near > math.MaxInt64*2.0 {
		return near > math.MaxInt64
	}
	most := resource.NewScaledQuantity(math.MaxInt64, scale)
	exact := q.DeepCopy() // Cmp may change the form of its receiver
	return exact.Cmp(*most) > 0
}

// Quantity is the inverse of [Amount].
func Quantity(name corev1.ResourceName, n int64) resource.Quantity {
	switch name {
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(n, resource.BinarySI)
	default:
		return *resource.NewScaledQuantity(n, scaleOf(name))
	}
}

// Vector returns the numbered resources of a machine's list. Fractions of a base unit are dropped. A value is
// below the largest integer, which stands for requests beyond 64 bits.
func (t *ResourceTable) Vector(list corev1.ResourceList) []int64 {
	v := make([]int64, len(t.Names))
	for i, name := range t.Names {
		q, ok := list[name]
		if !ok {
			continue
		}
		v[i] = min(Amount(name, q), math.MaxInt64-1)
		if whole := Quantity(name, v[i]); v[i] > 0 && whole.Cmp(q) > 0 {
			v[i]--
		}
	}
	return v
}

// List is the inverse of Vector, without zeros and without volume attachments, which no pod requests by name.
func (t *ResourceTable) List(v []int64) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i, n := range v {
		if n != 0 && AttachDriver(t.Names[i]) == "" {
			out[t.Names[i]] = Quantity(t.Names[i], n)
		}
	}
	return out
}
