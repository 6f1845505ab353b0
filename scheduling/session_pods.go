package scheduling

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podChange is what becomes of pods, sorted by what they are.
type podChange struct {
	come  []*corev1.Pod // to be placed
	start []*corev1.Pod // to run
	moved []Move
	taken []objectKey // among those to be placed
	ended []objectKey // among those that run
}

// podChange sorts out what becomes of pods, and reports faults.
func (x *Session) podChange(c *checker, d *Delta) podChange {
	var out podChange
	isWaiting := func(k objectKey) bool { _, ok := x.waiting.find(k); return ok }
	names := change[*corev1.Pod]{list: "pods", key: podKey, put: d.Pods, taken: keysOf(d.Removed.Pods)}
	names.faults(c, func(k objectKey) bool { return x.running.get(k) != nil || isWaiting(k) })
	out.moved = d.Moved
	x.movedFaults(c, d)
	for _, pod := range d.Pods {
		k := podKey(pod)
		if pod.Spec.NodeName == "" {
			out.come = append(out.come, pod)
			if x.running.get(k) != nil {
				out.ended = append(out.ended, k)
			}
			continue
		}
		out.start = append(out.start, pod)
		if isWaiting(k) {
			out.taken = append(out.taken, k)
		}
	}
	for _, k := range names.taken {
		if x.running.get(k) != nil {
			out.ended = append(out.ended, k)
		} else {
			out.taken = append(out.taken, k)
		}
	}
	slices.SortFunc(out.come, comparePods)
	slices.SortFunc(out.taken, objectKey.compare)
	return out
}

// movedFaults reports moves of pods that do not run, or that come, go or move besides.
func (x *Session) movedFaults(c *checker, d *Delta) {
	if len(d.Moved) == 0 {
		return
	}
	touched := map[objectKey]string{}
	for _, pod := range d.Pods {
		touched[podKey(pod)] = "has moved and is there anew"
	}
	for _, k := range keysOf(d.Removed.Pods) {
		touched[k] = "has moved and is removed"
	}
	for i := range d.Moved {
		k := keyOf(d.Moved[i].Pod)
		c.at = position{list: "moved", namespace: k.namespace, name: k.name}
		switch what := touched[k]; {
		case what != "":
			c.add("", what, "")
		case x.running.get(k) == nil:
			c.add("", "does not run", "")
		}
		touched[k] = "has moved more than once"
	}
}

// changePods lets pods come and go, and nodes.
func (x *Session) changePods(pods *podChange, d *Delta) {
	x.waiting.change(pods.come, pods.taken)
	b := newClusterBuilder(x.cluster)
	for _, k := range pods.ended {
		b.end(x.running.at(k))
		x.running.remove(k)
	}
	for _, pod := range pods.start {
		if old := x.running.at(podKey(pod)); old.pod != nil {
			b.end(old)
		}
		b.start(pod)
		x.running.put(pod, pod.Spec.NodeName)
	}
	for i := range pods.moved {
		m := &pods.moved[i]
		old := x.running.at(keyOf(m.Pod))
		b.leave(old)
		b.enter(runner{old.pod, m.Node})
		x.running.put(old.pod, m.Node)
	}
	for _, name := range d.Removed.Nodes {
		b.at(name).node = nil
	}
	for _, node := range d.Nodes {
		b.at(node.Name).node = node
	}
	x.cluster = b.build(x.running)
}

// clusterBuilder makes a cluster of another one.
type clusterBuilder struct {
	old     *cluster
	changed map[string]*host
	// stale are the DaemonSets that have lost their newest pod.
	stale  map[objectKey]bool
	newest map[objectKey]*corev1.Pod
}

func newClusterBuilder(old *cluster) *clusterBuilder {
	return &clusterBuilder{old: old, changed: map[string]*host{}, stale: map[objectKey]bool{}, newest: map[objectKey]*corev1.Pod{}}
}

// at returns the host of a name to be changed.
func (b *clusterBuilder) at(name string) *host {
	h := b.changed[name]
	if h == nil {
		h = &host{name: name}
		if old := b.old.host(name); old != nil {
			h.node, h.pods = old.node, slices.Clone(old.pods)
		}
		b.changed[name] = h
	}
	return h
}

func (b *clusterBuilder) end(r runner) {
	for _, key := range crewOf(r.pod) {
		if b.old.newest[key] == r.pod || b.newest[key] == r.pod {
			b.stale[key] = true
		}
	}
	b.leave(r)
}

// leave takes a pod off its node.
func (b *clusterBuilder) leave(r runner) {
	if runs(r.pod) {
		h := b.at(r.node)
		h.pods = slices.DeleteFunc(h.pods, func(p *corev1.Pod) bool { return p == r.pod })
	}
}

func (b *clusterBuilder) start(pod *corev1.Pod) {
	if !terminal(pod) {
		for _, key := range crewOf(pod) {
			old := b.newest[key]
			if old == nil {
				old = b.old.newest[key]
			}
			if old == nil || newer(pod, old) {
				b.newest[key] = pod
			}
		}
	}
	b.enter(runner{pod, pod.Spec.NodeName})
}

// enter lets a pod take its room on its node.
func (b *clusterBuilder) enter(r runner) {
	if runs(r.pod) {
		h := b.at(r.node)
		h.pods = append(h.pods, r.pod)
	}
}

// build returns the new cluster. running are all pods that run now.
func (b *clusterBuilder) build(running *podTable) *cluster {
	k := *b.old
	if len(b.newest) > 0 || len(b.stale) > 0 {
		k.newest = make(map[objectKey]*corev1.Pod, len(b.old.newest)+len(b.newest))
		for _, from := range []map[objectKey]*corev1.Pod{b.old.newest, b.newest} {
			for key, pod := range from {
				if !b.stale[key] {
					k.newest[key] = pod
				}
			}
		}
		if len(b.stale) > 0 {
			for pod := range running.all() {
				for _, key := range crewOf(pod) {
					if old := k.newest[key]; b.stale[key] && !terminal(pod) && (old == nil || newer(pod, old)) {
						k.newest[key] = pod
					}
				}
			}
		}
	}
	if len(b.changed) == 0 {
		return &k
	}
	var hosts []*host
	for _, name := range slices.Sorted(maps.Keys(b.changed)) {
		hosts = append(hosts, b.changed[name])
	}
	k.table = k.table.extended()
	k.read(hosts)
	k.hosts = make([]*host, 0, len(b.old.hosts)+len(hosts))
	have := b.old.hosts
	for _, h := range hosts {
		at, found := slices.BinarySearchFunc(have, h.name, func(h *host, name string) int { return strings.Compare(h.name, name) })
		k.hosts = append(k.hosts, have[:at]...)
		if found {
			at++
		}
		have = have[at:]
		if h.node != nil || len(h.pods) > 0 {
			k.hosts = append(k.hosts, h)
		}
	}
	k.hosts = append(k.hosts, have...)
	k.special = nil
	for _, h := range b.old.special {
		if b.changed[h.name] == nil {
			k.special = append(k.special, h)
		}
	}
	for _, h := range hosts {
		if h.special() && (h.node != nil || len(h.pods) > 0) {
			k.special = append(k.special, h)
		}
	}
	guarded := func(h *host) bool { return h != nil && len(h.guards) > 0 }
	if slices.ContainsFunc(hosts, func(h *host) bool { return guarded(h) || guarded(b.old.host(h.name)) }) {
		k.watch = newWatch(k.special)
	}
	return &k
}

// extended is a table that may grow without changing t, with the same numbers.
func (t *resourceTable) extended() *resourceTable {
	c := t.clone()
	copy(c.asked, t.asked)
	return c
}

// fork returns a cluster that may be used beside k.
func (k *cluster) fork() *cluster { return k }
