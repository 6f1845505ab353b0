package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
)

// explainShop and explainTied ask questions about the plans of two files.
func explainShop(args ...string) []string {
	return append([]string{"explain", "-f", "testdata/shop.yaml", "--catalog", "testdata/market.json"}, args...)
}

func explainTied(args ...string) []string {
	return append([]string{"explain", "-f", "testdata/tied.yaml", "--catalog", "testdata/market.json"}, args...)
}

func TestExplainGolden(t *testing.T) {
	tests := []struct {
		file string
		args []string
	}{
		{"explain_launch.text", explainShop("node/general-1")},
		{"explain_pod.text", explainShop("pod/shop/web-0", "pod/log-0", "pod/shop/huge-0")},
		{"explain_node.text", explainShop("node/ip-10-0-0-1")},
		{"explain_tied.text", explainTied("pod/web-0", "pod/web-2", "pod/api-0", "pod/cache", "node/old", "launch/general-2")},
		{"explain_launch.json", explainShop("node/general-1", "-o", "json")},
		{"explain_pod.json", explainTied("pod/web-2", "-o", "json")},
		{"explain_node.yaml", explainTied("node/old", "-o", "yaml")},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			r := run(t, tt.args...)
			require.Equal(t, exitOK, r.code, r.stderr)
			golden(t, tt.file, r.stdout)
		})
	}
}

// P48: what a program reads names the same causes as what people read.
func TestExplainJSON(t *testing.T) {
	var launch explanation.LaunchExplanation
	decode(t, run(t, explainShop("node/general-1", "-o", "json")...).stdout, &launch)
	require.Equal(t, "small", launch.Option.InstanceType)
	require.Equal(t, []string{"large"}, types(launch.RunnersUp))
	require.Len(t, launch.Pods, 4)
	require.InDelta(t, 0.25, launch.Pods[0].Share, 1e-9)

	var pod explanation.PodExplanation
	decode(t, run(t, explainTied("pod/web-2", "-o", "json")...).stdout, &pod)
	require.Equal(t, explanation.PodUnschedulable, pod.Status)
	require.Equal(t, scheduling.ChangePodAntiAffinity, pod.Changes[0].Kind)
	require.Equal(t, "topology.kubernetes.io/zone", pod.Changes[0].Key)
	require.Equal(t, []explanation.DomainCount{{Value: "a", Pods: 1}, {Value: "b", Pods: 1}}, pod.TopologyTerms[0].Domains)

	var several []json.RawMessage
	decode(t, run(t, explainTied("pod/web-2", "node/old", "-o", "json")...).stdout, &several)
	require.Len(t, several, 2, "several answers are a list")

	var node explanation.NodeExplanation
	r := run(t, explainTied("node/old", "-o", "yaml")...)
	require.NoError(t, yaml.UnmarshalStrict([]byte(r.stdout), &node))
	require.Len(t, node.Running, 1)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(into))
}

func types(options []scheduling.LaunchOption) []string {
	var out []string
	for i := range options {
		out = append(out, options[i].InstanceType)
	}
	return out
}

func TestExplainUnknownNames(t *testing.T) {
	tests := map[string][]string{
		`there is no pod "shop/web-9"; did you mean shop/web-0`:                        explainShop("pod/shop/web-9"),
		`there is no pod "hgue-1"; did you mean shop/huge-1`:                           explainShop("pod/hgue-1"),
		`there is no node "genral-1"; did you mean general-1, general-2?`:              explainShop("node/genral-1"),
		`there is no node "ip-10-0-0-2"; did you mean ip-10-0-0-1?`:                    explainShop("node/ip-10-0-0-2"),
		`there is no launch "ip-10-0-0-1"` + "\n":                                      explainShop("launch/ip-10-0-0-1"),
		`there is no pod "nothing-like-it"` + "\n":                                     explainShop("pod/nothing-like-it"),
		`there is no pod "a"` + "\n" + `error: there is no node "b"` + "\n":            explainShop("pod/a", "node/b"),
		`is not the only one of that name: say which of more/web-0, shop/web-0` + "\n": {"explain", "pod/web-0", "-f", "testdata/shop.yaml", "-f", "MORE", "--catalog", "testdata/market.json"},
	}
	more := temp(t, "more.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: more}\nspec: {containers: [{name: c}]}\n")
	for want, args := range tests {
		t.Run(want, func(t *testing.T) {
			for i := range args {
				args[i] = strings.Replace(args[i], "MORE", more, 1)
			}
			r := run(t, args...)
			require.Equal(t, exitBadInput, r.code)
			require.Contains(t, r.stderr, want)
		})
	}
}

func TestExplainUsage(t *testing.T) {
	for args, want := range map[string]string{
		"explain -f x":                            "nothing to explain: want pod/NAMESPACE/NAME",
		"explain web-0 -f x":                      `"web-0" has no kind: write deployment/web-0, pod/web-0 or node/web-0`,
		"explain pod -f x":                        `"pod" names no pod`,
		"explain pod/ -f x":                       `"pod/" names no pod`,
		"explain pod/a/b/c -f x":                  `"pod/a/b/c" names no pod`,
		"explain node/a/b -f x":                   `"node/a/b" names no node`,
		"explain service/a/web -f x":              `"service/a/web" names no pod`,
		"explain deploy/ -f x":                    `"deploy/" names no Deployment`,
		"explain pod/a":                           "nothing to read",
		"explain pod/a -f x -o table":             `--output "table": want one of text, json or yaml`,
		"explain pod/a -f - --plan -":             "stdin cannot hold both",
		"explain pod/a -f x --effort much":        "--effort",
		"explain pod/a -f x --capacity-types Gas": `--capacity-types "Gas": `,
	} {
		t.Run(args, func(t *testing.T) {
			r := run(t, strings.Fields(args)...)
			require.Equal(t, exitUsage, r.code, r.stderr)
			require.Contains(t, r.stderr, want)
		})
	}
}

// Of several names the known ones are explained, though one is not known.
func TestExplainKnownNamesBesideUnknownOnes(t *testing.T) {
	known := run(t, explainShop("pod/shop/web-0")...)
	require.Equal(t, exitOK, known.code)
	require.Equal(t, known.stdout, run(t, explainShop("shop/web-0")...).stdout, "as plans write the pod")
	for _, args := range [][]string{{"pod/shop/web-0", "pod/nobody"}, {"pod/nobody", "pod/shop/web-0"}} {
		r := run(t, explainShop(args...)...)
		require.Equal(t, exitBadInput, r.code)
		require.Equal(t, known.stdout, r.stdout)
		require.Equal(t, "error: there is no pod \"nobody\"\n", r.stderr)
	}
}

// The pods of a workload are explained by groups that fare alike, whatever kubectl calls
// its kind.
func TestExplainWorkloads(t *testing.T) {
	input := temp(t, "input.yaml", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, resources: {requests: {cpu: 500m, memory: 1Gi}}}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}
`)
	ask := func(args ...string) result {
		return run(t, append([]string{"explain", "-f", input, "--catalog", "testdata/market.json"}, args...)...)
	}
	r := ask("deploy/web")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "Deployment shop/web has 3 pods.\n")
	require.Contains(t, r.stdout, "Pod shop/web-2 is pending: it fits on no node.\n")
	for _, name := range []string{"deployment/web", "deployments/shop/web"} {
		require.Equal(t, r.stdout, ask(name).stdout)
	}
	r = ask("sts/db", "-o", "json")
	var answer struct {
		Workload string
		Groups   []struct {
			Pods    []string
			Example explanation.PodExplanation
			Nodes   []struct {
				Launch string
				Pods   int
			}
		}
	}
	decode(t, r.stdout, &answer)
	require.Equal(t, "StatefulSet/shop/db", answer.Workload)
	require.Equal(t, []string{"shop/db-0", "shop/db-1"}, answer.Groups[0].Pods)
	require.Equal(t, "shop/db-0", answer.Groups[0].Example.Pod)
	require.Len(t, answer.Groups[0].Nodes, 1)
	require.Equal(t, 2, answer.Groups[0].Nodes[0].Pods)

	r = ask("deploy/wep")
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, `there is no deployment "wep"; did you mean shop/web?`)
}

// Pods of a workload that run are on several nodes: the answer names them all, with the number of pods on each.
func TestExplainWorkloadsThatRun(t *testing.T) {
	const pod = `---
apiVersion: v1
kind: Pod
metadata: {name: web-%d, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: u, controller: true}]}
spec: {nodeName: n%d, containers: [{name: c, resources: {requests: {cpu: 100m, memory: 64Mi}}}]}
`
	var input strings.Builder
	for node := range 3 {
		fmt.Fprintf(&input, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%d}\nstatus: {allocatable: {cpu: 1930m, memory: 7Gi, pods: \"29\"}}\n", node)
	}
	for i, node := range []int{0, 1, 2, 0, 0, 1} {
		fmt.Fprintf(&input, pod, i, node)
	}
	r := run(t, "explain", "sts/web", "-f", temp(t, "input.yaml", input.String()), "--catalog", "testdata/market.json")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "\n6 pods run on 3 nodes: n0 ×3, n1 ×2, n2. One of them:\nPod shop/web-0 runs on node n0.\n")
}

// What pods ask for that run is told also where nobody waits.
func TestExplainNodesWhereNobodyWaits(t *testing.T) {
	input := temp(t, "input.yaml", `
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 1930m, memory: 7Gi, pods: "29"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1500m, memory: 5Gi}}}]}
`)
	r := run(t, "explain", "node/n1", "pod/web", "-f", input, "--catalog", "testdata/market.json")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "\n  cpu     1.93         1.5 (78%)")
	require.Contains(t, r.stdout, "\n  shop/web  cpu 1500m, memory 5Gi  78% of cpu\n")
	require.Contains(t, r.stdout, "\nIt requests cpu 1500m, memory 5Gi.\n")
	require.NotContains(t, r.stdout, "nothing but a pod slot")
}

// A plan that was made before is explained as it stands.
func TestExplainPlanFromFile(t *testing.T) {
	made := run(t, explainShop("node/general-2", "pod/huge-1")...)
	read := run(t, explainShop("node/general-2", "pod/huge-1", "--plan", "testdata/plan.json")...)
	require.Equal(t, made.stdout, read.stdout)
	require.NotEmpty(t, read.stdout)

	bad := run(t, explainShop("pod/huge-1", "--plan", "testdata/shop.yaml")...)
	require.Equal(t, exitBadInput, bad.code)
	none := run(t, explainShop("pod/huge-1", "--plan", "testdata/none.json")...)
	require.Contains(t, none.stderr, "cannot read testdata/none.json: ")
}

func TestExplainInANamespace(t *testing.T) {
	want := run(t, explainShop("pod/shop/web-0")...)
	require.Equal(t, want, run(t, explainShop("pod/web-0", "-n", "shop")...))
	require.Equal(t, want, run(t, explainShop("pod/shop/web-0", "--namespace", "other")...), "a namespace in the name counts")
	r := run(t, explainShop("pod/web-0", "-n", "other")...)
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "other/web-0")
	require.Equal(t, exitOK, run(t, explainShop("node/general-1", "-n", "shop")...).code, "nodes are in no namespace")
}
