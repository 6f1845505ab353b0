package provisioning

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/podtable"
)

// podChange is what becomes of pods, sorted by what they are.
type podChange struct {
	come  []*corev1.Pod // to be placed
	start []*corev1.Pod // to run
	moved []scheduling.Move
	taken []types.NamespacedName // among those to be placed
	ended []types.NamespacedName // among those that run
}

// podChange sorts out what becomes of pods, and reports faults.
func (x *Session) podChange(c *validate.Checker, d *scheduling.Delta) podChange {
	var out podChange
	names := change[*corev1.Pod]{list: "pods", key: podspec.PodKey, put: d.Pods, taken: keysOf(d.Removed.Pods)}
	names.faults(c, func(k types.NamespacedName) bool { return x.running.Get(k) != nil || x.isWaiting(k) })
	out.moved = d.Moved
	x.movedFaults(c, d)
	for _, pod := range d.Pods {
		k := podspec.PodKey(pod)
		if pod.Spec.NodeName == "" {
			out.come = append(out.come, pod)
			if x.running.Get(k) != nil {
				out.ended = append(out.ended, k)
			}
			continue
		}
		out.start = append(out.start, pod)
		if x.isWaiting(k) {
			out.taken = append(out.taken, k)
		}
	}
	for _, k := range names.taken {
		if x.running.Get(k) != nil {
			out.ended = append(out.ended, k)
		} else {
			out.taken = append(out.taken, k)
		}
	}
	slices.SortFunc(out.come, podspec.ComparePods)
	slices.SortFunc(out.taken, compare)
	return out
}

// movedFaults reports moves of pods that do not run, or that come, go or move besides.
func (x *Session) movedFaults(c *validate.Checker, d *scheduling.Delta) {
	if len(d.Moved) == 0 {
		return
	}
	touched := map[types.NamespacedName]string{}
	for _, pod := range d.Pods {
		touched[podspec.PodKey(pod)] = "has moved and is there anew"
	}
	for _, k := range keysOf(d.Removed.Pods) {
		touched[k] = "has moved and is removed"
	}
	for i := range d.Moved {
		k := keyOf(d.Moved[i].Pod)
		c.At = validate.Position{List: "moved", Namespace: k.Namespace, Name: k.Name}
		switch what := touched[k]; {
		case what != "":
			c.Add("", what, "")
		case x.running.Get(k) == nil:
			c.Add("", "does not run", "")
		}
		touched[k] = "has moved more than once"
	}
}

// changePods lets pods come and go, and nodes.
func (x *Session) changePods(pods *podChange, d *scheduling.Delta) {
	x.waiting.change(pods.come, pods.taken)
	b := newClusterBuilder(x.cluster)
	for _, k := range pods.ended {
		b.end(x.running.At(k))
		x.running.Remove(k)
	}
	for _, pod := range pods.start {
		if old := x.running.At(podspec.PodKey(pod)); old.Pod != nil {
			b.end(old)
		}
		b.start(pod)
		x.running.Put(pod, pod.Spec.NodeName)
	}
	for i := range pods.moved {
		m := &pods.moved[i]
		old := x.running.At(keyOf(m.Pod))
		b.leave(old)
		b.enter(podtable.Runner{Pod: old.Pod, Node: m.Node})
		x.running.Put(old.Pod, m.Node)
	}
	for _, name := range d.Removed.Nodes {
		b.at(name).Node = nil
	}
	for _, node := range d.Nodes {
		b.at(node.Name).Node = node
	}
	x.cluster = b.build(x.running)
}

// nominate promises nodes to pods, and forgets those of pods that have got theirs or have gone.
func (x *Session) nominate(more map[types.NamespacedName]string, done []types.NamespacedName) {
	if len(more) == 0 && (len(x.problem.Nominated) == 0 || len(done) == 0) {
		return
	}
	next := maps.Clone(x.problem.Nominated)
	for _, k := range done {
		delete(next, k)
	}
	for pod, node := range more {
		if k := keyOf(pod); x.isWaiting(k) || x.running.Get(k) != nil {
			if next == nil {
				next = map[types.NamespacedName]string{}
			}
			next[k] = node
		}
	}
	x.problem.Nominated = next
}

// isWaiting reports whether a pod is to be placed.
func (x *Session) isWaiting(k types.NamespacedName) bool {
	_, ok := x.waiting.find(k)
	return ok
}

// clusterBuilder makes a cluster of another one.
type clusterBuilder struct {
	old     *hosts.Cluster
	changed map[string]*hosts.Host
	// stale are the DaemonSets that have lost their newest pod.
	stale  map[types.NamespacedName]bool
	newest map[types.NamespacedName]*corev1.Pod
}

func newClusterBuilder(old *hosts.Cluster) *clusterBuilder {
	return &clusterBuilder{old: old, changed: map[string]*hosts.Host{}, stale: map[types.NamespacedName]bool{}, newest: map[types.NamespacedName]*corev1.Pod{}}
}

// at returns the host of a name to be changed.
func (b *clusterBuilder) at(name string) *hosts.Host {
	h := b.changed[name]
	if h == nil {
		h = &hosts.Host{Name: name}
		if old := b.old.Host(name); old != nil {
			h.Node, h.Pods = old.Node, slices.Clone(old.Pods)
		}
		b.changed[name] = h
	}
	return h
}

func (b *clusterBuilder) end(r podtable.Runner) {
	for _, key := range hosts.DaemonOwners(r.Pod) {
		if b.old.Newest[key] == r.Pod || b.newest[key] == r.Pod {
			b.stale[key] = true
		}
	}
	b.leave(r)
}

// leave takes a pod off its node.
func (b *clusterBuilder) leave(r podtable.Runner) {
	if hosts.Runs(r.Pod) {
		h := b.at(r.Node)
		h.Pods = slices.DeleteFunc(h.Pods, func(p *corev1.Pod) bool { return p == r.Pod })
	}
}

func (b *clusterBuilder) start(pod *corev1.Pod) {
	if !podspec.Terminal(pod) {
		for _, key := range hosts.DaemonOwners(pod) {
			old := b.newest[key]
			if old == nil {
				old = b.old.Newest[key]
			}
			if old == nil || hosts.Newer(pod, old) {
				b.newest[key] = pod
			}
		}
	}
	b.enter(podtable.Runner{Pod: pod, Node: pod.Spec.NodeName})
}

// enter lets a pod take its room on its node.
func (b *clusterBuilder) enter(r podtable.Runner) {
	if hosts.Runs(r.Pod) {
		h := b.at(r.Node)
		h.Pods = append(h.Pods, r.Pod)
	}
}

// build returns the new cluster. running are all pods that run now.
func (b *clusterBuilder) build(running *podtable.Table) *hosts.Cluster {
	k := *b.old
	if len(b.newest) > 0 || len(b.stale) > 0 {
		k.Newest = make(map[types.NamespacedName]*corev1.Pod, len(b.old.Newest)+len(b.newest))
		for _, from := range []map[types.NamespacedName]*corev1.Pod{b.old.Newest, b.newest} {
			for key, pod := range from {
				if !b.stale[key] {
					k.Newest[key] = pod
				}
			}
		}
		if len(b.stale) > 0 {
			for pod := range running.All() {
				for _, key := range hosts.DaemonOwners(pod) {
					if old := k.Newest[key]; b.stale[key] && !podspec.Terminal(pod) && (old == nil || hosts.Newer(pod, old)) {
						k.Newest[key] = pod
					}
				}
			}
		}
	}
	if len(b.changed) == 0 {
		return &k
	}
	var renewed []*hosts.Host
	for _, name := range slices.Sorted(maps.Keys(b.changed)) {
		renewed = append(renewed, b.changed[name])
	}
	k.Table = extended(k.Table)
	k.Read(renewed)
	k.Hosts = make([]*hosts.Host, 0, len(b.old.Hosts)+len(renewed))
	have := b.old.Hosts
	for _, h := range renewed {
		at, found := slices.BinarySearchFunc(have, h.Name, func(h *hosts.Host, name string) int { return strings.Compare(h.Name, name) })
		k.Hosts = append(k.Hosts, have[:at]...)
		if found {
			at++
		}
		have = have[at:]
		if h.Node != nil || len(h.Pods) > 0 {
			k.Hosts = append(k.Hosts, h)
		}
	}
	k.Hosts = append(k.Hosts, have...)
	k.Special = nil
	for _, h := range b.old.Special {
		if b.changed[h.Name] == nil {
			k.Special = append(k.Special, h)
		}
	}
	for _, h := range renewed {
		if h.Special() && (h.Node != nil || len(h.Pods) > 0) {
			k.Special = append(k.Special, h)
		}
	}
	guarded := func(h *hosts.Host) bool { return h != nil && len(h.Guards) > 0 }
	if slices.ContainsFunc(renewed, func(h *hosts.Host) bool { return guarded(h) || guarded(b.old.Host(h.Name)) }) {
		k.SortGuards()
	}
	return &k
}

// extended is a table that may grow without changing t, with the same numbers.
func extended(t *podspec.ResourceTable) *podspec.ResourceTable {
	c := t.Clone()
	copy(c.Asked, t.Asked)
	return c
}

// fork returns a cluster that may be used beside k.
func fork(k *hosts.Cluster) *hosts.Cluster { return k }
