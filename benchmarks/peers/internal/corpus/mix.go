package corpus

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
)

// KarpenterMix is the main problem of Karpenter's own benchmark with n pods, as that
// benchmark has it: in one pool without requirements.
func KarpenterMix(n int, seed uint64) (Instance, error) {
	p, err := mix.Diverse(n, seed)
	return Instance{Name: fmt.Sprintf("karpenter/diverse/%d", n), Corpus: "karpenter-topology", Tied: true, Problem: p}, err
}
