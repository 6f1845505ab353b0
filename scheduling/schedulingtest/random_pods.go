package schedulingtest

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// pods draws workloads of one to a dozen alike pods.
func (w *generator) pods() []*corev1.Pod {
	total := w.between(1, w.size.Pods)
	var pods []*corev1.Pod
	for i := 0; len(pods) < total; i++ {
		n := min(1+w.few(11), total-len(pods))
		if w.size.Pods > 400 {
			n = min(n*w.size.Pods/100, total-len(pods))
		}
		name := fmt.Sprintf("work-%d", i)
		pods = append(pods, Pods(n, name, append(w.podOptions(), Label("app", name))...)...)
	}
	return pods
}

func (w *generator) podOptions() []PodOption {
	opts := w.requests()
	if w.oneIn(12) {
		opts = append(opts, Namespace("shop"))
	}
	if w.oneIn(8) {
		opts = append(opts, Priority(pick[int32](w.dice, -5, 0, 100, 1000)))
	}
	opts = append(opts, w.selection()...)
	opts = append(opts, w.tolerations()...)
	if w.ports && w.oneIn(4) {
		opts = append(opts, w.hostPort())
	}
	return opts
}

// requests draws every shape that a request can have.
func (w *generator) requests() []PodOption {
	cpu := MilliCPU(int64(pick(w.dice, 50, 100, 250, 500, 500, 1000, 1500, 1900, 3000)))
	memory := MiB(int64(pick(w.dice, 64, 100, 256, 512, 1024, 2048, 4096, 7000)))
	opts := []PodOption{Requests(cpu, memory)}
	switch w.IntN(30) {
	case 0:
		return nil
	case 1:
		return []PodOption{Requests(cpu)}
	case 2:
		return []PodOption{Requests(memory)}
	case 3:
		return []PodOption{Limits(cpu, memory)}
	case 4:
		opts = append(opts, Limits(MilliCPU(8000), GiB(16)))
	case 5:
		opts = append(opts, Requests(Count(gpuResource, int64(pick(w.dice, 1, 1, 2)))), TolerateKey("nvidia.com/gpu", ""))
	case 6:
		opts = append(opts, Limits(Count(gpuResource, 1)))
	case 7:
		opts = append(opts, Requests(Count(fpgaResource, 1)))
	case 8:
		opts = append(opts, Requests(Count("example.com/unheard-of", 0)))
	case 9:
		opts = append(opts, Requests(DiskGiB(int64(pick(w.dice, 1, 15, 60)))))
	case 10:
		if w.oneIn(3) {
			return []PodOption{Requests(Cores(1_000), memory)}
		}
	case 11:
		if w.oneIn(3) {
			return []PodOption{Requests(cpu, GiB(1<<32))}
		}
	case 12:
		if w.oneIn(3) {
			opts = append(opts, Requests(Count("example.com/unheard-of", 1)))
		}
	}
	return append(opts, w.further()...)
}

// further draws containers beside the main one.
func (w *generator) further() []PodOption {
	cpu := MilliCPU(int64(w.between(1, 20) * 100))
	memory := MiB(int64(w.between(1, 20) * 100))
	switch w.IntN(20) {
	case 0:
		return []PodOption{Init(cpu, memory)}
	case 1:
		return []PodOption{Sidecar(MilliCPU(50), MiB(64))}
	case 2:
		return []PodOption{Sidecar(MilliCPU(50), MiB(64)), Init(cpu, memory)}
	case 3:
		return []PodOption{Init(cpu, memory), Sidecar(MilliCPU(50), MiB(64))}
	case 4:
		return []PodOption{sideContainer(cpu, memory)}
	case 5:
		return []PodOption{overhead(MilliCPU(25), MiB(120))}
	case 6:
		return []PodOption{podLevelAbove(cpu, memory)}
	}
	return nil
}

// selection draws what pods ask of their node.
func (w *generator) selection() []PodOption {
	switch w.IntN(14) {
	case 0:
		return []PodOption{Select(corev1.LabelTopologyZone, pick(w.dice, w.zones...))}
	case 1:
		key := pick(w.dice, w.keys...)
		return []PodOption{Select(key.key, pick(w.dice, key.values...))}
	case 2:
		return []PodOption{Select(offerings.CapacityTypeLabel, pick(w.dice, "spot", "on-demand", "reserved"))}
	case 3, 4:
		return []PodOption{Where(w.expr())}
	case 5:
		return []PodOption{Where(w.expr(), w.expr())}
	case 6:
		return []PodOption{Where(w.expr()), Where(w.expr())}
	case 7:
		return []PodOption{Where(w.expr(), w.customExpr()), Where(w.expr()), Where(w.customExpr())}
	case 8:
		return []PodOption{Select(corev1.LabelTopologyZone, pick(w.dice, w.zones...)), Where(w.expr()), Where(w.expr())}
	case 9:
		if len(w.pools) > 0 && w.oneIn(2) {
			return []PodOption{Select("karpenter.sh/nodepool", pick(w.dice, w.pools...).Name)}
		}
	case 10:
		if w.oneIn(4) {
			return []PodOption{Prefer(int32(w.between(1, 100)), w.expr())}
		}
	}
	return nil
}

func (w *generator) tolerations() []PodOption {
	const key = "example.com/dedicated"
	switch w.IntN(12) {
	case 0, 1, 2:
		return []PodOption{Tolerate(key, pick(w.dice, taintValues()...), "")}
	case 3, 4:
		return []PodOption{TolerateKey(key, pick(w.dice, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute))}
	case 5:
		return []PodOption{TolerateAll()}
	case 6:
		return []PodOption{Toleration(corev1.Toleration{
			Key: key, Operator: pick(w.dice, corev1.TolerationOpGt, corev1.TolerationOpLt),
			Value: pick(w.dice, "6", "8", "0"), Effect: corev1.TaintEffectNoSchedule,
		})}
	}
	return nil
}

func (w *generator) hostPort() PodOption {
	port := pick[int32](w.dice, 80, 80, 443)
	return hostPortOn(pick(w.dice, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1"), port,
		pick(w.dice, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP))
}

// daemonSets draws daemons that take little and run on some nodes only.
func (w *generator) daemonSets() []*appsv1.DaemonSet {
	var sets []*appsv1.DaemonSet
	for i := range w.few(w.size.DaemonSets) {
		opts := []PodOption{Requests(MilliCPU(int64(w.between(0, 10)*20)), MiB(int64(w.between(1, 6)*32)))}
		switch w.IntN(8) {
		case 0:
			opts = append(opts, Where(w.expr()))
		case 1:
			first, second := w.expr(), w.expr()
			opts = append(opts, Where(first), Where(second))
		case 2:
			opts = append(opts, Select(corev1.LabelTopologyZone, pick(w.dice, w.zones...)))
		case 3:
			opts = append(opts, Select(offerings.CapacityTypeLabel, "spot"))
		case 4:
			opts = append(opts, Where(Gt(cpuKey, 3)))
		case 5:
			opts = append(opts, Where(w.customExpr()))
		}
		if w.oneIn(2) {
			opts = append(opts, TolerateAll())
		}
		if w.ports && w.oneIn(3) {
			opts = append(opts, w.hostPort())
		}
		sets = append(sets, DaemonSet(fmt.Sprintf("daemon-%d", i), opts...))
	}
	return sets
}

// nodes draws running, starting and leaving nodes with the pods on them.
func (w *generator) nodes() ([]*corev1.Node, []*corev1.Pod) {
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

func (w *generator) nodeOptions() []NodeOption {
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

func (w *generator) nodeState(pool *scheduling.NodePool) []NodeOption {
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

func (w *generator) startingTaints() []NodeOption {
	return []NodeOption{
		Taint("node.kubernetes.io/not-ready", "", corev1.TaintEffectNoSchedule),
		Taint("example.com/starting", "", corev1.TaintEffectNoSchedule),
	}[:w.between(0, 2)]
}

// runningOn draws pods for a node. Like a real scheduler it never gives the node
// more than it holds; it asks no further whether the pods may be there.
func (w *generator) runningOn(node *corev1.Node) []*corev1.Pod {
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
			opts = append(opts, PodPhase(corev1.PodSucceeded))
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
