package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Daemon is a DaemonSet, seen as the pod that it runs on each node.
type Daemon struct {
	namespace, name string
	pod             *Pod        // as it runs on each node
	newest          *corev1.Pod // running pod from which the requests are read; nil for the template
}

// Daemons are the DaemonSets of a problem, in order of namespace and name.
type Daemons []*Daemon

// readDaemons reads DaemonSets in order of namespace and name. The newest of the running pods of each says what it
// requests, because admission may have changed that; without any, its template does.
func readDaemons(sets []*appsv1.DaemonSet, running []*corev1.Pod) Daemons {
	var out Daemons
	for _, ds := range sets {
		if ds == nil {
			continue
		}
		spec := &ds.Spec.Template.Spec
		d := &Daemon{
			namespace: cmp.Or(ds.Namespace, metav1.NamespaceDefault), name: ds.Name,
			pod: &Pod{Selector: selectorOf(spec), Object: &corev1.Pod{Spec: corev1.PodSpec{Tolerations: daemonTolerations(spec)}}},
		}
		for _, pod := range running {
			if pod == nil || !d.owns(pod) || Finished(pod) {
				continue
			}
			if old := d.newest; old == nil || old.CreationTimestamp.Before(&pod.CreationTimestamp) ||
				old.CreationTimestamp.Equal(&pod.CreationTimestamp) && pod.Name > old.Name {
				d.newest, spec = pod, &pod.Spec
			}
		}
		d.pod.Requests, d.pod.Ports = pendingRequests(&corev1.Pod{Spec: *spec}), hostPorts(spec)
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *Daemon) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	return out
}

// owns reports whether the pod is one of the DaemonSet's.
func (d *Daemon) owns(pod *corev1.Pod) bool {
	return Owner(pod, "DaemonSet") == d.name && NamespaceOf(pod) == d.namespace
}

// daemonTolerations returns the tolerations of the template, and the ones that the DaemonSet controller adds to every
// pod.
func daemonTolerations(template *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(template.Tolerations)
	add := func(effect corev1.TaintEffect, keys ...string) {
		for _, key := range keys {
			all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
		}
	}
	add(corev1.TaintEffectNoExecute, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable)
	add(corev1.TaintEffectNoSchedule, corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable)
	if template.HostNetwork {
		add(corev1.TaintEffectNoSchedule, corev1.TaintNodeNetworkUnavailable)
	}
	return all
}

// runsOn reports whether the daemon runs on the node.
func (d *Daemon) runsOn(n *Node) bool {
	return n.Admits(d.pod, NodeAffinity|TaintToleration)
}

// start gives the planned node the daemons that run there, and no other pods.
func (all Daemons) start(n *Node) {
	n.Daemons, n.Taken = Amounts{}, nil
	for _, d := range all {
		if d.runsOn(n) {
			n.Daemons.Add(d.pod.Requests)
			n.Taken = append(n.Taken, d.pod.Ports...)
		}
	}
	n.Free = n.Allocatable.Minus(n.Daemons)
}

// maxChoices bounds how many ways to fill in open labels are tried.
const maxChoices = 4096

// Choices returns copies of the planned node in which labels that daemons ask about have values, with the daemons that
// run then, one for each way that its pool and the conditions asked allow. Where there are more than maxChoices ways
// it returns one node, on which a daemon runs only if it does so for all values.
func (all Daemons) Choices(n *Node, asked []Expression) []*Node {
	choices := all.labelChoices(n, asked)
	for _, choice := range choices {
		all.start(choice)
	}
	return choices
}

// labelChoices are the copies of Choices, with the daemons of the node.
func (all Daemons) labelChoices(n *Node, asked []Expression) []*Node {
	first := *n
	first.Open = func(string) Opening { return Opening{} }
	choices := []*Node{&first}
	questions := all.Questions(n)
	for _, key := range slices.Sorted(maps.Keys(questions)) {
		limits := slices.Concat(About(key, n.Pool.Asks), About(key, asked))
		var next []*Node
		for _, c := range candidates(limits, questions[key]) {
			if !AllHold(limits, c) {
				continue
			}
			for _, p := range choices {
				filled := *p
				if !c.absent {
					filled.Labels = maps.Clone(p.Labels)
					filled.Labels[key] = c.Value
				}
				next = append(next, &filled)
			}
		}
		if n.Pool.Providers(key) && AllHold(About(key, asked), LabelValue{absent: true}) {
			// The provider may set its label although no object states it. Then each daemon that may run there
			// counts.
			for _, p := range choices {
				left := *p
				left.Open = func(k string) Opening {
					if k == key {
						return Opening{Rule: some, Known: About(key, n.Pool.Asks)}
					}
					return p.Open(k)
				}
				next = append(next, &left)
			}
		}
		if choices = next; len(choices) > maxChoices {
			certain := *n
			certain.Open = func(key string) Opening { return n.opened(Every, key, asked) }
			return []*Node{&certain}
		}
	}
	return choices
}

// Questions returns the conditions that daemons put on labels which are open on the planned node, by label.
func (all Daemons) Questions(n *Node) map[string][]Expression {
	questions := make(map[string][]Expression)
	for _, d := range all {
		for _, t := range d.pod.Selector {
			for _, e := range t.Exprs {
				key := requirements.NormalizeKey(e.Key)
				if _, fixed := n.Value(key); !fixed && (n.Pool.Chooses(key) || n.Pool.Providers(key)) {
					questions[key] = append(questions[key], e)
				}
			}
		}
	}
	return questions
}

// Differ reports whether the daemons of a machine depend on the value that is chosen for a label of its pool.
func (all Daemons) Differ(pl *Pool) bool {
	return slices.ContainsFunc(all, func(d *Daemon) bool {
		return slices.ContainsFunc(d.pod.Selector, func(t term) bool {
			return slices.ContainsFunc(t.Exprs, func(e Expression) bool { return pl.Chooses(requirements.NormalizeKey(e.Key)) })
		})
	})
}
