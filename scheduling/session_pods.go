package scheduling

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podChange is what becomes of pods, sorted by what they are.
type podChange struct {
	come  []*corev1.Pod // to be placed
	start []*corev1.Pod // to run
	taken []objectKey   // among those to be placed
	ended []objectKey   // among those that run
}

// podChange sorts out what becomes of pods, and reports faults.
func (x *Session) podChange(c *checker, d *Delta) podChange {
	var out podChange
	isWaiting := func(k objectKey) bool { _, ok := x.waiting.find(k); return ok }
	names := change[*corev1.Pod]{list: "pods", key: podKey, put: d.Pods, taken: keysOf(d.Removed.Pods)}
	names.faults(c, func(k objectKey) bool { return x.running.get(k) != nil || isWaiting(k) })
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

// changePods lets pods come and go, and nodes.
func (x *Session) changePods(pods *podChange, d *Delta) {
	x.waiting.change(pods.come, pods.taken)
	b := newClusterBuilder(x.cluster)
	for _, k := range pods.ended {
		b.end(x.running.get(k))
		x.running.put(k, nil)
	}
	for _, pod := range pods.start {
		k := podKey(pod)
		if old := x.running.get(k); old != nil {
			b.end(old)
		}
		b.start(pod)
		x.running.put(k, pod)
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

func (b *clusterBuilder) end(pod *corev1.Pod) {
	for _, key := range crewOf(pod) {
		if b.old.newest[key] == pod || b.newest[key] == pod {
			b.stale[key] = true
		}
	}
	if runs(pod) {
		h := b.at(pod.Spec.NodeName)
		h.pods = slices.DeleteFunc(h.pods, func(p *corev1.Pod) bool { return p == pod })
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
	if runs(pod) {
		h := b.at(pod.Spec.NodeName)
		h.pods = append(h.pods, pod)
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
	for _, name := range sortedKeys(b.changed) {
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
