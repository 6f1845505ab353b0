package corpus

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// size is the request of a pod.
type size struct{ milliCPU, mib int64 }

func sizesOf(n int, pods func(n int, seed uint64) []size) (map[size]int, []size) {
	all := pods(n, 9)
	count := map[size]int{}
	for _, s := range all {
		count[s]++
	}
	return count, all
}

func TestRandomSizes(t *testing.T) {
	count, all := sizesOf(2_000, func(n int, seed uint64) (out []size) {
		for _, p := range RandomSizes(n, seed) {
			r := p.Spec.Containers[0].Resources.Requests
			out = append(out, size{r.Cpu().MilliValue(), r.Memory().Value() >> 20})
		}
		return out
	})
	assert.Greater(t, len(count), 1_990, "hardly any two are alike")
	var cpu, memory int64
	for _, s := range all {
		assert.Zero(t, s.milliCPU%10)
		assert.GreaterOrEqual(t, s.milliCPU, int64(50))
		assert.LessOrEqual(t, s.milliCPU, int64(4_000))
		assert.GreaterOrEqual(t, s.mib, int64(64))
		assert.LessOrEqual(t, s.mib, int64(16<<10))
		cpu, memory = cpu+s.milliCPU, memory+s.mib
	}
	assert.InDelta(t, 2_025, cpu/2_000, 100)
	assert.InDelta(t, 8_224, memory/2_000, 400)
}
