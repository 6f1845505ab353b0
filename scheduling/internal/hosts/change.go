package hosts

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Change derives a cluster from another one, which stays unchanged.
type Change struct {
	old     *Cluster
	changed map[string]*Host
	// stale are the DaemonSets that have lost their newest pod.
	stale  map[types.NamespacedName]bool
	newest map[types.NamespacedName]*corev1.Pod
}

// NewChange starts with a cluster without changes.
func NewChange(old *Cluster) *Change {
	return &Change{old: old, changed: map[string]*Host{}, stale: map[types.NamespacedName]bool{}, newest: map[types.NamespacedName]*corev1.Pod{}}
}

// At returns a copy of the host of a name that may be changed, or a new host.
func (b *Change) At(name string) *Host {
	h := b.changed[name]
	if h == nil {
		h = &Host{Name: name}
		if old := b.old.Host(name); old != nil {
			h.Node, h.Pods = old.Node, slices.Clone(old.Pods)
		}
		b.changed[name] = h
	}
	return h
}

// End removes a pod that no longer exists from its node.
func (b *Change) End(pod *corev1.Pod, node string) {
	for _, key := range daemonOwners(pod) {
		if b.old.Newest[key] == pod || b.newest[key] == pod {
			b.stale[key] = true
		}
	}
	b.Leave(pod, node)
}

// Leave removes a pod from its node, to be added to another one.
func (b *Change) Leave(pod *corev1.Pod, node string) {
	if runs(pod) {
		h := b.At(node)
		h.Pods = slices.DeleteFunc(h.Pods, func(p *corev1.Pod) bool { return p == pod })
	}
}

// Move moves a pod to another node, where its controller creates it again, and returns the pod there: the same
// one, unless a resize in place has changed its requests, because a new pod has the requests of its spec.
func (b *Change) Move(pod *corev1.Pod, from, to string) *corev1.Pod {
	if !podspec.Resized(pod) {
		b.Leave(pod, from)
		b.Enter(pod, to)
		return pod
	}
	again := scheduling.Successor(pod, to)
	b.End(pod, from)
	b.Start(again)
	return again
}

// Start adds a pod to the node of its spec.
func (b *Change) Start(pod *corev1.Pod) {
	if !lifecycle.Ended(pod) {
		for _, key := range daemonOwners(pod) {
			old := b.newest[key]
			if old == nil {
				old = b.old.Newest[key]
			}
			if old == nil || newer(pod, old) {
				b.newest[key] = pod
			}
		}
	}
	b.Enter(pod, pod.Spec.NodeName)
}

// Enter adds a pod to a node, whatever its spec says.
func (b *Change) Enter(pod *corev1.Pod, node string) {
	if runs(pod) {
		h := b.At(node)
		h.Pods = append(h.Pods, pod)
	}
}

// Cluster returns the changed cluster. running yields all running pods with their nodes; it is used only where
// the newest pod of a DaemonSet has ended.
func (b *Change) Cluster(running iter.Seq2[*corev1.Pod, string]) *Cluster {
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
			for pod := range running {
				k.noteDaemonPod(pod)
			}
		}
	}
	if len(b.changed) == 0 {
		return &k
	}
	var renewed []*Host
	for _, name := range slices.Sorted(maps.Keys(b.changed)) {
		renewed = append(renewed, b.changed[name])
	}
	k.Table = b.old.Table.Clone() // it may grow, and the old one must not
	copy(k.Table.Asked, b.old.Table.Asked)
	k.read(renewed)
	k.Hosts = make([]*Host, 0, len(b.old.Hosts)+len(renewed))
	have := b.old.Hosts
	for _, h := range renewed {
		at, found := find(have, h.Name)
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
	guarded := func(h *Host) bool { return h != nil && len(h.Guards) > 0 }
	if slices.ContainsFunc(renewed, func(h *Host) bool { return guarded(h) || guarded(b.old.Host(h.Name)) }) {
		k.sortGuards()
	}
	return &k
}
