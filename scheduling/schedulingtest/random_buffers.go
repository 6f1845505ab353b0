package schedulingtest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
)

// RandomBuffers returns up to three CapacityBuffers of a problem: each has room for a few pods of the shape of one of its
// pods, pending or running. The same seed and problem give the same buffers; a problem without pods has none.
func RandomBuffers(seed uint64, p *scheduling.Problem) (out []buffers.Buffer) {
	r := dice.New(seed ^ 0x62756666657273)
	pods := append(append([]*corev1.Pod{}, p.Pods...), p.Running...)
	for i := range r.Between(1, 3) {
		if len(pods) == 0 {
			break
		}
		like := pods[r.Between(0, len(pods)-1)]
		b := buffers.Buffer{Namespace: like.Namespace, Name: string(rune('a' + i)), Replicas: r.Between(1, 4)}
		b.Template.Labels, b.Template.Spec = like.Labels, like.Spec
		out = append(out, b)
	}
	return out
}
