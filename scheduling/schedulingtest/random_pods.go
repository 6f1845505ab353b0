package schedulingtest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// pods draws workloads of one to a dozen alike pods.
func (w *world) pods() []*corev1.Pod {
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

func (w *world) podOptions() []PodOption {
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
func (w *world) requests() []PodOption {
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
func (w *world) further() []PodOption {
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
		return []PodOption{Container(cpu, memory)}
	case 5:
		return []PodOption{Overhead(MilliCPU(25), MiB(120))}
	case 6:
		return []PodOption{PodLevel(cpu, memory)}
	}
	return nil
}

// selection draws what pods ask of their node.
func (w *world) selection() []PodOption {
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

func (w *world) tolerations() []PodOption {
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

func (w *world) hostPort() PodOption {
	port := pick[int32](w.dice, 80, 80, 443)
	return HostPortOn(pick(w.dice, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1"), port,
		pick(w.dice, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP))
}
