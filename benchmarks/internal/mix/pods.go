package mix

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Diverse is the main problem of the benchmark: [schedulingtest.Diverse] with n pods, one
// pool without requirements, and the market of 400 types.
func Diverse(n int, seed uint64) (scheduling.Problem, error) {
	catalog, err := Market(400)
	return scheduling.Problem{
		Pods:      schedulingtest.Diverse(n, seed),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog:   catalog,
	}, err
}
