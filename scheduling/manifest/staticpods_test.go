package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// staticCluster has two nodes of GKE in each of two node pools, a ComputeClass that has no node yet and, on the nodes that are
// named, kube-proxy, which GKE runs as a static pod.
func staticCluster(proxied ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: cheap}\nspec: {priorities: [{machineFamily: n2d}]}\n")
	for _, pool := range []string{"first", "second"} {
		for i := range 2 {
			fmt.Fprintf(&b, `---
apiVersion: v1
kind: Node
metadata: {name: %[1]s-%[2]d, labels: {cloud.google.com/gke-nodepool: %[1]s, kubernetes.io/arch: amd64, kubernetes.io/os: linux,
  node.kubernetes.io/instance-type: e2-standard-4, topology.kubernetes.io/zone: europe-west4-a, topology.kubernetes.io/region: europe-west4}}
status: {capacity: {cpu: 4, memory: 16Gi, pods: 110}, allocatable: {cpu: 3820m, memory: 13Gi, pods: 110}, conditions: [{type: Ready, status: "True"}]}
`, pool, i)
		}
	}
	for _, node := range proxied {
		fmt.Fprintf(&b, `---
apiVersion: v1
kind: Pod
metadata: {name: kube-proxy-%[1]s, namespace: kube-system, uid: uid-%[1]s, annotations: {kubernetes.io/config.mirror: a}, ownerReferences: [{apiVersion: v1, kind: Node, name: %[1]s, uid: x, controller: true}]}
spec: {nodeName: %[1]s, containers: [{name: c, resources: {requests: {cpu: 100m, memory: 16Mi}}}]}
status: {phase: Running}
`, node)
	}
	return b.String()
}

// The next node of a NodePool has less room by the requests of the static pods that all of its nodes run.
func TestStaticPods(t *testing.T) {
	room := func(proxied ...string) map[string]string {
		s, err := manifest.Loader{}.Read("gke.yaml", strings.NewReader(staticCluster(proxied...)))
		require.NoError(t, err)
		require.True(t, s.AssumeNodePools())
		require.NoError(t, s.SetCatalog(gcp.MustCatalog("europe-west4")))
		out := map[string]string{}
		for _, pool := range s.Problem.NodePools {
			for _, name := range []string{"e2-standard-4", "n2d-standard-4"} {
				typ, ok := s.Problem.CatalogOf(pool.Name).Get(name)
				require.True(t, ok)
				a := typ.Allocatable()
				out[pool.Name+" "+name] = fmt.Sprintf("%v, %v pods", a.Cpu(), a.Pods())
			}
		}
		return out
	}
	bare := room()
	assert.Equal(t, "3820m, 110 pods", bare["first e2-standard-4"])
	assert.Equal(t, "3820m, 110 pods", bare["cheap-1 n2d-standard-4"])
	all := room("first-0", "first-1", "second-0", "second-1")
	for at, what := range all {
		assert.Equal(t, "3720m, 109 pods", what, at)
	}
	some := room("first-0", "first-1", "second-0")
	assert.Equal(t, "3720m, 109 pods", some["first e2-standard-4"])
	assert.Equal(t, "3820m, 110 pods", some["second e2-standard-4"])
	assert.Equal(t, "3820m, 110 pods", some["cheap-1 n2d-standard-4"])
}
