package binding

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// What kube-scheduler takes a container to request for its scores that requests none
// (k8s.io/kubernetes/pkg/scheduler/util, DefaultMilliCPURequest and DefaultMemoryRequest).
const (
	defaultMilliCPU int64 = 100
	defaultMemory   int64 = 200 << 20
)

// Scheduler is kube-scheduler for the pods of a compiled problem. It does not change after
// machines have been added to it, and any number of runs may use it.
type Scheduler struct {
	c       *compile.Compiler
	cpu     int // their numbers among the resources; -1 where nothing has any
	memory  int
	fit     fit
	classes []class
	shapes  map[shape]int
	axes    []axis
	counts  []counter
	holders []holder
	// countedBy is, by set of targets that a pod is among, the counters that it counts for.
	countedBy [][]int32
	// together tells which pods belong together. For the constraints that kube-scheduler has
	// by itself, togetherOf is the counters of each of its targets, and togetherBy is what
	// countedBy is.
	together               *podspec.Targets
	togetherOf, togetherBy [][]int32
	machines               []machine
	kinds                  map[bought]int   // among the machines
	avoids                 []bool           // by group, whether any machine has taints that its pods would rather avoid
	names                  map[string]int32 // of the nodes that are there already
	existing               []int            // machines that are there already, by place among the compiler's nodes
	running                []tally
}

// class is pods that nothing tells apart, as the plugins read them.
type class struct {
	group  *podspec.Constraint
	number int // of the group
	among  int
	shape  int
	needs  []need // what it requests, by resource
	// wanted is what NodeResourcesFit takes a pod for that waits, scored what it takes it for
	// once it is bound, and plain what BalancedAllocation takes it for.
	wanted, scored, plain [2]int64
	effortless            bool // it requests neither: BalancedAllocation passes it over
	terms
	heldBy    []int32 // holders whose pods care for it
	counts    []int32 // counters that it counts for
	wishes    []podspec.NodeWish
	exclusive bool // it keeps apart from others on each host, or they from it
}

// shape is what decides whether a node has room for a pod, and how it scores for that.
type shape struct {
	group         int
	needs         string
	wanted, plain [2]int64
}

// need is how much of a resource a pod requests.
type need struct {
	resource int
	n        int64
}

// New reads the pods of a compiled problem and the nodes that it has already.
func New(c *compile.Compiler) *Scheduler {
	s := &Scheduler{c: c, cpu: number(c, corev1.ResourceCPU), memory: number(c, corev1.ResourceMemory), fit: newFit(c), kinds: map[bought]int{}, shapes: map[shape]int{}}
	targets := c.TopologyTerms.Targets
	s.countedBy = make([][]int32, len(targets.Sets))
	for _, p := range c.Planned {
		x := class{group: c.Classes.Groups[p.Group], number: p.Group, among: p.Among}
		for d, n := range p.Requests {
			if n > 0 {
				x.needs = append(x.needs, need{d, n})
			}
		}
		x.plain = [2]int64{amount(p.Requests, s.cpu), amount(p.Requests, s.memory)}
		x.wanted, x.scored = waiting(&p.Pods[0].Spec), scored(&p.Pods[0].Spec)
		x.effortless = x.plain == [2]int64{}
		x.shape = s.shape(shape{x.number, fmt.Sprint(x.needs), x.wanted, x.plain})
		list := c.TopologyTerms.List[p.TopologyTerms]
		x.wishes = list.Wishes
		s.readTerms(&x, list)
		s.classes = append(s.classes, x)
	}
	for i := range c.ExistingAntiAffinity {
		k := &c.ExistingAntiAffinity[i]
		s.holder(holder{target: k.Tie.Target, axis: s.axisOf(k.Tie.Key), hard: true})
	}
	for i := range s.countedBy {
		for n := range s.counts {
			if !s.counts[n].together && targets.Has(i, s.counts[n].target) {
				s.countedBy[i] = append(s.countedBy[i], int32(n))
			}
		}
	}
	s.readSystemSpread()
	for i := range s.classes {
		x := &s.classes[i]
		x.counts = append(x.counts, s.countedBy[x.among]...)
		for n := range s.holders {
			if targets.Has(x.among, s.holders[n].target) {
				x.heldBy = append(x.heldBy, int32(n))
			}
		}
		x.own = len(x.required)
		for _, h := range x.heldBy {
			if o := &s.holders[h]; o.hard {
				tie := &podspec.Tie{Kind: podspec.AntiTie, Key: s.axes[o.axis].key, Target: o.target}
				x.required = append(x.required, term{tie: tie, axis: o.axis, counter: int(h), foreign: true})
			}
		}
		x.exclusive = slices.ContainsFunc(x.required, func(t term) bool { return t.tie.Kind == podspec.AntiTie && s.axes[t.axis].key == corev1.LabelHostname })
		x.tied = len(x.required) > 0
	}
	s.readNodes(s.readPreferences())
	return s
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

func number(c *compile.Compiler, name corev1.ResourceName) int {
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

// waiting is what NodeResourcesFit takes a pod for that waits: what its containers request,
// and some for those that request none. It passes over requests of the pod as a whole
// (k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources, NewFit).
func waiting(spec *corev1.PodSpec) [2]int64 {
	n := containers(spec, [2]int64{defaultMilliCPU, defaultMemory})
	for k, name := range scoredResources() {
		n[k] += overhead(spec, name)
	}
	return n
}

// scored is what NodeResourcesFit takes a pod for on its node
// (k8s.io/kubernetes/pkg/scheduler/framework, PodInfo.CalculateResource).
func scored(spec *corev1.PodSpec) [2]int64 {
	return bound(spec, [2]int64{defaultMilliCPU, defaultMemory})
}

// unstated is the part of it that nobody requests.
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

// containersName reports whether some container requests a resource, if only none of it.
func containersName(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	names := func(x corev1.Container) bool {
		_, ok := requested(&x, name)
		return ok
	}
	return slices.ContainsFunc(spec.Containers, names) || slices.ContainsFunc(spec.InitContainers, names)
}

// containers is what the containers of a pod request of the scored resources, where those
// that request nothing of one count for some of it.
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

// Queue is the pods in the order in which kube-scheduler takes them, by class: the more urgent
// first, then those that were made first, then by name.
func (s *Scheduler) Queue() []Pod {
	var out []Pod
	for i, p := range s.c.Planned {
		for _, pod := range p.Pods {
			out = append(out, Pod{Class: int32(i), Pod: pod, priority: p.Priority})
		}
	}
	slices.SortStableFunc(out, comparePods)
	return out
}

// Existing is the number of nodes that are there before any machine joins.
func (s *Scheduler) Existing() int { return len(s.existing) }

// Apart reports whether pods of two classes may not share a node.
func (s *Scheduler) Apart(a, b int32) bool {
	x, y := &s.classes[a], &s.classes[b]
	return s.keepsAway(x, y) || s.keepsAway(y, x)
}

func (s *Scheduler) keepsAway(x, y *class) bool {
	return slices.ContainsFunc(x.required[:x.own], func(t term) bool {
		return t.tie.Kind == podspec.AntiTie && s.axes[t.axis].key == corev1.LabelHostname && s.c.TopologyTerms.Targets.Has(y.among, t.tie.Target)
	})
}

// Node is the number of a node that is there before any machine joins.
func (s *Scheduler) Node(name string) (int32, bool) {
	n, ok := s.names[name]
	return n, ok
}

// Names are those of the nodes that are there before any machine joins, by number.
func (s *Scheduler) Names() []string {
	out := make([]string, len(s.existing))
	for name, n := range s.names {
		out[n] = name
	}
	return out
}
