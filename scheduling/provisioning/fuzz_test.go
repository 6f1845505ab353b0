package provisioning_test

import (
	"encoding/binary"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// FuzzSolve reads a seed, sizes and changes from the bytes, and checks the plan of that problem as Audit does. The
// changes make problems that the generator alone would not draw, invalid ones among them: these must be refused with an
// error, never with a panic.
func FuzzSolve(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 10, 3, 2, 2, 1, 2})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 9, 40, 12, 4, 4, 3, 3, 0, 1, 2, 3, 1, 0, 0, 5})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1, 9, 20, 6, 1, 0, 3, 1, 5, 0, 7, 7, 4, 3, 9, 9, 2, 2, 200, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		tape := &tape{data: data}
		seed := tape.number()
		p := schedulingtest.Random(seed, schedulingtest.Size{
			Pods: tape.upTo(60), Types: tape.upTo(20), Pools: tape.upTo(6),
			Nodes: tape.upTo(6), DaemonSets: tape.upTo(4), Zones: tape.upTo(4), TopologyTerms: tape.upTo(1) == 1,
		})
		for range 8 {
			if len(tape.data) == 0 {
				break
			}
			mutate(tape, &p)
		}
		solver := randomSolver(tape.upTo(10_000))
		solver.Effort = 5
		_, err := schedulingtest.Audit(t.Context(), solver, p)
		if err != nil && !errors.Is(err, scheduling.ErrInvalid) {
			t.Errorf("solver %+v: %v\n%s", solver, err, smallest(t, solver, p, err))
		}
	})
}

// mutate changes one thing about the problem.
func mutate(tape *tape, p *scheduling.Problem) {
	pod := p.Pods[tape.upTo(len(p.Pods)-1)]
	if pod == nil {
		return // an earlier change put it there
	}
	c := &pod.Spec.Containers[0]
	switch tape.upTo(11) {
	case 0:
		c.Resources.Requests = tape.resources()
	case 1:
		c.Resources.Limits = tape.resources()
	case 2:
		pod.Spec.NodeSelector = map[string]string{tape.key(): tape.value()}
	case 3:
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: tape.key(), Operator: corev1.TolerationOperator(tape.pick("", "Exists", "Equal", "Lt", "Gt", "Near")), Value: tape.value(),
		})
	case 4:
		c.Ports = append(c.Ports, corev1.ContainerPort{HostPort: int32(tape.upTo(70_000)), Protocol: corev1.ProtocolTCP})
	case 5:
		p.Pods = append(p.Pods, nil)
	case 6:
		p.Pods = append(p.Pods, pod.DeepCopy())
	case 7:
		p.Catalog = nil
	case 8:
		p.NodePools = append(p.NodePools, schedulingtest.NodePool(tape.pick("", "pool-0", "pool-x"),
			schedulingtest.Limit(schedulingtest.MilliCPU(int64(tape.upTo(60_000))))))
	case 9:
		for _, n := range p.Nodes {
			n.Status.Allocatable = tape.resources()
		}
	case 10:
		priority := int32(tape.upTo(1 << 30))
		pod.Spec.Priority = &priority
	case 11:
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: tape.key(), Operator: corev1.NodeSelectorOperator(tape.pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Odd")),
					Values: []string{tape.value()}[:tape.upTo(1)],
				}}},
			}[:tape.upTo(1)]},
		}}
	}
}

// tape reads numbers from the bytes of a fuzz input, and zeros after its end.
type tape struct{ data []byte }

func (t *tape) next() byte {
	if len(t.data) == 0 {
		return 0
	}
	b := t.data[0]
	t.data = t.data[1:]
	return b
}

func (t *tape) number() uint64 {
	var b [8]byte
	for i := range b {
		b[i] = t.next()
	}
	return binary.BigEndian.Uint64(b[:])
}

// upTo is a number from 0 to n.
func (t *tape) upTo(n int) int {
	x := int(t.next())
	for m := n >> 8; m > 0; m >>= 8 {
		x = x<<8 | int(t.next())
	}
	return x % (n + 1)
}

func (t *tape) pick(values ...string) string { return values[t.upTo(len(values)-1)] }

func (t *tape) key() string {
	return t.pick("topology.kubernetes.io/zone", "karpenter.sh/capacity-type", "example.com/team", "example.com/level", "kubernetes.io/hostname", "", "a b")
}

func (t *tape) value() string {
	return t.pick("zone-a", "spot", "red", "5", "node-0", "", "not a value", "-7")
}

func (t *tape) resources() corev1.ResourceList {
	list := corev1.ResourceList{}
	for range t.upTo(3) {
		name := corev1.ResourceName(t.pick("cpu", "memory", "pods", "ephemeral-storage", "nvidia.com/gpu", "example.com/unheard-of", ""))
		text := t.pick("0", "1m", "1", "3500m", "1Gi", "7Gi", "1n", "0.5", "9223372036854775807", "16Ei", "1e30", "-1")
		list[name] = resource.MustParse(text)
	}
	return list
}
