package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
)

// A NodePool whose minValues are never met is warned of, found by lint, and offered by no explanation.
func TestMinValuesThatAreNeverMet(t *testing.T) {
	t.Parallel()
	file := temp(t, "minvalues.yaml", `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: heavy}
spec: {weight: 100, template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}, {key: node.kubernetes.io/instance-type, operator: Exists, minValues: 40}]}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: light}
spec: {weight: 1, template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}
---
`+deployed("web", ""))
	args := []string{"-f", file, "--catalog", "testdata/market.json", "--effort", "fast"}
	const want = "NodePool/heavy: can never launch a node: minValues 40 of node.kubernetes.io/instance-type is not met, because its requirements leave 2; "
	require.Contains(t, run(t, append([]string{"plan"}, args...)...).stdout, want)
	found, _ := findings(t, file, args[2:]...)
	require.Len(t, found[lint.NodePoolUnmet], 1)
	require.Equal(t, "lower minValues to that number, or widen the other requirements", found[lint.NodePoolUnmet][0].Advice)
	r := run(t, append([]string{"explain", "deployment/default/web"}, args...)...)
	require.NotContains(t, r.stdout, "NodePool heavy)", "it offers nothing")
	require.Contains(t, r.stdout, "too few choices remain for the minValues of NodePool heavy")
}
