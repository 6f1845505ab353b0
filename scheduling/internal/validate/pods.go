package validate

import (
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// maxPort is the largest TCP and UDP port.
const maxPort = 65535

// PodsPerWorker is the least number of pods of a goroutine.
const PodsPerWorker = 512

// AllPods checks all pods and, with a policy, reads the specs of the pods to place; the result is nil otherwise
// or where there is a fault. There may be hundreds of thousands of pods: no memory is allocated for a pod
// without a fault, and several goroutines share the work, because it is bound by memory. Faults are sorted and
// keys joined in the order of the pods, so the result does not depend on their number.
func (c *Checker) AllPods(p *scheduling.Problem, s *scheduling.Policy) *podspec.Readings {
	var readers sync.WaitGroup
	var parts []*podList
	var out *podspec.Readings
	if s != nil {
		out = &podspec.Readings{Of: make([]int32, len(p.Pods))}
	}
	for _, list := range []struct {
		name string
		pods []*corev1.Pod
	}{{"pods", p.Pods}, {"running", p.Running}} {
		size := max(PodsPerWorker, len(list.pods)/runtime.GOMAXPROCS(0)+1)
		for from := 0; from < len(list.pods); from += size {
			to := min(from+size, len(list.pods))
			part := &podList{name: list.name, pods: list.pods[from:to], faults: NewChecker()}
			if s != nil && list.name == "pods" {
				part.reader, part.keys = podspec.NewSpecReader(p, s), out.Of[from:to]
			}
			parts = append(parts, part)
			readers.Go(part.check)
		}
	}
	c.podNames(p)
	readers.Wait()
	for _, part := range parts {
		c.Faults.List = append(c.Faults.List, part.faults.Faults.List...)
	}
	if len(c.Faults.List) > 0 || s == nil {
		return nil
	}
	return join(out, parts, podspec.NewSpecReader(p, s))
}

// podNames checks that every pod is not nil and has a unique name.
func (c *Checker) podNames(p *scheduling.Problem) {
	c.names = make(map[types.NamespacedName]int, len(p.Pods)+len(p.Running))
	for _, list := range []struct {
		name string
		pods []*corev1.Pod
	}{{"pods", p.Pods}, {"running", p.Running}} {
		for i, pod := range list.pods {
			if c.Enter(list.name, i, pod == nil) {
				c.named(podspec.NamespaceOf(pod), pod.Name)
			}
		}
	}
}

// podList is consecutive pods of one list of the problem, which one goroutine checks.
type podList struct {
	name   string // of the problem's list: "pods" or "running"
	pods   []*corev1.Pod
	faults *Checker
	reader *podspec.SpecReader // reads the pods that were checked; nil to check only
	keys   []int32             // by pod, the number of its pod spec key in reader, which check fills
}

// check checks the specs of the pods with a name. It reads no more pods after the first fault, because their readings
// are not used then.
func (l *podList) check() {
	spec := podSpecChecker{faults: &l.faults.Faults, path: "spec"}
	for i, pod := range l.pods {
		if pod == nil || pod.Name == "" {
			continue
		}
		l.faults.MoveTo(Position{List: l.name, Namespace: podspec.NamespaceOf(pod), Name: pod.Name})
		if l.name == "running" && pod.Spec.NodeName == "" && !lifecycle.Ended(pod) {
			l.faults.Faults.Add("", "is missing: a pod without a node belongs to the pods that are to be placed", "spec.nodeName")
		}
		spec.check(&pod.Spec)
		if l.reader != nil && len(l.faults.Faults.List) == 0 {
			l.keys[i] = l.reader.Read(pod)
		}
	}
}

// join combines the readings of several readers of consecutive pods. The numbers of the first one stay.
func join(r *podspec.Readings, parts []*podList, none *podspec.SpecReader) *podspec.Readings {
	all, at := none, 0
	for _, part := range parts {
		m := part.reader
		if m == nil {
			continue
		}
		if at == 0 {
			all, at = m, len(part.pods)
			continue
		}
		numbers := make([]int32, len(m.PodSpecKeys))
		for i, x := range m.PodSpecKeys {
			numbers[i] = all.Read(x.Pod)
		}
		of := r.Of[at : at+len(part.pods)]
		for i, n := range of {
			if n >= 0 {
				of[i] = numbers[n]
			}
		}
		at += len(part.pods)
	}
	r.Table, r.PodSpecKeys = all.Table, all.PodSpecKeys
	return r
}
