package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// autoPool is a NodePool of EKS Auto Mode as EKS makes general-purpose, with more of its specification.
func autoPool(name, more string) string {
	return `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ` + name + `}
spec: {template: {spec: {` + more + `nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}, requirements: [
  {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]},
  {key: eks.amazonaws.com/instance-category, operator: In, values: [c, m, r]},
  {key: eks.amazonaws.com/instance-generation, operator: Gt, values: ["4"]},
  {key: kubernetes.io/arch, operator: In, values: [amd64]}]}}}
---
`
}

// autoWarnings are the warnings of EKS Auto Mode alone.
func autoWarnings(t *testing.T, text string) (out []string) {
	t.Helper()
	for _, w := range told(planOf(t, "ec2/us-west-2", text)) {
		if !strings.HasPrefix(w, "NodeClass/") {
			out = append(out, w)
		}
	}
	return out
}

// NodePools of EKS Auto Mode launch what their labels say, of what Auto Mode launches, with pods
// that select its nodes; its fee is told.
func TestAutoMode(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"its labels":         {autoPool("general-purpose", "") + replicas(2, "cpu: 500m, memory: 512Mi", ""), "c6a.large"},
		"selected by them":   {autoPool("general-purpose", "") + replicas(2, "cpu: 500m, memory: 512Mi", "nodeSelector: {eks.amazonaws.com/compute-type: auto, eks.amazonaws.com/instance-category: r}, "), "r5a.large"},
		"without a NodePool": {replicas(2, "cpu: 500m, memory: 512Mi", "nodeSelector: {eks.amazonaws.com/compute-type: auto}, "), "c6a.large"},
		"no small types": {strings.Replace(autoPool("p", ""), `{key: eks.amazonaws.com/instance-category, operator: In, values: [c, m, r]}`, `{key: eks.amazonaws.com/instance-category, operator: In, values: [t]}`, 1) +
			replicas(2, "cpu: 100m, memory: 128Mi", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planOf(t, "ec2/us-west-2", strings.Replace(tt.text, `operator: Gt, values: ["4"]`, `operator: Gt, values: ["`+map[bool]string{true: "1", false: "4"}[tt.want == ""]+`"]`, 1))
			require.Empty(t, plan.Unschedulable)
			require.Len(t, plan.Launches, 1)
			for _, o := range plan.Launches[0].Options {
				require.NotRegexp(t, `\.(nano|micro|small)$`, o.InstanceType)
			}
			if tt.want != "" {
				require.Equal(t, tt.want, plan.Launches[0].Options[0].InstanceType)
			}
			require.Contains(t, strings.Join(told(plan), "\n"), "EKS Auto Mode: AWS charges a management fee")
		})
	}
	const fee = "EKS Auto Mode: AWS charges"
	warnings := autoWarnings(t, autoPool("p", "expireAfter: Never, ")+autoPool("q", "expireAfter: 480h, ")+replicas(1, "cpu: 1, memory: 1Gi", ""))
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], fee)
	require.Equal(t, "NodePool/p: spec.template.spec.expireAfter is Never, and EKS Auto Mode replaces nodes after 21 days at the latest: 504h is assumed", warnings[1])
	// Where both are, pods may ask for nodes that are not of Auto Mode.
	both := planOf(t, "ec2/us-west-2", autoPool("auto", "")+poolOf("EC2NodeClass", "m5.large")+
		replicas(1, "cpu: 500m, memory: 512Mi", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: eks.amazonaws.com/compute-type, operator: NotIn, values: [auto]}]}]}}}, "))
	require.Len(t, both.Launches, 1)
	require.Equal(t, "general", both.Launches[0].NodePool)
}

// autoNodes are two nodes of EKS Auto Mode, old enough to be replaced by their pool or not, with a pod each.
func autoNodes(created string) string {
	const labels = "eks.amazonaws.com/compute-type: auto, eks.amazonaws.com/instance-category: m, eks.amazonaws.com/instance-generation: '5', eks.amazonaws.com/nodeclass: default, " +
		"karpenter.sh/nodepool: general-purpose, karpenter.sh/capacity-type: on-demand, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'"
	var b strings.Builder
	for _, name := range []string{"i-1", "i-2"} {
		b.WriteString(strings.Replace(groupNode(name, "m5.xlarge", "us-west-2a", 4, 16, labels, ""), "2026-10-01T00:00:00Z", created, 1))
		b.WriteString(groupPod("web-"+name, name, "3", "4Gi", "nodeSelector: {eks.amazonaws.com/compute-type: auto},"))
	}
	return b.String()
}

// Nodes of EKS Auto Mode have not drifted from its NodePools, and are replaced after 21 days, also
// where the input lacks the NodePools.
func TestAutoModeNodes(t *testing.T) {
	reasons := func(text string) (out []disruption.Reason) {
		r := run(t, "consolidate", "-f", temp(t, "cluster.yaml", agent+text), "--now", "2026-11-21T09:00:00Z", "-o", "json", "--effort", "fast")
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Contains(t, r.stdout, "some $34 a month for the nodes that run", "12% of 0.192 USD for each of two nodes")
		for _, s := range moveset(t, r.stdout).Steps {
			out = append(out, s.Reason)
		}
		return out
	}
	const young, old = "2026-11-20T09:00:00Z", "2026-10-30T09:00:00Z"
	never := autoPool("general-purpose", "expireAfter: Never, ")
	for _, pool := range []string{never, ""} {
		require.NotContains(t, reasons(pool+autoNodes(young)), disruption.Expired)
		require.NotContains(t, reasons(pool+autoNodes(young)), disruption.Drifted)
		require.Contains(t, reasons(pool+autoNodes(old)), disruption.Expired)
	}
}
