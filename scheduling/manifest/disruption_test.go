package manifest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// at reads a time.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return out
}

// machines returns the NodeClaim states of a cluster, by their nodes.
func machines(c disruption.Cluster) map[string]disruption.Machine {
	out := map[string]disruption.Machine{}
	for _, m := range c.Machines {
		out[m.Node] = m
	}
	return out
}

// A dump of "kubectl get nodes,nodeclaims,nodepools,pods,pdb -A -o json" says all that
// disruption needs.
func TestClusterOfADump(t *testing.T) {
	s, err := manifest.Loader{}.Load("testdata/cluster.json")
	require.NoError(t, err)
	require.Empty(t, s.Warnings)
	c := s.Cluster()
	require.Len(t, c.Nodes, 5, "four that are there and one on its way")
	require.Len(t, c.Running, 2)
	require.Len(t, c.PodDisruptionBudgets, 1)
	require.EqualValues(t, 0, c.PodDisruptionBudgets[0].Status.DisruptionsAllowed)
	m := machines(c)
	require.Len(t, m, 5)

	plain := m["ip-10-0-1-11.ec2.internal"]
	require.True(t, plain.Created.Equal(at(t, "2026-11-01T08:00:00Z")))
	require.True(t, plain.Initialized.Equal(at(t, "2026-11-01T08:01:10Z")), "D24")
	require.True(t, plain.LastPodEvent.Equal(at(t, "2026-11-20T08:59:30Z")), "D25")
	require.Equal(t, 720*time.Hour, *plain.ExpireAfter.Duration, "D92")
	require.Nil(t, plain.TerminationGracePeriod)
	require.Equal(t, "6821555240594823858", plain.Annotations["karpenter.sh/nodepool-hash"], "D85")
	require.Empty(t, plain.Drift)
	require.Nil(t, plain.Interruption)
	require.False(t, plain.Terminating)
	require.True(t, plain.NominatedUntil.IsZero())

	spot := m["ip-10-0-1-12.ec2.internal"]
	require.Equal(t, "spot", spot.Interruption.Kind)
	require.True(t, spot.Interruption.At.Equal(at(t, "2026-11-20T10:00:30Z")), "two minutes from the notice")
	require.Nil(t, spot.ExpireAfter.Duration, "Never")
	require.Equal(t, 30*time.Minute, spot.TerminationGracePeriod.Duration, "D13")
	require.Empty(t, spot.Drift, "a condition that is False says nothing")

	drifted := m["ip-10-0-1-13.ec2.internal"]
	require.Equal(t, "AMIDrift", drifted.Drift, "the claim is found by the machine's id")
	require.True(t, drifted.DriftedAt.Equal(at(t, "2026-11-18T12:00:00Z")), "D89")
	require.True(t, drifted.Terminating, "D35")

	foreign := m["ip-10-0-1-14.ec2.internal"]
	require.True(t, foreign.NominatedUntil.After(at(t, "2100-01-01T00:00:00Z")), "D5: a pod waits for it")
	require.True(t, foreign.Created.IsZero(), "no claim stands for it")

	coming := m["general-zz9pq"]
	require.True(t, coming.Initialized.IsZero(), "Unknown is not yet")
	require.True(t, coming.LastPodEvent.IsZero())
}

// The order of the input does not matter, and the cluster shares no memory with the snapshot.
func TestClusterIsACopy(t *testing.T) {
	raw, err := os.ReadFile("testdata/cluster.json")
	require.NoError(t, err)
	s := read(t, string(raw))
	a, b := s.Cluster(), s.Cluster()
	require.Equal(t, a, b)
	for i := 1; i < len(a.Machines); i++ {
		require.Less(t, a.Machines[i-1].Node, a.Machines[i].Node)
	}
	for i := range a.Machines {
		if a.Machines[i].Annotations != nil {
			a.Machines[i].Annotations["karpenter.sh/nodepool-hash"] = "changed"
		}
		if d := a.Machines[i].ExpireAfter; d != nil {
			d.Duration = nil
		}
	}
	require.Equal(t, b, s.Cluster())
}

// A snapshot that was put together by hand names its nodes in the claims.
func TestClusterByHand(t *testing.T) {
	raw, err := os.ReadFile("testdata/cluster.json")
	require.NoError(t, err)
	read := read(t, string(raw))
	s := manifest.Snapshot{Problem: read.Problem, NodeClaims: read.NodeClaims}
	m := machines(s.Cluster())
	require.False(t, m["ip-10-0-1-11.ec2.internal"].Created.IsZero())
	require.NotContains(t, m, "ip-10-0-1-13.ec2.internal", "its claim does not name it")
	require.Empty(t, (&manifest.Snapshot{}).Cluster().Machines)
}

func TestInterruptions(t *testing.T) {
	const scheduled = "Preempt Scheduled: Mon, 02 Mar 2026 19:01:45 GMT. EventId: 3f"
	condition := func(kind, status, message string) string {
		return fmt.Sprintf("status: {conditions: [{type: %s, status: %q, message: %q}]}", kind, status, message)
	}
	taint := func(keys ...string) string {
		var list []string
		for _, k := range keys {
			list = append(list, "{key: "+k+", effect: NoSchedule}")
		}
		return "spec: {taints: [" + strings.Join(list, ", ") + "]}"
	}
	tests := []struct {
		name, node, kind, at string
	}{
		{"none", "spec: {}", "", ""},
		{"another taint", taint("team"), "", ""},
		{"spot, of EC2", taint("team", "aws-node-termination-handler/spot-itn"), "spot", ""},
		{"maintenance, of EC2", taint("aws-node-termination-handler/scheduled-maintenance"), "maintenance", ""},
		{"scale-in, of EC2", taint("aws-node-termination-handler/asg-lifecycle-termination"), "scale-in", ""},
		{"advice is no notice", taint("aws-node-termination-handler/rebalance-recommendation"), "", ""},
		{"termination, of GKE", taint("cloud.google.com/impending-node-termination"), "termination", ""},
		{"drain, of AKS", taint("remediator.kubernetes.azure.com/unschedulable"), "maintenance", ""},
		{"drain, of AKS before", taint("remediator.aks.microsoft.com/unschedulable"), "maintenance", ""},
		{"preemption, of AKS", condition("VMEventScheduled", "True", scheduled), "spot", "2026-03-02T19:01:45Z"},
		{"preemption as a condition of its own", condition("PreemptionScheduled", "True", scheduled), "spot", "2026-03-02T19:01:45Z"},
		{"preemption at no time that is known", condition("PreemptionScheduled", "True", "Preempt Scheduled: soon"), "spot", ""},
		{"preemption without a word", condition("PreemptScheduled", "True", ""), "spot", ""},
		{"redeployment, of AKS", condition("VMEventScheduled", "True", "Redeploy Scheduled: soon"), "maintenance", ""},
		{"redeployment as a condition", condition("RedeployScheduled", "True", ""), "maintenance", ""},
		{"termination, of AKS", condition("VMEventScheduled", "True", "Terminate Scheduled: "+strings.Repeat("x", 40)), "termination", ""},
		{"termination as a condition", condition("TerminateScheduled", "True", ""), "termination", ""},
		{"pods survive a freeze", condition("VMEventScheduled", "True", "Freeze Started. EventId: 3f"), "", ""},
		{"no event", condition("VMEventScheduled", "False", scheduled), "", ""},
		{"another condition", condition("DiskPressure", "True", scheduled), "", ""},
		{"at once comes before later", taint("cloud.google.com/impending-node-termination") + "\n" + condition("PreemptionScheduled", "True", scheduled), "termination", ""},
		{"the first of equals stands", taint("aws-node-termination-handler/scheduled-maintenance", "aws-node-termination-handler/spot-itn"), "maintenance", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := read(t, "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"+tt.node+"\n")
			c := s.Cluster()
			if tt.kind == "" {
				require.Empty(t, c.Machines)
				return
			}
			require.Len(t, c.Machines, 1)
			require.Equal(t, tt.kind, c.Machines[0].Interruption.Kind)
			if tt.at == "" {
				require.True(t, c.Machines[0].Interruption.At.IsZero())
			} else {
				require.True(t, c.Machines[0].Interruption.At.Equal(at(t, tt.at)))
			}
		})
	}
	s := read(t, `apiVersion: v1
kind: Node
metadata: {name: a, labels: {cloud.google.com/active-node-maintenance: ONGOING, cloud.google.com/scheduled-maintenance-time: "1733083200"}}
`)
	require.Equal(t, "maintenance", s.Cluster().Machines[0].Interruption.Kind)
	s = read(t, "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"+taint("node.cloudprovider.kubernetes.io/shutdown"))
	require.True(t, s.Cluster().Machines[0].Terminating)
	require.Nil(t, s.Cluster().Machines[0].Interruption)
}

func TestDriftIsPutIntoWords(t *testing.T) {
	drift := func(reason, message string) string {
		s := read(t, "apiVersion: v1\nkind: Node\nmetadata: {name: c1}\n---\n"+claim("c1", "", oneType,
			fmt.Sprintf("conditions: [{type: Drifted, status: %q, reason: %q, message: %q}]", "True", reason, message)))
		return s.Cluster().Machines[0].Drift
	}
	require.Equal(t, "NodePoolDrifted", drift("NodePoolDrifted", "NodePoolDrifted"))
	require.Equal(t, "NodePoolDrifted", drift("NodePoolDrifted", ""))
	require.Equal(t, "AMIDrift: the image is old", drift("AMIDrift", "the image is old"))
	require.Equal(t, "the image is old", drift("Drifted", "the image is old"))
	require.Equal(t, "the image is old", drift("", "the image is old"))
	require.Equal(t, "Drifted", drift("", ""), "never empty: empty is no drift")
}

// Read the state of nodes for consolidation from a dump.
func ExampleSnapshot_Cluster() {
	s, err := manifest.Loader{}.Load("testdata/cluster.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range s.Cluster().Machines {
		switch {
		case m.Interruption != nil:
			fmt.Println(m.Node, "will be taken away:", m.Interruption.Kind)
		case m.Drift != "":
			fmt.Println(m.Node, "has drifted:", m.Drift)
		}
	}
	// Output:
	// ip-10-0-1-12.ec2.internal will be taken away: spot
	// ip-10-0-1-13.ec2.internal has drifted: AMIDrift
}
