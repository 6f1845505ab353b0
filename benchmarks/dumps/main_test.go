package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Each kind of dump is read without warnings but for those about the kind itself, has more than half of the capacity of
// its nodes requested, and gives a plan that obeys every rule.
func TestDumps(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			var dump, again, stderr bytes.Buffer
			args := []string{"-kind", kind, "-nodes", "6", "-seed", "2"}
			require.NoError(t, run(args, &dump, &stderr))
			require.NoError(t, run(args, &again, &stderr))
			assert.Equal(t, dump.Bytes(), again.Bytes())
			s, err := manifest.Loader{}.Read("cluster.json", &dump)
			require.NoError(t, err)
			s.AssumeNodePools()
			v, ok := vendorOf(kind)
			require.True(t, ok)
			require.NoError(t, s.SetCatalog(v.catalog))
			for _, w := range s.Warnings {
				assert.True(t, slices.ContainsFunc([]string{"node groups", "EKS Auto Mode", "ComputeClass/cost-optimized"}, func(known string) bool { return w.Object == known }), "%s: %s", w.Object, w.Message)
			}
			c := s.Cluster()
			assert.Len(t, c.Nodes, 6)
			assert.InDelta(t, 0.55, requestedCores(c), 0.15)
			assert.Len(t, c.Pods, 2)
			planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}, Now: time.Date(2026, time.November, 21, 9, 0, 0, 0, time.UTC)}
			plan, err := planner.Plan(t.Context(), c)
			require.NoError(t, err)
			assert.Len(t, plan.Nodes, 6)
			assert.NoError(t, verify.StepsChecker{Planner: planner}.Steps(c, plan))
		})
	}
}

// requestedCores is the share of the cores of a cluster that its pods request.
func requestedCores(c disruption.Cluster) float64 {
	var asks, all int64
	for _, node := range c.Nodes {
		all += node.Status.Allocatable.Cpu().MilliValue()
	}
	for _, pod := range c.Running {
		cpu, _ := asked(&corev1.PodSpec{Containers: pod.Spec.Containers, InitContainers: pod.Spec.InitContainers})
		asks += cpu
	}
	return float64(asks) / float64(all)
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"-kind kops":       "-kind kops: there are eks-karpenter, eks-auto, eks-nodegroups, gke, aks",
		"-nodes 2":         "-nodes 2: must be at least 6, one for each group of nodes",
		"-now tomorrow":    "-now tomorrow: is no time such as 2026-11-21T09:00:00Z",
		"-nodes 6 cluster": `argument "cluster" is not expected`,
	} {
		var out bytes.Buffer
		assert.EqualError(t, run(strings.Fields(args), &out, &out), want)
	}
}
