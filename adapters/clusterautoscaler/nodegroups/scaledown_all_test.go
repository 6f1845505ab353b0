package nodegroups_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/nodegroups"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// small is a cluster of a few nodes with pods of one resource, for a look at all sets of nodes.
type small struct {
	*world
	group []int
	pods  [][]int64
}

// On small clusters plans save nearly as much as the best sets of nodes whose pods fit on the others, found by trying all.
func TestScaleDownAgainstAllSets(t *testing.T) {
	same, all := 0, 0
	var saved, possible offerings.Price
	for seed := range uint64(60) {
		dice := rand.New(rand.NewPCG(seed, 9))
		s := small{world: newWorld()}
		for g := range 2 {
			cores := int64(2 + dice.IntN(5))
			s.Groups = append(s.Groups, group(fmt.Sprintf("g%d", g), 9, template(fmt.Sprintf("type-%d", g), "a", cores, fmt.Sprintf("%.3f", 0.05*float64(cores)))))
			s.Groups[g].Min = dice.IntN(2)
			for range 1 + dice.IntN(3) {
				var pods []int64
				for left := cores * 1000; dice.IntN(3) > 0; {
					pod := 250 + 250*dice.Int64N(8)
					if left -= pod; left < 0 {
						break
					}
					pods = append(pods, pod)
				}
				s.join(g, 1, pods...)
				s.group, s.pods = append(s.group, g), append(s.pods, pods)
			}
		}
		plan := s.down(t, nodegroups.Planner{ScaleDownSettings: nodegroups.ScaleDownSettings{UtilizationThreshold: 2}})
		best := s.best()
		require.LessOrEqual(t, plan.SavingPerHour, best, "seed %d", seed)
		saved, possible = offerings.Sum(saved, plan.SavingPerHour), offerings.Sum(possible, best)
		if best == 0 {
			continue
		}
		if all++; plan.SavingPerHour == best {
			same++
		}
	}
	// Empty nodes go first, as in the autoscaler, though they may be what another node's pods need.
	assert.Greater(t, all, 30)
	assert.GreaterOrEqual(t, same*100, all*85)
	assert.GreaterOrEqual(t, saved.USD(), 0.95*possible.USD())
	t.Logf("%d of %d plans save as much as the best set, and all of them %v of %v", same, all, saved, possible)
}

// best is the price of the most expensive set of nodes that may go.
func (s *small) best() (best offerings.Price) {
	for set := range 1 << len(s.group) {
		var saved offerings.Price
		left := map[int]int{}
		var free, pods []int64
		for i, g := range s.group {
			if set>>i&1 != 0 {
				saved = offerings.Sum(saved, byLabel{}.PriceOf(s.Groups[g].Template))
				pods = append(pods, s.pods[i]...)
				continue
			}
			left[g]++
			room := s.Groups[g].Template.Status.Allocatable.Cpu().MilliValue()
			for _, pod := range s.pods[i] {
				room -= pod
			}
			free = append(free, room)
		}
		if saved > best && left[0] >= s.Groups[0].Min && left[1] >= s.Groups[1].Min && packs(pods, free) {
			best = saved
		}
	}
	return best
}
