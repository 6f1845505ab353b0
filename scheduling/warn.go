package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// warner collects warnings, one for each workload and message however many pods it
// concerns.
type warner struct {
	counts map[Warning]int
}

// warnings lists what was noticed about the problem: constraints that are not
// modelled, pods without requests, running pods without a known node, labels that
// pools require and nothing checks, pools that nothing on sale meets.
func (c *compiler) warnings() []Warning {
	w := &warner{counts: map[Warning]int{}}
	for _, class := range c.classes.classes {
		noCPU, noMemory := c.lacks(class, corev1.ResourceCPU), c.lacks(class, corev1.ResourceMemory)
		for _, pod := range class.pods {
			for _, name := range unmodelled(&pod.Spec) {
				w.add(workload(pod), name+" is left to the scheduler: the plan does not count on it")
			}
			switch {
			case noCPU && noMemory:
				w.add(workload(pod), "no cpu and no memory request: only a pod slot is planned for it")
			case noMemory:
				w.add(workload(pod), "no memory request")
			case noCPU:
				w.add(workload(pod), "no cpu request")
			}
		}
	}
	for _, h := range c.cluster.special {
		if h.node != nil {
			continue
		}
		for _, pod := range h.pods {
			w.add(podName(pod), fmt.Sprintf("runs on node %s, which is not among the nodes", h.name))
		}
	}
	for key := range c.unchecked {
		w.add("catalog", fmt.Sprintf("no instance type has the label %s, which a node pool requires: it is taken to hold", key))
	}
	for _, pool := range c.without() {
		if why := c.problem.idle(pool); why != "" {
			w.add("NodePool/"+pool.Name, why)
		}
	}
	return w.list()
}

// without are the pools that have nothing on sale now.
func (c *compiler) without() []*NodePool {
	has := map[*NodePool]bool{}
	for _, v := range c.templates {
		has[v.pool] = has[v.pool] || v.within.Any()
	}
	return slices.DeleteFunc(poolOrder(c.problem.NodePools), func(p *NodePool) bool { return has[p] })
}

// lacks reports whether a class asks for none of a resource.
func (c *compiler) lacks(class *podClass, name corev1.ResourceName) bool {
	d, ok := c.table.index[name]
	return !ok || class.requests[d] == 0
}

func (w *warner) add(object, message string) { w.counts[Warning{Object: object, Message: message}]++ }

func (w *warner) list() []Warning {
	out := []Warning{}
	for warning, n := range w.counts {
		if n > 1 {
			warning.Message += fmt.Sprintf(" (%d pods)", n)
		}
		out = append(out, warning)
	}
	slices.SortFunc(out, func(a, b Warning) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Message, b.Message))
	})
	return out
}

// workload is the name of what controls the pod, as namespace/name, or the pod's own.
func workload(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return namespaceOf(pod) + "/" + owner.Name
	}
	return podName(pod)
}

// unmodelled names the constraints of a pod that the solver does not know.
func unmodelled(spec *corev1.PodSpec) []string {
	a := spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return nil
	}
	for i := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.TopologyKey == corev1.LabelHostname {
			return []string{"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution over " + corev1.LabelHostname}
		}
	}
	return nil
}
