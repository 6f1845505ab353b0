package landing

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Trial is a copy of a cluster in which the pods of a step leave and are bound one at a time, each to its given node.
// It checks topology terms only, because the step is known to have the capacity. All changes can be undone.
type Trial struct {
	// Pods are those that move, by name.
	Pods map[string]*Pod
	*model
	state    *cluster.State
	launched map[string]int32
	// drained counts, by node that the step removes, the moving pods that are still on it. A node is gone with the
	// last.
	drained map[int32]int
	offered func(key, value string) bool
	log     []func() // each undoes one change; the last change is undone first
}

// Pod is a pod that moves.
type Pod struct {
	Name string
	// To is the node to which it moves, On the one on which it is now; both are "" for none.
	To, On string
	// Class is the same for pods that differ in nothing that matters to scheduling, and -1 for pods that cannot be
	// scheduled again.
	Class int32
	from  string
	going bool // it is being deleted where it is now
}

// Try begins with a step of which no pod has left yet. Pods that are expected on a node have not landed there. Domains that
// are offered, e.g. zones in which NodePools may launch nodes, still count for spreads when their last drained node is gone.
func (l *Landing) Try(step *Step, offered func(key, value string) bool) *Trial {
	t := &Trial{
		Pods: map[string]*Pod{}, model: l.model, state: l.run.State().Fork(), launched: maps.Clone(l.launched), drained: map[int32]int{},
		offered: func(key, value string) bool { return key != corev1.LabelHostname && offered(key, value) },
	}
	for i := range step.Launches {
		t.Launch(&step.Launches[i])
	}
	for pod, x := range l.expected {
		p := &Pod{Class: l.class(pod), going: l.running[pod].going}
		t.remove(p, x.node)
		t.arrive(p, x.from)
	}
	for _, name := range step.Drain {
		if n, ok := t.nodeNumber(name); ok {
			t.drained[n] = 0
		}
	}
	for _, m := range step.Moves {
		p := &Pod{Name: m.Pod, To: m.To, On: m.From, from: m.From, Class: l.class(m.Pod), going: l.running[m.Pod].going}
		t.Pods[m.Pod] = p
		if x, waits := l.expected[m.Pod]; waits {
			p.On = x.from
			continue
		}
		if n, ok := t.nodeNumber(m.From); ok {
			if k, drains := t.drained[n]; drains {
				t.drained[n] = k + 1
			}
		}
	}
	return t
}

// Launch adds a machine of a launch.
func (t *Trial) Launch(l *scheduling.Launch) {
	if kind, ok := t.launchKind(l, 0); ok {
		t.launched[l.Name] = t.state.Join(kind)
	}
}

// nodeNumber is the number of a node or launch; ok is false if there is none of the name.
func (t *Trial) nodeNumber(name string) (n int32, ok bool) { return t.number(t.launched, name) }

// Alike is a name that is equal for pods that the filters cannot tell apart, see [cluster.Model.Alike].
func (t *Trial) Alike(p *Pod) string { return t.scheduler.Model.Alike(p.Class) }

// Independent reports whether no topology term is about a pod.
func (t *Trial) Independent(p *Pod) bool {
	return p.Class < 0 || t.scheduler.Model.Independent(p.Class)
}

// Fits reports whether a pod that is on no node may be bound to the node to which it moves. Pods without one may.
func (t *Trial) Fits(p *Pod) bool {
	n, ok := t.nodeNumber(p.To)
	return !ok || p.Class < 0 || t.state.Keeps(p.Class, n)
}

// Possible reports whether pods can leave at the same time and then all be bound, each as soon as possible. If so
// they have moved, unless only is set.
func (t *Trial) Possible(group []*Pod, only bool) bool {
	mark := t.Mark()
	for _, p := range group {
		t.Move(p, "")
	}
	waiting := slices.Clone(group)
	for landed := true; landed && len(waiting) > 0; {
		landed = false
		waiting = slices.DeleteFunc(waiting, func(p *Pod) bool {
			ok := t.Fits(p)
			if ok {
				t.Move(p, p.To)
				landed = true
			}
			return ok
		})
	}
	if only || len(waiting) > 0 {
		t.Undo(mark)
	}
	return len(waiting) == 0
}

// Move takes a pod to a node, or off all nodes. A drained node is gone once its last pod has left.
func (t *Trial) Move(p *Pod, to string) {
	was, going := p.On, p.going
	n, ok := t.nodeNumber(was)
	if ok {
		t.remove(p, n)
	}
	p.going = false
	t.arrive(p, to)
	_, drains := t.drained[n]
	emptied := ok && drains && was == p.from && to == ""
	if emptied {
		if t.drained[n]--; t.drained[n] == 0 {
			t.state.CountNode(n, -1, t.offered)
		}
	}
	t.OnUndo(func() {
		if now, ok := t.nodeNumber(to); ok {
			t.remove(p, now)
		}
		p.going = going
		t.arrive(p, was)
		if emptied {
			if t.drained[n]++; t.drained[n] == 1 {
				t.state.CountNode(n, 1, t.offered)
			}
		}
	})
}

// arrive lets a pod that is on no node be on one.
func (t *Trial) arrive(p *Pod, on string) {
	p.On = on
	if n, ok := t.nodeNumber(on); ok && p.Class >= 0 {
		t.state.Place(p.Class, n, p.going)
	}
}

// remove takes a pod off a node.
func (t *Trial) remove(p *Pod, n int32) {
	if p.Class >= 0 {
		t.state.Remove(p.Class, n, p.going)
	}
}

// CountNode counts a node for the domains of topology spread, or no longer by -1.
func (t *Trial) CountNode(name string, by int64) {
	n, ok := t.nodeNumber(name)
	if !ok {
		return
	}
	stays := t.offered
	if _, drains := t.drained[n]; !drains {
		stays = nil
	}
	t.state.CountNode(n, by, stays)
}

// Mark is the point to which [Trial.Undo] goes back.
func (t *Trial) Mark() int { return len(t.log) }

// OnUndo adds a change that the caller has made itself, by the function that undoes it.
func (t *Trial) OnUndo(undo func()) { t.log = append(t.log, undo) }

// Keep makes the changes since a mark final.
func (t *Trial) Keep(mark int) {
	clear(t.log[mark:])
	t.log = t.log[:mark]
}

// Undo takes back the changes since a mark.
func (t *Trial) Undo(mark int) {
	for len(t.log) > mark {
		last := t.log[len(t.log)-1]
		t.log = t.log[:len(t.log)-1]
		last()
	}
}

// Misplaced reports whether a pod breaks a rule on its node that kube-scheduler would hold it to if it placed it there
// now. Taints that only tell of the node's present state are passed over, because the pod need not leave for them.
func (l *Landing) Misplaced(pod *corev1.Pod, node *corev1.Node) bool {
	if !podspec.NewConstraint(&pod.Spec).FitOn(node.Name, node.Labels, lastingTaints(node)).AdmitsOwn() {
		return true
	}
	n, ok := l.nodeNumber(node.Name)
	class := l.class(podspec.PodName(pod))
	if !ok || class < 0 {
		return false
	}
	going := pod.DeletionTimestamp != nil
	l.run.RemoveAs(class, n, going)
	defer l.run.PlaceAs(class, n, going)
	return l.run.State().Breaks(class, n)
}

// lastingTaints are the taints of a node that keep pods away for good, without those by which Kubernetes, Karpenter,
// an autoscaler or a termination handler mark the state of the node.
func lastingTaints(node *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool {
		domain, _, _ := strings.Cut(t.Key, "/")
		return t.Effect != corev1.TaintEffectNoSchedule || strings.HasSuffix(domain, "kubernetes.io") || domain == "karpenter.sh" ||
			domain == "aws-node-termination-handler" || strings.HasPrefix(domain, "remediator.") || domain == "cloud.google.com" ||
			strings.HasSuffix(t.Key, "ClusterAutoscaler") || t.Key == scheduling.DisruptedTaint
	})
}

// Suits reports whether a node's labels, taints and volumes let a pod in that can be scheduled again, whatever else is on
// the node.
func (l *Landing) Suits(pod, node string) bool {
	n, ok := l.nodeNumber(node)
	c := l.class(pod)
	return ok && c >= 0 && l.run.State().Kind(n).Admits[l.scheduler.Model.Classes[c].Number]
}

// Follows reports whether a pod has topology terms of its own that have to hold.
func (l *Landing) Follows(pod string) bool {
	c := l.class(pod)
	return c >= 0 && l.scheduler.Model.Classes[c].Own()
}

// Repels reports whether a pod has an anti-affinity that has to hold.
func (l *Landing) Repels(pod string) bool {
	c := l.class(pod)
	return c >= 0 && l.scheduler.Model.Classes[c].Repel()
}

// TopologyKeys are the labels, except that of hosts, by which topology terms look at some pods or at pods that these follow.
func (l *Landing) TopologyKeys(pods ...string) map[string]bool {
	out, known := map[string]bool{}, map[int32]bool{}
	for _, pod := range pods {
		c := l.class(pod)
		if c < 0 || known[c] {
			continue
		}
		known[c] = true
		for _, key := range l.scheduler.Model.TopologyKeys(c) {
			out[key] = true
		}
	}
	return out
}
