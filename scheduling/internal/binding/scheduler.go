package binding

import (
	"cmp"
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
	classes []class
	axes    []axis
	counts  []counter
	holders []holder
	// countedBy and heldBy are, by set of targets that a pod is among, the counters that it
	// counts for, and the holders whose pods care for it.
	countedBy, heldBy [][]int32
	machines          []machine
	existing          []int // machines that are there already, by place among the compiler's nodes
	running           []tally
}

// class is pods that nothing tells apart, as the plugins read them.
type class struct {
	group  *podspec.Constraint
	number int // of the group
	among  int
	needs  []need // what it requests, by resource
	// scored is what LeastAllocated takes a pod for, plain what BalancedAllocation does.
	scored, plain [2]int64
	effortless    bool // it requests neither: BalancedAllocation passes it over
	terms
	wishes       []podspec.NodeWish
	alonePerHost bool // it keeps apart from its own kind on each host
}

// need is how much of a resource a pod requests.
type need struct {
	resource int
	n        int64
}

// New reads the pods of a compiled problem and the nodes that it has already.
func New(c *compile.Compiler) *Scheduler {
	s := &Scheduler{c: c, cpu: number(c, corev1.ResourceCPU), memory: number(c, corev1.ResourceMemory)}
	targets := c.TopologyTerms.Targets
	s.countedBy, s.heldBy = make([][]int32, len(targets.Sets)), make([][]int32, len(targets.Sets))
	for _, p := range c.Planned {
		x := class{group: c.Classes.Groups[p.Group], number: p.Group, among: p.Among}
		for d, n := range p.Requests {
			if n > 0 {
				x.needs = append(x.needs, need{d, n})
			}
		}
		x.plain = [2]int64{amount(p.Requests, s.cpu), amount(p.Requests, s.memory)}
		x.scored = scored(&p.Pods[0].Spec, x.plain)
		x.effortless = x.plain == [2]int64{}
		list := c.TopologyTerms.List[p.TopologyTerms]
		x.wishes = list.Wishes
		s.readTerms(&x, list)
		s.classes = append(s.classes, x)
	}
	for i := range c.ExistingAntiAffinity {
		k := &c.ExistingAntiAffinity[i]
		s.holder(holder{target: k.Target, axis: s.axisOf(k.Key), hard: true})
	}
	for i := range s.countedBy {
		for n := range s.counts {
			if targets.Has(i, s.counts[n].target) {
				s.countedBy[i] = append(s.countedBy[i], int32(n))
			}
		}
		for n := range s.holders {
			if targets.Has(i, s.holders[n].target) {
				s.heldBy[i] = append(s.heldBy[i], int32(n))
			}
		}
	}
	for i := range s.classes {
		x := &s.classes[i]
		x.alonePerHost = slices.ContainsFunc(x.apart, func(t pull) bool {
			return s.axes[t.axis].key == corev1.LabelHostname && targets.Has(x.among, s.counts[t.counter].target)
		})
		x.tied = len(x.hard)+len(x.near)+len(x.apart) > 0 || slices.ContainsFunc(s.heldBy[x.among], func(h int32) bool { return s.holders[h].hard })
	}
	s.readNodes()
	return s
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

// scored is what a pod counts for where containers without requests count for some.
func scored(spec *corev1.PodSpec, requests [2]int64) [2]int64 {
	if spec.Resources != nil && len(spec.Resources.Requests) > 0 {
		return requests
	}
	add := func(containers []corev1.Container, counts func(*corev1.Container) bool) {
		for i := range containers {
			x := &containers[i]
			if !counts(x) {
				continue
			}
			if _, ok := requested(x, corev1.ResourceCPU); !ok {
				requests[0] += defaultMilliCPU
			}
			if _, ok := requested(x, corev1.ResourceMemory); !ok {
				requests[1] += defaultMemory
			}
		}
	}
	add(spec.Containers, func(*corev1.Container) bool { return true })
	add(spec.InitContainers, func(x *corev1.Container) bool {
		return x.RestartPolicy != nil && *x.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
	return requests
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

// Apart reports whether no two pods of a class may be on a node.
func (s *Scheduler) Apart(c int32) bool { return s.classes[c].alonePerHost }
