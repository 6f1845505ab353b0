package snapshot

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// AddNode adds a node, with its share of the usage of its pool.
func (w *State) AddNode(n *Node) {
	n.charge(1)
	w.Nodes[n.Name] = n
}

// RemoveNode removes a node, with its share of the usage of its pool. The pods on it stay among Running.
func (w *State) RemoveNode(n *Node) {
	n.charge(-1)
	delete(w.Nodes, n.Name)
}

// AddPod adds a running pod. Its node does not change before Reread or [Node.Hold].
func (w *State) AddPod(pod *corev1.Pod) { w.Running[ObjectName(pod)] = pod }

// RemovePod removes a running pod. Its node does not change before Reread.
func (w *State) RemovePod(pod *corev1.Pod) { delete(w.Running, ObjectName(pod)) }

// Reread reads a node again, with the pods that are on it now.
func (w *State) Reread(n *Node, pods []*corev1.Pod) { *n = *w.NewNode(n.Running, pods) }

// RereadDaemons reads the DaemonSets again if the newest pod of one is gone, because its requests come from that pod. It
// reports whether it did; nodes must then be read again.
func (w *State) RereadDaemons() bool {
	if !slices.ContainsFunc(w.Daemons, func(d *Daemon) bool { return d.newest != nil && w.Running[ObjectName(d.newest)] == nil }) {
		return false
	}
	w.Daemons = readDaemons(w.Problem.DaemonSets, slices.Collect(maps.Values(w.Running)))
	return true
}

// TakeReservation takes the amount of a node out of its reservation, or gives it back with sign -1.
func (w *State) TakeReservation(n *Node, sign int) {
	if id, amount := w.Drawn(n.Running); id != "" {
		w.Reservations[id] -= int64(sign) * amount
	}
}

// WithPods returns the state with other pods to be placed, by name. It shares all else with this state.
func (w *State) WithPods(pods map[string]*Pod) *State {
	own := *w
	own.Pods = pods
	return &own
}
