package pools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pools"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// A cluster of node groups has no NodePool that a user could look for, except for those of ComputeClasses.
func TestTextsNameNodeGroups(t *testing.T) {
	g := &pools.Groups{Groups: map[string]manifest.NodeGroup{"spot": {}, "default-pool": {}}, Least: map[string]int{"spot": 1}}
	for text, want := range map[string]string{
		"NodePool spot has the untolerated taint a=b:NoSchedule":                                                             "node group spot has the untolerated taint a=b:NoSchedule",
		"NodePool spot-1 has the untolerated taint a=b:NoSchedule":                                                           "NodePool spot-1 has the untolerated taint a=b:NoSchedule",
		"NodePool default-pool reaches its limit of nodes":                                                                   "node group default-pool reaches its maximum size",
		"drop the node selector disk, or add disk=ssd to the labels of a NodePool":                                           "drop the node selector disk, or add disk=ssd to the labels of a NodePool",
		"add disk=ssd to the labels of a NodePool whose nodes have it; Karpenter then replaces its running nodes as drifted": "add disk=ssd to the labels of a node group whose nodes have it",
	} {
		require.Equal(t, want, g.Say(text))
		require.Equal(t, text, new(pools.Groups).Say(text), "a cluster of NodePools")
	}
	limit := scheduling.Change{Kind: scheduling.ChangeLimit, Object: "NodePool/spot", Key: "nodes", To: "4", Text: "raise the limit nodes of NodePool spot to 4"}
	g.SayChange(&limit)
	require.Equal(t, "raise the maximum size of node group spot to 4 (--group-size spot=1:4)", limit.Text)
	request := scheduling.Change{Kind: scheduling.ChangeRequest, Key: "cpu", From: "7500m", To: "3420m", Text: "request at most 3.42 cpu instead of 7.5"}
	g.SayChange(&request)
	require.Equal(t, "request at most 3.42 cpu instead of 7.5, or add a larger instance type to a node group", request.Text)
}
