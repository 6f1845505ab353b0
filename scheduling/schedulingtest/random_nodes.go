package schedulingtest

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// nodes draws running, starting and leaving nodes with the pods on them.
func (w *world) nodes() ([]*corev1.Node, []*corev1.Pod) {
	if w.oneIn(3) {
		return nil, nil
	}
	var nodes []*corev1.Node
	var running []*corev1.Pod
	for i := range w.few(w.size.Nodes) {
		name := fmt.Sprintf("node-%d", i)
		node := Node(name, w.nodeOptions()...)
		nodes = append(nodes, node)
		if len(node.Status.Allocatable) > 0 {
			running = append(running, w.runningOn(node)...)
		}
	}
	return nodes, running
}

func (w *world) nodeOptions() []NodeOption {
	t := pick(w.dice, w.types...)
	if len(t.Offerings) == 0 || w.oneIn(6) {
		// A machine that no pool bought and no catalog knows.
		opts := []NodeOption{
			Allocatable(Cores(4), GiB(16), Count(corev1.ResourcePods, int64(pick(w.dice, 5, 110)))),
			Label(corev1.LabelTopologyZone, pick(w.dice, w.zones...)),
		}
		if w.oneIn(3) {
			opts = append(opts, w.taint())
		}
		return opts
	}
	o := pick(w.dice, t.Offerings...)
	opts := []NodeOption{OfType(t, o)}
	pool := w.poolOf(o)
	if pool != nil {
		opts = append(opts, OfPool(pool.Name))
		for key, value := range pool.Spec.Template.Metadata.Labels {
			opts = append(opts, Label(key, value))
		}
		for _, t := range pool.Spec.Template.Spec.Taints {
			opts = append(opts, Taint(t.Key, t.Value, t.Effect))
		}
	}
	return append(opts, w.nodeState(pool)...)
}

func (w *world) nodeState(pool *scheduling.NodePool) []NodeOption {
	switch w.IntN(12) {
	case 0:
		return []NodeOption{Deleting()}
	case 1:
		return []NodeOption{Disrupted()}
	case 2:
		return []NodeOption{Cordoned()}
	case 3:
		return []NodeOption{Taint("example.com/starting", "", corev1.TaintEffectNoSchedule)}
	case 4, 5, 6:
		if pool == nil {
			return nil
		}
		return slices.Concat([]NodeOption{InFlight()}, w.startingTaints())
	}
	return nil
}

func (w *world) startingTaints() []NodeOption {
	return []NodeOption{
		Taint("node.kubernetes.io/not-ready", "", corev1.TaintEffectNoSchedule),
		Taint("example.com/starting", "", corev1.TaintEffectNoSchedule),
	}[:w.between(0, 2)]
}

// runningOn draws pods for a node. Like a real scheduler it never gives the node
// more than it holds; it asks no further whether the pods may be there.
func (w *world) runningOn(node *corev1.Node) []*corev1.Pod {
	cpu := node.Status.Allocatable.Cpu().MilliValue()
	memory := node.Status.Allocatable.Memory().Value() >> 20
	slots := node.Status.Allocatable.Pods().Value()
	var pods []*corev1.Pod
	for i := range w.between(0, 4) {
		askCPU, askMemory := int64(w.between(0, 8)*250), int64(w.between(0, 8)*256)
		if cpu -= askCPU; cpu < 0 {
			break
		}
		if memory -= askMemory; memory < 0 {
			break
		}
		if slots--; slots < 0 {
			break
		}
		opts := []PodOption{OnNode(node.Name), Requests(MilliCPU(askCPU), MiB(askMemory)), Label("app", "old")}
		switch w.IntN(12) {
		case 0:
			opts = append(opts, Phase(corev1.PodSucceeded))
		case 1:
			opts = append(opts, OwnedByDaemonSet("daemon-0"))
		case 2:
			if w.ports {
				opts = append(opts, HostPort(80))
			}
		}
		pods = append(pods, Pod(fmt.Sprintf("%s-pod-%d", node.Name, i), opts...))
	}
	return pods
}
