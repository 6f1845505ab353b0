package schedulingtest

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// objects draws the pods, DaemonSets and nodes of a problem, for the types and NodePools drawn before.
type objects struct {
	base   *generator
	market *market
}

// pods draws workloads of one to a dozen equal pods.
func (w *objects) pods() []*corev1.Pod {
	total := w.base.dice.Between(1, w.base.size.Pods)
	var pods []*corev1.Pod
	for i := 0; len(pods) < total; i++ {
		n := min(1+w.base.dice.Few(11), total-len(pods))
		if w.base.size.Pods > 400 {
			n = min(n*w.base.size.Pods/100, total-len(pods))
		}
		name := fmt.Sprintf("work-%d", i)
		pods = append(pods, Pods(n, name, append(w.podOptions(), Label("app", name))...)...)
	}
	return pods
}

func (w *objects) podOptions() []PodOption {
	opts := w.requests()
	if w.base.dice.OneIn(12) {
		opts = append(opts, Namespace("shop"))
	}
	if w.base.dice.OneIn(8) {
		opts = append(opts, Priority(dice.Pick[int32](w.base.dice, -5, 0, 100, 1000)))
	}
	opts = append(opts, w.selection()...)
	opts = append(opts, w.tolerations()...)
	if w.base.ports && w.base.dice.OneIn(4) {
		opts = append(opts, w.hostPort())
	}
	return opts
}

// requests draws every shape that a request can have.
func (w *objects) requests() []PodOption {
	cpu := MilliCPU(int64(dice.Pick(w.base.dice, 50, 100, 250, 500, 500, 1000, 1500, 1900, 3000)))
	memory := MiB(int64(dice.Pick(w.base.dice, 64, 100, 256, 512, 1024, 2048, 4096, 7000)))
	opts := []PodOption{Requests(cpu, memory)}
	switch w.base.dice.IntN(30) {
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
		opts = append(opts, Requests(Count(gpuResource, int64(dice.Pick(w.base.dice, 1, 1, 2)))), TolerateKey("nvidia.com/gpu", ""))
	case 6:
		opts = append(opts, Limits(Count(gpuResource, 1)))
	case 7:
		opts = append(opts, Requests(Count(fpgaResource, 1)))
	case 8:
		opts = append(opts, Requests(Count("example.com/unheard-of", 0)))
	case 9:
		opts = append(opts, Requests(DiskGiB(int64(dice.Pick(w.base.dice, 1, 15, 60)))))
	case 10:
		if w.base.dice.OneIn(3) {
			return []PodOption{Requests(Cores(1_000), memory)}
		}
	case 11:
		if w.base.dice.OneIn(3) {
			return []PodOption{Requests(cpu, GiB(1<<32))}
		}
	case 12:
		if w.base.dice.OneIn(3) {
			opts = append(opts, Requests(Count("example.com/unheard-of", 1)))
		}
	}
	return append(opts, w.further()...)
}

// further draws containers beside the main one.
func (w *objects) further() []PodOption {
	cpu := MilliCPU(int64(w.base.dice.Between(1, 20) * 100))
	memory := MiB(int64(w.base.dice.Between(1, 20) * 100))
	switch w.base.dice.IntN(20) {
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

// selection draws the node selector and the node affinity of pods.
func (w *objects) selection() []PodOption {
	switch w.base.dice.IntN(14) {
	case 0:
		return []PodOption{Select(corev1.LabelTopologyZone, dice.Pick(w.base.dice, w.base.zones...))}
	case 1:
		key := dice.Pick(w.base.dice, w.base.keys...)
		return []PodOption{Select(key.key, dice.Pick(w.base.dice, key.values...))}
	case 2:
		return []PodOption{Select(offerings.CapacityTypeLabel, dice.Pick(w.base.dice, "spot", "on-demand", "reserved"))}
	case 3, 4:
		return []PodOption{Where(w.base.expr())}
	case 5:
		return []PodOption{Where(w.base.expr(), w.base.expr())}
	case 6:
		return []PodOption{Where(w.base.expr()), Where(w.base.expr())}
	case 7:
		return []PodOption{Where(w.base.expr(), w.base.customExpr()), Where(w.base.expr()), Where(w.base.customExpr())}
	case 8:
		return []PodOption{Select(corev1.LabelTopologyZone, dice.Pick(w.base.dice, w.base.zones...)), Where(w.base.expr()), Where(w.base.expr())}
	case 9:
		if len(w.base.pools) > 0 && w.base.dice.OneIn(2) {
			return []PodOption{Select("karpenter.sh/nodepool", dice.Pick(w.base.dice, w.base.pools...).Name)}
		}
	case 10:
		if w.base.dice.OneIn(4) {
			return []PodOption{Prefer(int32(w.base.dice.Between(1, 100)), w.base.expr())}
		}
	}
	return nil
}

func (w *objects) tolerations() []PodOption {
	const key = "example.com/dedicated"
	switch w.base.dice.IntN(12) {
	case 0, 1, 2:
		return []PodOption{Tolerate(key, dice.Pick(w.base.dice, taintValues()...), "")}
	case 3, 4:
		return []PodOption{TolerateKey(key, dice.Pick(w.base.dice, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute))}
	case 5:
		return []PodOption{TolerateAll()}
	case 6:
		return []PodOption{Toleration(corev1.Toleration{
			Key: key, Operator: dice.Pick(w.base.dice, corev1.TolerationOpGt, corev1.TolerationOpLt),
			Value: dice.Pick(w.base.dice, "6", "8", "0"), Effect: corev1.TaintEffectNoSchedule,
		})}
	}
	return nil
}

func (w *objects) hostPort() PodOption {
	port := dice.Pick[int32](w.base.dice, 80, 80, 443)
	return hostPortOn(dice.Pick(w.base.dice, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1"), port,
		dice.Pick(w.base.dice, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP))
}

// daemonSets draws DaemonSets with small requests that run on some nodes only.
func (w *objects) daemonSets() []*appsv1.DaemonSet {
	var sets []*appsv1.DaemonSet
	for i := range w.base.dice.Few(w.base.size.DaemonSets) {
		opts := []PodOption{Requests(MilliCPU(int64(w.base.dice.Between(0, 10)*20)), MiB(int64(w.base.dice.Between(1, 6)*32)))}
		switch w.base.dice.IntN(8) {
		case 0:
			opts = append(opts, Where(w.base.expr()))
		case 1:
			first, second := w.base.expr(), w.base.expr()
			opts = append(opts, Where(first), Where(second))
		case 2:
			opts = append(opts, Select(corev1.LabelTopologyZone, dice.Pick(w.base.dice, w.base.zones...)))
		case 3:
			opts = append(opts, Select(offerings.CapacityTypeLabel, "spot"))
		case 4:
			opts = append(opts, Where(Gt(cpuKey, 3)))
		case 5:
			opts = append(opts, Where(w.base.customExpr()))
		}
		if w.base.dice.OneIn(2) {
			opts = append(opts, TolerateAll())
		}
		if w.base.ports && w.base.dice.OneIn(3) {
			opts = append(opts, w.hostPort())
		}
		sets = append(sets, DaemonSet(fmt.Sprintf("daemon-%d", i), opts...))
	}
	return sets
}

// nodes draws nodes that run, start and are being removed, with the pods on them.
func (w *objects) nodes() ([]*corev1.Node, []*corev1.Pod) {
	if w.base.dice.OneIn(3) {
		return nil, nil
	}
	var nodes []*corev1.Node
	var running []*corev1.Pod
	for i := range w.base.dice.Few(w.base.size.Nodes) {
		name := fmt.Sprintf("node-%d", i)
		node := Node(name, w.nodeOptions()...)
		nodes = append(nodes, node)
		if len(node.Status.Allocatable) > 0 {
			running = append(running, w.runningOn(node)...)
		}
	}
	return nodes, running
}

func (w *objects) nodeOptions() []NodeOption {
	t := dice.Pick(w.base.dice, w.base.types...)
	if len(t.Offerings) == 0 || w.base.dice.OneIn(6) {
		// A machine that no pool bought and no catalog knows.
		opts := []NodeOption{
			Allocatable(Cores(4), GiB(16), Count(corev1.ResourcePods, int64(dice.Pick(w.base.dice, 5, 110)))),
			Label(corev1.LabelTopologyZone, dice.Pick(w.base.dice, w.base.zones...)),
		}
		if w.base.dice.OneIn(3) {
			opts = append(opts, w.market.taint())
		}
		return opts
	}
	o := dice.Pick(w.base.dice, t.Offerings...)
	opts := []NodeOption{OfType(t, o)}
	pool := w.market.poolOf(o)
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

func (w *objects) nodeState(pool *scheduling.NodePool) []NodeOption {
	switch w.base.dice.IntN(12) {
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

func (w *objects) startingTaints() []NodeOption {
	return []NodeOption{
		Taint("node.kubernetes.io/not-ready", "", corev1.TaintEffectNoSchedule),
		Taint("example.com/starting", "", corev1.TaintEffectNoSchedule),
	}[:w.base.dice.Between(0, 2)]
}

// runningOn draws pods for a node. Like kube-scheduler it never exceeds the node's resources; other filters do not
// count.
func (w *objects) runningOn(node *corev1.Node) []*corev1.Pod {
	cpu := node.Status.Allocatable.Cpu().MilliValue()
	memory := node.Status.Allocatable.Memory().Value() >> 20
	slots := node.Status.Allocatable.Pods().Value()
	var pods []*corev1.Pod
	for i := range w.base.dice.Between(0, 4) {
		askCPU, askMemory := int64(w.base.dice.Between(0, 8)*250), int64(w.base.dice.Between(0, 8)*256)
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
		switch w.base.dice.IntN(12) {
		case 0:
			opts = append(opts, PodPhase(corev1.PodSucceeded))
		case 1:
			opts = append(opts, OwnedByDaemonSet("daemon-0"))
		case 2:
			if w.base.ports {
				opts = append(opts, HostPort(80))
			}
		}
		pods = append(pods, Pod(fmt.Sprintf("%s-pod-%d", node.Name, i), opts...))
	}
	return pods
}
