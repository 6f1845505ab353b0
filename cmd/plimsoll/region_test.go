package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// moveTo writes the cluster of the examples as it would be in another region.
func moveTo(t *testing.T, region string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"10-nodepools", "20-nodes", "30-pods"} {
		text, err := os.ReadFile("../../examples/consolidate/" + name + ".yaml")
		require.NoError(t, err)
		// eu-west-1 has no zone d.
		all.WriteString(strings.ReplaceAll(strings.ReplaceAll(string(text), "us-east-1d", "us-east-1c"), "us-east-1", region) + "\n---\n")
	}
	return temp(t, "cluster.yaml", all.String())
}

// placed is a node, a volume or a NodePool with what says where it is.
func placed(kind, name, where string) string {
	text := fmt.Sprintf("---\nkind: %s\nmetadata: {name: %s", kind, name)
	switch kind {
	case "Node":
		return "---\napiVersion: v1" + text[3:] + ", labels: {" + where + "}}\nstatus: {allocatable: {cpu: 500m, memory: 16Gi, pods: 50}}\n"
	case "PersistentVolume":
		key, value, _ := strings.Cut(where, ": ")
		return "---\napiVersion: v1" + text[3:] + "}\nspec:\n  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n  csi: {driver: ebs.csi.aws.com, volumeHandle: v}\n" +
			"  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " + key + ", operator: In, values: [" + value + "]}]}]}}\n"
	}
	key, value, _ := strings.Cut(where, ": ")
	return "---\napiVersion: karpenter.sh/v1" + text[3:] + "}\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}, requirements: [{key: " +
		key + ", operator: In, values: [" + value + "]}]}}}\n"
}

const onePod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1, memory: 1Gi}}}]}\n"

// Without --catalog a cluster is planned where it is.
func TestClustersArePlannedWhereTheyAre(t *testing.T) {
	t.Parallel()
	file := moveTo(t, "eu-west-1")
	r := run(t, "consolidate", "-f", file, "--now", "2026-11-21T09:00:00Z", "-o", "json", "--effort", "fast")
	require.Equal(t, exitOK, r.code, r.stderr)
	plan := moveset(t, r.stdout)
	require.Equal(t, "ec2/eu-west-1", plan.Summary.Catalog.Name)
	require.Equal(t, 11, plan.Summary.NodesBefore, "the price of every node is known")
	require.Zero(t, plan.Summary.UnpricedNodes)
	launches := 0
	for _, step := range plan.Steps {
		for _, l := range step.Launches {
			launches++
			require.True(t, strings.HasPrefix(l.Options[0].Zone, "eu-west-1"), l.Options[0].Zone)
		}
	}
	require.NotZero(t, launches)

	r = run(t, "consolidate", "-f", file, "--catalog", "ec2/us-east-1")
	require.Equal(t, exitBadInput, r.code)
	require.Equal(t, "error: the input is in eu-west-1 (Node/ip-10-0-1-17: topology.kubernetes.io/region), but --catalog is ec2/us-east-1: use --catalog ec2/eu-west-1\n", r.stderr)
}

func TestWhatSaysWhere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		objects []string
		args    []string
		want    string // of the catalog, or the error
	}{
		"nothing":                         {nil, nil, "Prices: ec2/us-east-1 (assumed: the input names no region), "},
		"empty labels":                    {[]string{placed("Node", "a", `topology.kubernetes.io/region: "", topology.kubernetes.io/zone: ""`)}, nil, "Prices: ec2/us-east-1 (assumed: "},
		"a node's zone":                   {[]string{placed("Node", "a", "topology.kubernetes.io/zone: eu-central-1b")}, nil, "Prices: ec2/eu-central-1, "},
		"a node's old label":              {[]string{placed("Node", "a", "failure-domain.beta.kubernetes.io/region: sa-east-1")}, nil, "Prices: ec2/sa-east-1, "},
		"a local zone":                    {[]string{placed("Node", "a", "topology.kubernetes.io/zone: us-west-2-lax-1a")}, nil, "Prices: ec2/us-west-2, "},
		"a node's provider":               {[]string{strings.Replace(placed("Node", "a", ""), "status:", "spec: {providerID: 'aws:///eu-west-2a/i-0abc'}\nstatus:", 1)}, nil, "Prices: ec2/eu-west-2, "},
		"a node of Azure":                 {[]string{placed("Node", "a", "topology.kubernetes.io/region: eastus, topology.kubernetes.io/zone: eastus-1")}, nil, "Prices: azure/eastus, "},
		"a volume":                        {[]string{placed("PersistentVolume", "v", "topology.ebs.csi.aws.com/zone: eu-north-1a")}, nil, "Prices: ec2/eu-north-1, "},
		"a NodePool":                      {[]string{placed("NodePool", "p", "topology.kubernetes.io/zone: ap-south-1a")}, nil, "Prices: ec2/ap-south-1, "},
		"a NodePool of nowhere":           {[]string{placed("NodePool", "p", "topology.kubernetes.io/zone: my-zone-1a")}, nil, "Prices: ec2/us-east-1 (assumed: "},
		"NodePools do not contradict":     {[]string{placed("Node", "a", "topology.kubernetes.io/zone: eu-west-3a"), placed("NodePool", "p", "topology.kubernetes.io/zone: eu-west-3a"), placed("NodePool", "q", "topology.kubernetes.io/zone: us-east-1a")}, nil, "Prices: ec2/eu-west-3, "},
		"racks beside a region":           {[]string{placed("Node", "a", "topology.kubernetes.io/zone: eu-west-3a"), placed("Node", "b", "topology.kubernetes.io/zone: rack-1")}, nil, "Prices: ec2/eu-west-3, "},
		"a file of the region":            {[]string{placed("Node", "a", "topology.kubernetes.io/region: mars-1, topology.kubernetes.io/zone: mars-1c")}, []string{"--catalog", "CSV mars-1a"}, "/mars.csv, "},
		"a file of other zones":           {[]string{placed("Node", "a", "topology.kubernetes.io/zone: rack-1"), placed("Node", "b", "topology.kubernetes.io/zone: rack-2")}, []string{"--catalog", "CSV rack-1"}, "/mars.csv, "},
		"machines of KWOK":                {[]string{placed("Node", "b", "topology.kubernetes.io/zone: test-zone-a"), placed("Node", "a", "topology.kubernetes.io/zone: test-zone-b, kwok.x-k8s.io/node: fake")}, []string{"--catalog", "kwok:testdata/kwok.json"}, "Prices: kwok:testdata/kwok.json, "},
		"two regions":                     {[]string{placed("Node", "a", "topology.kubernetes.io/region: eu-west-1"), placed("PersistentVolume", "v", "topology.kubernetes.io/zone: us-east-2b")}, nil, "error: the input names several regions, eu-west-1 (Node/a: topology.kubernetes.io/region), us-east-2 (PersistentVolume/v: topology.kubernetes.io/zone): choose one with --catalog, or pass a FILE with offerings in all of them\n"},
		"two regions and one of them":     {[]string{placed("Node", "a", "topology.kubernetes.io/region: eu-west-1"), placed("Node", "b", "topology.kubernetes.io/region: us-east-2")}, []string{"--catalog", "ec2/eu-west-1"}, "error: the input is in us-east-2 (Node/b: topology.kubernetes.io/region), but --catalog is ec2/eu-west-1: use --catalog a FILE with its prices\n"},
		"NodePools of two regions":        {[]string{placed("NodePool", "p", "topology.kubernetes.io/zone: eu-west-1a"), placed("NodePool", "q", "topology.kubernetes.io/region: us-east-1")}, nil, "error: the input names several regions, eu-west-1 (NodePool/p: topology.kubernetes.io/zone), us-east-1 (NodePool/q: topology.kubernetes.io/region): "},
		"a node of GKE":                   {[]string{placed("Node", "gke-1", "topology.kubernetes.io/region: europe-west12, topology.kubernetes.io/zone: europe-west12-b")}, nil, "Prices: gcp/europe-west12, "},
		"a provider of GKE":               {[]string{strings.Replace(placed("Node", "a", ""), "status:", "spec: {providerID: 'gce://project/us-east1-b/gke-a'}\nstatus:", 1)}, nil, "Prices: gcp/us-east1, "},
		"another cloud":                   {[]string{placed("Node", "oke-1", "topology.kubernetes.io/region: europe-west0, topology.kubernetes.io/zone: europe-west0-b")}, nil, "error: the input is in europe-west0 (Node/oke-1: topology.kubernetes.io/region), for which no catalog is embedded: pass a price list of it with --catalog FILE\n"},
		"a region of Azure with no table": {[]string{placed("Node", "aks-1", "topology.kubernetes.io/region: eastus9, topology.kubernetes.io/zone: eastus9-1")}, nil, "error: the input is in eastus9 (Node/aks-1: topology.kubernetes.io/region), for which no catalog is embedded: "},
		"another cloud, another catalog":  {[]string{placed("Node", "aks-1", "topology.kubernetes.io/region: eastus")}, []string{"--catalog", "ec2/us-east-1"}, "error: the input is in eastus (Node/aks-1: topology.kubernetes.io/region), but --catalog is ec2/us-east-1: use --catalog azure/eastus\n"},
		"a file of another region":        {[]string{placed("Node", "a", "topology.kubernetes.io/zone: eu-west-1a")}, []string{"--catalog", "CSV mars-1a"}, "error: the input is in eu-west-1 (Node/a: topology.kubernetes.io/zone), but --catalog is "},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"plan", "-f", temp(t, "input.yaml", onePod+strings.Join(tt.objects, ""))}
			for _, arg := range tt.args {
				if zone, ok := strings.CutPrefix(arg, "CSV "); ok {
					arg = temp(t, "mars.csv", "name,cpu,memory,pods,zone,capacityType,price\nbig,16,64Gi,99,"+zone+",on-demand,1\n")
				}
				args = append(args, arg)
			}
			// A pool that buys anywhere, so that the pod has a place.
			args = append(args, "-f", temp(t, "any.yaml", placed("NodePool", "any", "kubernetes.io/os: linux")))
			r := run(t, args...)
			require.Contains(t, r.stdout+r.stderr, tt.want)
		})
	}
}

// An input that names no region is planned at the prices of EC2 where it is of EC2 or of no cloud;
// where it is of another one, the command asks for its catalog.
func TestCloudsWithoutRegion(t *testing.T) {
	t.Parallel()
	const azure, gcp = "choose one with --catalog azure/REGION, e.g. azure/eastus (", "choose one with --catalog gcp/REGION, e.g. gcp/us-central1 ("
	class := func(group, kind string) string {
		return "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {nodeClassRef: {group: " + group + ", kind: " + kind + ", name: default}, requirements: []}}}\n"
	}
	node := func(provider, labels string) string {
		return strings.Replace(placed("Node", "a", labels), "status:", "spec: {providerID: '"+provider+"'}\nstatus:", 1)
	}
	selecting := func(key string) string {
		return strings.Replace(strings.Replace("---\n"+onePod, "name: web", "name: picky", 1), "spec: {", "spec: {nodeSelector: {"+key+": 'true'}, ", 1)
	}
	const ec2 = "Prices: ec2/us-east-1 (assumed: the input names no region), "
	for name, tt := range map[string]struct{ objects, want string }{
		"AKSNodeClass":                {class("karpenter.azure.com", "AKSNodeClass"), "the input is of Azure (NodePool/p: karpenter.azure.com), and names no region: " + azure},
		"GCENodeClass":                {class("karpenter.k8s.gcp", "GCENodeClass"), "the input is of Google Cloud (NodePool/p: karpenter.k8s.gcp), and names no region: " + gcp},
		"EC2NodeClass":                {class("karpenter.k8s.aws", "EC2NodeClass"), ec2},
		"EKS Auto Mode":               {class("eks.amazonaws.com", "NodeClass"), ec2},
		"a class alone":               {"---\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: own}\nspec: {}\n", "the input is of Azure (AKSNodeClass/own: karpenter.azure.com)"},
		"a ComputeClass":              {"---\napiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: perf}\nspec: {priorities: [{machineFamily: n4}]}\n", "the input is of Google Cloud (ComputeClass/perf: cloud.google.com/machine-family), and names no region: " + gcp},
		"a provider":                  {node("azure:///subscriptions/x/vm/0", "a: b"), "the input is of Azure (Node/a: spec.providerID)"},
		"labels of a node":            {placed("Node", "a", "kubernetes.azure.com/agentpool: user"), "the input is of Azure (Node/a: kubernetes.azure.com/agentpool)"},
		"a cloud without catalog":     {node("digitalocean://1", "a: b"), "the input is of digitalocean (Node/a: spec.providerID), for which no catalog is embedded: pass a price list with --catalog FILE"},
		"a machine of one's own":      {node("kind://docker/a/b", "a: b"), ec2},
		"a storage class":             {"---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: pd.csi.storage.gke.io\n", "the input is of Google Cloud (StorageClass/fast: pd.csi.storage.gke.io)"},
		"pods of one cloud":           {selecting("cloud.google.com/gke-spot"), "the input is of Google Cloud (Pod/shop/picky: cloud.google.com/gke-spot)"},
		"pods that contradict":        {selecting("cloud.google.com/gke-spot") + strings.Replace(selecting("kubernetes.azure.com/mode"), "picky", "fussy", 1), ec2},
		"pods of less weight":         {class("karpenter.k8s.aws", "EC2NodeClass") + selecting("cloud.google.com/gke-spot"), ec2},
		"two clouds":                  {class("karpenter.azure.com", "AKSNodeClass") + node("aws:///x", "a: b"), "--catalog ec2/REGION, e.g. ec2/us-east-1, or --catalog azure/REGION"},
		"a region tells all the same": {class("karpenter.azure.com", "AKSNodeClass") + placed("Node", "a", "topology.kubernetes.io/region: westeurope"), "Prices: azure/westeurope, "},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, "plan", "-f", temp(t, "input.yaml", onePod+tt.objects))
			require.Contains(t, r.stdout+r.stderr, tt.want)
			require.Equal(t, strings.HasPrefix(tt.want, "Prices:"), r.code != exitBadInput, r.stderr)
		})
	}
}
