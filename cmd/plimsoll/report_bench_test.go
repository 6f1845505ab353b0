package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// worn is a cluster of so many nodes on EC2 with about twenty pods left on each, out of fifty,
// in the namespaces of a dozen teams, as kubectl would print it.
func worn(t testing.TB, nodes int) (file string, now time.Time) {
	t.Helper()
	filter, err := instancetypes.ParseFilter("category in (c m r),generation>=5,arch=amd64")
	require.NoError(t, err)
	c := st.Cluster(1, st.ClusterOptions{
		Nodes: nodes, PodsPerNode: 50, MaxCPU: 32, Removed: 0.6, DaemonSets: 2, PDBs: true,
		Catalog: ec2.MustCatalog("us-east-1").Filter(filter),
	})
	var items []any
	add := func(apiVersion, kind string, object any) {
		text, err := json.Marshal(object)
		require.NoError(t, err)
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal(text, &fields))
		fields["apiVersion"], fields["kind"] = apiVersion, kind
		items = append(items, fields)
	}
	team := func(o *metav1.ObjectMeta, app string) {
		h := fnv.New32()
		_, _ = h.Write([]byte(app))
		o.Namespace = fmt.Sprintf("team-%c", 'a'+h.Sum32()%12)
	}
	for _, node := range c.Nodes {
		add("v1", "Node", node)
	}
	for _, pod := range c.Running {
		if app := pod.Labels["app"]; app != "" {
			team(&pod.ObjectMeta, app)
			pod.Labels["team"] = pod.Namespace
		}
		add("v1", "Pod", pod)
	}
	for _, set := range c.DaemonSets {
		add("apps/v1", "DaemonSet", set)
	}
	for _, budget := range c.PodDisruptionBudgets {
		team(&budget.ObjectMeta, budget.Spec.Selector.MatchLabels["app"])
		add("policy/v1", "PodDisruptionBudget", budget)
	}
	for _, pool := range c.NodePools {
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, st.Gt("karpenter.k8s.aws/instance-cpu", 3))
		add("karpenter.sh/v1", "NodePool", pool)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "dump.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file, c.Now.Add(time.Hour)
}

// BenchmarkReport reads the dump of a cluster of 1,000 nodes and about 20,000 pods, plans, has the
// steps checked, and writes the page.
func BenchmarkReport(b *testing.B) {
	file, now := worn(b, 1000)
	page := filepath.Join(b.TempDir(), "report.html")
	args := []string{"report", "-f", file, "--now", now.Format(time.RFC3339), "-o", page}
	for b.Loop() {
		require.Equal(b, exitOK, Run(b.Context(), args, strings.NewReader(""), io.Discard, io.Discard))
	}
	info, err := os.Stat(page)
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size()), "bytes")
}
