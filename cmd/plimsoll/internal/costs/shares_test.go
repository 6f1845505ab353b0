package costs_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// list is an amount of cores in thousandths and of memory in MiB.
func list(milli, mebi int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(mebi<<20, resource.BinarySI),
	}
}

func dollars(text string) offerings.Price { return offerings.MustPrice(text) }

func TestDivide(t *testing.T) {
	n := costs.Node{
		Price: dollars("1.1"), Beside: dollars("0.1"),
		Capacity: list(5000, 10000), Allocatable: list(4000, 8000),
		// Memory is scarcest: three quarters of it are taken.
		Pods:    []corev1.ResourceList{list(1000, 4000), list(500, 1000)},
		Daemons: list(500, 1000),
	}
	s := n.Divide()
	assert.Equal(t, corev1.ResourceMemory, s.Scarcest)
	assert.InDelta(t, 0.75, s.Taken, 1e-12)
	assert.Equal(t, dollars("0.1"), s.Beside)
	assert.Equal(t, dollars("0.2"), s.System, "a fifth is not allocatable")
	assert.Equal(t, dollars("0.2"), s.Idle, "a quarter of the rest")
	assert.Equal(t, []offerings.Price{dollars("0.4"), dollars("0.1")}, s.Pods)
	assert.Equal(t, dollars("0.1"), s.Daemons)
}

// Who asks for another resource than the scarcest one pays for that.
func TestDivideByLargestShare(t *testing.T) {
	n := costs.Node{
		Price: dollars("1"), Allocatable: list(4000, 8000),
		Pods: []corev1.ResourceList{list(0, 8000), list(2000, 0)},
	}
	s := n.Divide()
	assert.Equal(t, offerings.Price(666_666_667), s.Pods[0])
	assert.Equal(t, offerings.Price(333_333_333), s.Pods[1])
	assert.Zero(t, s.Idle)
}

func TestDivideWhatIsEmptyUnknownOrOvercommitted(t *testing.T) {
	empty := costs.Node{Price: dollars("1"), Capacity: list(5000, 10000), Allocatable: list(4000, 9000)}
	s := empty.Divide()
	assert.Equal(t, dollars("0.8"), s.Idle)
	assert.Equal(t, dollars("0.2"), s.System)

	unknown := costs.Node{Price: dollars("1"), Pods: []corev1.ResourceList{list(100, 100)}}
	assert.Equal(t, dollars("1"), unknown.Divide().Idle, "nothing says what the pod takes")

	full := costs.Node{Price: dollars("1"), Allocatable: list(1000, 1000), Pods: []corev1.ResourceList{list(1500, 0), list(1500, 0)}}
	s = full.Divide()
	assert.Zero(t, s.Idle)
	assert.Equal(t, []offerings.Price{dollars("0.5"), dollars("0.5")}, s.Pods)
}

func TestPartsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := costs.Node{
			Price: offerings.Price(r.Int64N(100_000_000_000)), Capacity: list(r.Int64N(9000), r.Int64N(9000)), Allocatable: list(r.Int64N(9000), r.Int64N(9000)),
			Daemons: list(r.Int64N(100), r.Int64N(100)),
		}
		n.Beside = offerings.Price(r.Int64N(int64(n.Price) + 1))
		for range r.IntN(30) {
			n.Pods = append(n.Pods, list(r.Int64N(500), r.Int64N(500)))
		}
		s := n.Divide()
		sum := s.Daemons + s.System + s.Beside + s.Idle
		for _, p := range s.Pods {
			assert.GreaterOrEqual(t, p, offerings.Price(0))
			sum += p
		}
		assert.Equal(t, n.Price, sum)
		cents := r.Int64N(1_000_000)
		total := int64(0)
		for _, c := range costs.Cents(cents, append(s.Pods, s.Daemons, s.System, s.Beside, s.Idle)) {
			assert.GreaterOrEqual(t, c, int64(0))
			total += c
		}
		assert.Equal(t, cents, total)
	}
}

func TestSplitWithoutWeights(t *testing.T) {
	assert.Equal(t, []int64{0, 7}, costs.Split(int64(7), []float64{0, 0}))
	assert.Empty(t, costs.Split(int64(7), nil))
	assert.Equal(t, []int64{0, 7, 0}, costs.Split(int64(7), []float64{0, 2, 0}))
}
