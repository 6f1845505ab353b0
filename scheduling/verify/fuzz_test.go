package verify_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/untrusted"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// FuzzPlan reads plans from anywhere: whatever they say, the checker answers, says the
// same again, and accepts nothing that leaves a pod out.
func FuzzPlan(f *testing.F) {
	good, err := json.Marshal(handmade().plan)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, text := range []string{
		`{}`, `{"launches":[{}]}`, `{"launches":[{"nodePool":"default"},{"nodePool":"default","options":[{}]}]}`,
		`{"launches":[{"nodePool":"team","options":[{"instanceType":"small","zone":"a","capacityType":"spot"}],"requests":{"cpu":"1e9999"},"labels":{"":""}}]}`,
		`{"launches":[{"nodePool":"team","requirements":[{"key":"topology.kubernetes.io/region","operator":"Gt","values":["9223372036854775807"]}],"options":[{"instanceType":"small","zone":"a","capacityType":"spot"}]}]}`,
		`{"existing":[{"node":"n3","pods":["x","/","shop/web-1"]}],"unschedulable":[{"reasons":[{}]}]}`,
		`{"summary":{"certificate":{"kind":"resource","values":{"cpu":"99999999999999999999","":"1"},"scale":1024},"lowerBoundPerHour":1}}`,
	} {
		f.Add([]byte(text))
	}
	p := handmade().p
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, absurd := untrusted.Quantity(text); absurd {
			return // Kubernetes' own types would not come back from reading it
		}
		var plan scheduling.Plan
		if json.Unmarshal(text, &plan) != nil {
			return
		}
		err := verify.Plan(p, &plan)
		require.Equal(t, err, verify.Plan(p, &plan))
		if err == nil {
			require.Equal(t, len(p.Pods), plan.Summary.Pods)
			return
		}
		var report *verify.Report
		require.ErrorAs(t, err, &report)
		require.NotEmpty(t, err.Error())
	})
}

// A checker that is handed a nonsensical problem must not fall over either.
func TestBrokenProblems(t *testing.T) {
	for name, p := range map[string]scheduling.Problem{
		"nothing":     {},
		"nil objects": {Pods: handmade().p.Pods, NodePools: []*scheduling.NodePool{nil}, DaemonSets: handmade().p.DaemonSets[:0:0], PoolCatalogs: nil},
		"nil catalog": {Pods: handmade().p.Pods, NodePools: handmade().p.NodePools, Nodes: handmade().p.Nodes},
		"unknown operators": {Pods: handmade().p.Pods, Catalog: handmade().p.Catalog, NodePools: []*scheduling.NodePool{
			st.NodePool("default", st.Where(st.In("", "x"), st.In(typeOf))), st.NodePool("team"), st.NodePool("gpu"), st.NodePool("reserved")}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Nodes = append(p.Nodes, nil)
			p.DaemonSets = append(p.DaemonSets, nil)
			p.Running = append(p.Running, nil)
			require.Error(t, verify.Plan(p, handmade().plan))
		})
	}
}
