package binding

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// The requests that kube-scheduler assumes for its scores where a container states none
// (k8s.io/kubernetes/pkg/scheduler/util, DefaultMilliCPURequest and DefaultMemoryRequest).
const (
	defaultMilliCPU int64 = 100
	defaultMemory   int64 = 200 << 20
)

// Scheduler is kube-scheduler for the pods of a compiled problem. It does not change after kinds of nodes have been added
// to it, and any number of runs may use it.
type Scheduler struct {
	Model   *cluster.Model
	cpu     int // the numbers of CPU and memory among the resources; -1 for a resource that no pod requests
	memory  int
	fit     fit
	classes []class
	shapes  map[shape]int
	kinds   []kind // by kind of the model
	avoids  []bool // by group, whether any node has taints that its pods would rather avoid
}

// class are pods that scheduling cannot tell apart, as the plugins score them.
type class struct {
	pods  *cluster.Class // as the filters read them
	shape int
	// The CPU and memory of a pod, as plugins count them: wanted is for NodeResourcesFit while the pod is pending, scored for
	// NodeResourcesFit once it is bound, and plain for NodeResourcesBalancedAllocation.
	wanted, scored, plain [2]int64
	effortless            bool // it requests neither: BalancedAllocation passes it over
	preferences           []podspec.NodePreference
}

// kind is a kind of node, as the plugins score it.
type kind struct {
	soft              []int32  // by group, taints that its pods would rather avoid
	granted           []int64  // by class, the weight of the preferred node affinity that it meets
	basic             [2]int64 // allocatable CPU and memory
	requested, scored [2]int64 // by the pods that run there at first
}

// shape is equal for pods that fit the same nodes, topology terms aside, and get the same scores for resources there.
type shape struct {
	group         int
	needs         string
	wanted, plain [2]int64
}

// New reads the pods of a compiled problem and the nodes that it has already.
func New(c *instance.Instance) *Scheduler {
	s := &Scheduler{
		Model: cluster.New(c), cpu: number(c, corev1.ResourceCPU), memory: number(c, corev1.ResourceMemory), fit: newFit(c),
		shapes: map[shape]int{}, avoids: make([]bool, len(c.Classes.Groups)),
	}
	for i, p := range c.Planned {
		x := class{pods: &s.Model.Classes[i], preferences: c.TopologyTerms.List[p.TopologyTerms].Preferences}
		x.plain = [2]int64{amount(p.Requests, s.cpu), amount(p.Requests, s.memory)}
		x.wanted, x.scored = waiting(&p.Pods[0].Spec), scored(&p.Pods[0].Spec)
		x.effortless = x.plain == [2]int64{}
		x.shape = s.shape(shape{x.pods.Number, fmt.Sprint(x.pods.Needs), x.wanted, x.plain})
		s.classes = append(s.classes, x)
	}
	for i := range s.Model.Existing() {
		s.kinds = append(s.kinds, s.score(s.Model.Kind(i)))
	}
	return s
}

// Machine returns the number of the kind of nodes launched from an offer, see [cluster.Model.Bought].
func (s *Scheduler) Machine(p offers.OfferRef) int { return s.added(s.Model.Bought(p)) }

// Labelled is the number of the kind of node that an offer becomes, with other labels than the labels of its template.
func (s *Scheduler) Labelled(p offers.OfferRef, labels map[string]string) int {
	return s.added(s.Model.Labelled(p, labels))
}

// Boundless is a kind without bounds, see [cluster.Model.Boundless].
func (s *Scheduler) Boundless(like int, admits []bool) int {
	return s.added(s.Model.Boundless(like, admits))
}

// added reads the kinds that the model has, up to one that may be new.
func (s *Scheduler) added(number int) int {
	for n := len(s.kinds); n <= number; n++ {
		s.kinds = append(s.kinds, s.score(s.Model.Kind(n)))
	}
	return number
}

// score reads a kind of node as the plugins score it.
func (s *Scheduler) score(x *cluster.Kind) kind {
	c := s.Model.In
	k := kind{
		soft: make([]int32, len(c.Classes.Groups)), granted: make([]int64, len(s.classes)),
		basic: [2]int64{amount(x.Allocatable, s.cpu), amount(x.Allocatable, s.memory)},
	}
	for g, group := range c.Classes.Groups {
		for i := range x.Taints {
			if x.Taints[i].Effect == corev1.TaintEffectPreferNoSchedule && !podspec.Tolerates(group.Tolerations, &x.Taints[i]) {
				k.soft[g]++
				s.avoids[g] = true
			}
		}
	}
	for i := range s.classes {
		for w := range s.classes[i].preferences {
			if preference := &s.classes[i].preferences[w]; preference.Term.MatchesNode(x.Name, x.Labels) {
				k.granted[i] += preference.Weight
			}
		}
	}
	if x.Name == "" {
		for _, i := range x.Daemons {
			d := c.Daemons[i]
			plain, all := [2]int64{amount(d.Requests, s.cpu), amount(d.Requests, s.memory)}, scored(&d.Set.Spec.Template.Spec)
			for r := range plain {
				k.requested[r] += plain[r]
				k.scored[r] += all[r]
			}
		}
		return k
	}
	for r, d := range [2]int{s.cpu, s.memory} {
		k.requested[r] = k.basic[r] - amount(x.Vacant, d)
		k.scored[r] = k.requested[r]
	}
	if h := c.Facts.Cluster.Host(x.Name); h != nil {
		for _, pod := range h.Pods {
			for r, n := range unstated(&pod.Spec) {
				k.scored[r] += n
			}
		}
	}
	return k
}

// shape is the number of a shape, which is added where it is new.
func (s *Scheduler) shape(key shape) int {
	n, known := s.shapes[key]
	if !known {
		n = len(s.shapes)
		s.shapes[key] = n
	}
	return n
}

func number(c *instance.Instance, name corev1.ResourceName) int {
	if n, ok := c.Table.Index[name]; ok {
		return n
	}
	return -1
}

func amount(v []int64, at int) int64 {
	if at < 0 || at >= len(v) {
		return 0
	}
	return v[at]
}

// waiting is the CPU and memory by which NodeResourcesFit counts a pending pod: the requests of its containers, with
// defaults for containers that state none. It passes over requests of the pod as a whole
// (k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources, NewFit).
func waiting(spec *corev1.PodSpec) [2]int64 {
	n := containers(spec, [2]int64{defaultMilliCPU, defaultMemory})
	for k, name := range scoredResources() {
		n[k] += overhead(spec, name)
	}
	return n
}

// scored is the CPU and memory by which NodeResourcesFit counts a pod on its node
// (k8s.io/kubernetes/pkg/scheduler/framework, PodInfo.CalculateResource).
func scored(spec *corev1.PodSpec) [2]int64 {
	return bound(spec, [2]int64{defaultMilliCPU, defaultMemory})
}

// unstated is the part of scored that no container requests, because plugins count a default for it.
func unstated(spec *corev1.PodSpec) [2]int64 {
	all, stated := scored(spec), bound(spec, [2]int64{})
	return [2]int64{all[0] - stated[0], all[1] - stated[1]}
}

func bound(spec *corev1.PodSpec, none [2]int64) (n [2]int64) {
	level := spec.Resources != nil && len(spec.Resources.Requests) > 0
	for k, name := range scoredResources() {
		if level && containersName(spec, name) {
			none[k] = 0
		}
	}
	n = containers(spec, none)
	for k, name := range scoredResources() {
		if level {
			if q, ok := spec.Resources.Requests[name]; ok {
				n[k] = podspec.Amount(name, q)
			}
		}
		n[k] += overhead(spec, name)
	}
	return n
}

func scoredResources() [2]corev1.ResourceName {
	return [2]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

func overhead(spec *corev1.PodSpec, name corev1.ResourceName) int64 {
	q := spec.Overhead[name]
	return podspec.Amount(name, q)
}

// containersName reports whether a container names a resource in its requests, be it with the amount 0.
func containersName(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	names := func(x corev1.Container) bool {
		_, ok := requested(&x, name)
		return ok
	}
	return slices.ContainsFunc(spec.Containers, names) || slices.ContainsFunc(spec.InitContainers, names)
}

// containers are the requests of the containers of a pod for the scored resources. A container without a request for one of
// them counts with its default.
func containers(spec *corev1.PodSpec, none [2]int64) (n [2]int64) {
	for k, name := range scoredResources() {
		of := func(x *corev1.Container) int64 {
			if q, ok := requested(x, name); ok {
				return q
			}
			return none[k]
		}
		var sidecars, initial int64
		for i := range spec.Containers {
			n[k] += of(&spec.Containers[i])
		}
		for i := range spec.InitContainers {
			x := &spec.InitContainers[i]
			if x.RestartPolicy != nil && *x.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				sidecars += of(x)
				n[k] += of(x)
				initial = max(initial, sidecars)
			} else {
				initial = max(initial, sidecars+of(x))
			}
		}
		n[k] = max(n[k], initial)
	}
	return n
}

// requested is whether a container requests a resource; a limit alone is a request.
func requested(x *corev1.Container, name corev1.ResourceName) (n int64, ok bool) {
	if q, ok := x.Resources.Requests[name]; ok {
		return podspec.Amount(name, q), true
	}
	q, ok := x.Resources.Limits[name]
	return podspec.Amount(name, q), ok
}

// Pod is a pod that waits.
type Pod struct {
	Class    int32 // among the planned classes of the compiled problem
	Pod      *corev1.Pod
	priority int32
}

func comparePods(a, b Pod) int {
	return cmp.Or(
		cmp.Compare(b.priority, a.priority),
		a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time),
		podspec.ComparePods(a.Pod, b.Pod),
	)
}

// Queue are the pods in the order in which kube-scheduler takes them, by class: by priority, the highest first, then by the
// time of creation, then by name.
func (s *Scheduler) Queue() []Pod {
	var out []Pod
	for i, p := range s.Model.In.Planned {
		for _, pod := range p.Pods {
			out = append(out, Pod{Class: int32(i), Pod: pod, priority: p.Priority})
		}
	}
	slices.SortStableFunc(out, comparePods)
	return out
}
