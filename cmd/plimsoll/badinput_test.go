package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bad input gives one clear error that names object, field and value, exit code 1,
// and nothing on stdout.
func TestBadInput(t *testing.T) {
	pod := func(spec string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\nspec: {containers: [{name: c, " + spec + "}]}\n"
	}
	pool := func(name, requirements string) string {
		return "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " + name + "}\nspec: {template: {spec: {requirements: [" + requirements + "]}}}\n"
	}
	good := pod("resources: {requests: {cpu: 1, memory: 1Gi}}")
	tests := map[string]struct {
		text string
		want []string
	}{
		"unknown kind": {"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\n", []string{"Widget shop/w", "kind", `"Widget"`, "--ignore-unknown"}},
		"contradictory requirements of a NodePool": {
			good + pool("torn", "{key: kubernetes.io/arch, operator: In, values: [amd64]}, {key: kubernetes.io/arch, operator: NotIn, values: [amd64]}"),
			[]string{"input.yaml: document 2, line 6: NodePool torn: ", "spec.template.spec.requirements", "kubernetes.io/arch", "amd64"},
		},
		"a requirement that is none": {
			good + pool("odd", "{key: kubernetes.io/arch, operator: Near, values: [amd64]}"),
			[]string{"input.yaml: document 2, line 6: NodePool odd: ", "requirements[0].operator", "Near"},
		},
		"a fault that all replicas share": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 50, selector: {}, template: {spec: {tolerations: [{key: k, operator: Equals}], containers: [{name: c}]}}}\n",
			[]string{"input.yaml: document 1, line 1: Deployment default/web: spec.template.spec.tolerations[0].operator: ", `"Equals"`},
		},
		"less for a pod than for its containers": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\nspec: {resources: {requests: {cpu: 1}}, containers: [{name: c, resources: {requests: {cpu: 800m}}}, {name: d, resources: {requests: {cpu: 900m}}}]}\n",
			[]string{"Pod shop/a", "spec.resources.requests.cpu: is less than the 1700m that the containers request together", `"1"`},
		},
		"bad overlay": {
			good + "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\nspec: {price: \"-3\"}\n",
			[]string{"NodeOverlay o", "spec.price", "-3"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := run(t, "plan", "-f", temp(t, "input.yaml", tt.text), "--catalog", "testdata/market.json", "-o", "json")
			require.Equal(t, exitBadInput, r.code)
			require.Equal(t, 1, strings.Count(r.stderr, "\n"), "one error: %s", r.stderr)
			for _, want := range tt.want {
				require.Contains(t, r.stderr, want)
			}
		})
	}
}

// What the API server admits and no machine holds makes that pod pending, with its reason.
func TestRequestsBeyond64Bits(t *testing.T) {
	for _, ask := range []string{"memory: 100E", "memory: 20000000000000000000Ki", "cpu: 10P", "nvidia.com/gpu: 20000000000000000000", "memory: 1e30"} {
		text := "apiVersion: v1\nkind: Pod\nmetadata: {name: vast, namespace: shop}\nspec: {containers: [{name: c, resources: {requests: {" + ask + "}}}]}\n---\n" +
			"apiVersion: v1\nkind: Pod\nmetadata: {name: small, namespace: shop}\nspec: {containers: [{name: c, resources: {requests: {memory: 1Gi}, limits: {memory: 100E}}}]}\n"
		name, _, _ := strings.Cut(ask, ":")
		r := run(t, "plan", "-f", temp(t, "input.yaml", text), "--catalog", "testdata/market.json")
		require.Equal(t, exitUnschedulable, r.code, r.stderr)
		require.Contains(t, r.stdout, "1 of 2 pods placed")
		require.Contains(t, r.stdout, "shop/vast (1 pod)")
		require.Regexp(t, "(too little|has) "+name, r.stdout)
		require.NotContains(t, r.stdout, "-9223372036854775808")
	}
}

func TestConflictingOverlays(t *testing.T) {
	overlay := func(name string) string {
		return "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: " + name + "}\nspec: {price: \"3\"}\n"
	}
	r := run(t, "plan", "-f", "testdata/shop.yaml", "-f", temp(t, "o.yaml", overlay("x")+overlay("z")), "--catalog", "testdata/market.json")
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "node overlay x: spec.price: overlay z has the same weight")
}

func TestSeveralFaultsAreToldTogether(t *testing.T) {
	r := run(t, "plan", "-f", temp(t, "a.yaml", "kind: Pod\n"), "-f", "/nowhere", "--catalog", "ec2/mars")
	require.Equal(t, exitBadInput, r.code)
	require.Equal(t, 3, strings.Count(r.stderr, "error: "), r.stderr)
}

// A pipe that brings nothing is a command that failed, and not a cluster without pods.
func TestEmptyStdin(t *testing.T) {
	for _, command := range []string{"plan", "consolidate"} {
		r := run(t, command, "-f", "-")
		require.Equal(t, exitBadInput, r.code)
		require.Equal(t, "error: stdin is empty: did the command before the pipe fail? kubectl prints nothing if the cluster lacks one of the requested kinds, such as nodepools\n", r.stderr)
	}
	r := runWith(t, strings.NewReader(`{"apiVersion": "v1", "kind": "List", "items": []}`), "plan", "-f", "-")
	require.Equal(t, exitOK, r.code, "a cluster without anything is one, too")
	require.Contains(t, r.stdout, "Nothing to place")
}

// Files without an object are an error, as an object of the wrong kind is, and directories
// without a file.
func TestFilesOfNothing(t *testing.T) {
	blank, comments := temp(t, "blank.yaml", " \n"), temp(t, "comments.yaml", "---\n# nothing\n---\n")
	r := run(t, "plan", "-f", blank, "-f", comments)
	require.Equal(t, exitBadInput, r.code)
	require.Equal(t, "error: no objects in "+blank+", "+comments+": it is empty or has only comments\n", r.stderr)
	r = runWith(t, strings.NewReader("\n"), "consolidate", "-f", "-")
	require.Equal(t, exitBadInput, r.code)
	require.Equal(t, "error: no objects in stdin: it is empty or has only comments\n", r.stderr)
	r = run(t, "plan", "-f", blank, "-f", "testdata/nopool.yaml", "--catalog", "testdata/market.json")
	require.Equal(t, exitOK, r.code, "templates that come to nothing stand beside others")
}

// Files that are passed by mistake are named for what they are.
func TestFilesThatAreNoManifests(t *testing.T) {
	denied := temp(t, "denied.yaml", `error: the server doesn't have a resource type "nodepools"`+"\n")
	forbidden := temp(t, "forbidden.yaml", "Error from server (Forbidden): nodes is forbidden: User \"x\" cannot list resource\n")
	config := temp(t, "config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	for _, tt := range []struct{ args, want string }{
		{"plan -f " + denied, `is no manifest, but an error of kubectl: error: the server doesn't have a resource type "nodepools"`},
		{"plan -f " + forbidden, `is no manifest, but an error of kubectl: Error from server (Forbidden): nodes is forbidden: User "x" cannot list resource`},
		{"consolidate -f testdata/plan.json", "is a plan that plimsoll has printed, and no manifest: plimsoll verify --plan checks it"},
		{"verify -f " + config + " --plan " + config, "is no plan, but a Kubernetes object of kind ConfigMap"},
		{"diff nowhere.json " + config, "cannot read nowhere.json: "},
	} {
		r := run(t, strings.Fields(tt.args)...)
		require.Equal(t, exitBadInput, r.code, tt.args)
		require.Contains(t, r.stderr, tt.want, tt.args)
	}
	require.Equal(t, "Nothing to consolidate: the input has no nodes (1 object read: ConfigMap; no node).\n", run(t, "consolidate", "-f", config).stdout)
}

// However many objects repeat a fault, what is told fits on a screen.
func TestManyFaultsAreCut(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%02d, uid: u}\nspec: {tolerations: [{operator: Equals}], containers: [{name: c}]}\n", i)
	}
	r := run(t, "plan", "-f", temp(t, "many.yaml", text.String()), "--catalog", "testdata/market.json")
	require.Equal(t, exitBadInput, r.code)
	require.Equal(t, mostMessages+1, strings.Count(r.stderr, "\n"))
	require.True(t, strings.HasSuffix(r.stderr, "\nerror: and 15 further faults\n"), r.stderr)
}

func TestBadCatalogs(t *testing.T) {
	types := func(price string) string {
		return `{"version": 1, "instanceTypes": [{"name": "small", "capacity": {"cpu": "2", "memory": "8Gi"},
			"offerings": [{"zone": "a", "capacityType": "spot", "price": ` + price + `}]}]}`
	}
	kwok := func(price string) string {
		return `[{"name": "small", "architecture": "amd64", "operatingSystems": ["linux"], "resources": {"cpu": "2", "memory": "8Gi"},
			"offerings": [{"Price": ` + price + `, "Available": true, "Requirements": [
				{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
				{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}]}]`
	}
	csv := func(price string) string {
		return "name,arch,cpu,memory,pods,zone,capacityType,price\nsmall,amd64,2,8Gi,20,a,spot," + price + "\n"
	}
	tests := map[string]struct {
		file, text, prefix string
		want               []string
	}{
		"negative price":         {"c.json", types("-0.5"), "", []string{"small", "price", "-0.5"}},
		"negative price in CSV":  {"c.csv", csv("-0.5"), "", []string{"price", "-0.5"}},
		"negative price in KWOK": {"k.json", kwok("-0.5"), "kwok:", []string{"small", "-0.5"}},
		"NaN":                    {"c.json", types(`"NaN"`), "", []string{"small", "price", "NaN"}},
		"NaN in CSV":             {"c.csv", csv("NaN"), "", []string{"price", "NaN"}},
		"overflowing price":      {"c.json", types("1e300"), "", []string{"small", "price", "1e300"}},
		"duplicate name":         {"c.json", `{"version": 1, "instanceTypes": [{"name": "s", "capacity": {"cpu": "2", "memory": "8Gi"}}, {"name": "s", "capacity": {"cpu": "2", "memory": "8Gi"}}]}`, "", []string{`"s"`}},
		"no types":               {"c.json", `{"version": 1, "instanceTypes": []}`, "", []string{"c.json", "is empty"}},
		"no types in CSV":        {"c.csv", "name,arch,cpu,memory,pods,zone,capacityType,price\n", "", []string{"c.csv"}},
		"broken JSON":            {"c.json", `{"version": 1,`, "", []string{"c.json"}},
		"KWOK without its word":  {"c.json", kwok("1"), "", []string{"write kwok: before its name"}},
		"junk":                   {"c.json", "nonsense", "", []string{"c.json"}},
		"junk as CSV":            {"c.csv", "a,b\n1,2\n", "", []string{"c.csv"}},
		"nothing":                {"c.json", "", "", []string{"c.json"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := run(t, "plan", "-f", "testdata/nopool.yaml", "--catalog", tt.prefix+temp(t, tt.file, tt.text))
			require.Equal(t, exitBadInput, r.code, r.stderr)
			for _, want := range tt.want {
				require.Contains(t, r.stderr, want)
			}
		})
	}
	for args, want := range map[string]string{
		"--catalog ec2/mars":            "ec2/mars",
		"--catalog azure/":              "azure/",
		"--catalog kwok:/none.json":     "kwok:/none.json: neither an embedded catalog (catalog --regions lists them) nor a readable file: no such file or directory",
		"--catalog ec3/us-east-1":       "ec3/us-east-1: neither an embedded catalog (catalog --regions lists them) nor a readable file: no such file or directory; did you mean ec2/us-east-1?",
		"--catalog eastus":              "did you mean azure/eastus?",
		"--catalog testdata":            "testdata",
		"--filter name=none":            `catalog ec2/us-east-1: none of the`,
		"--capacity-types reserved":     `instance types meets --capacity-types reserved`,
		"--filter arch=arm64,cpu>=9000": `instance types meets --filter "arch=arm64,cpu>=9000"`,
	} {
		t.Run(args, func(t *testing.T) {
			r := run(t, append([]string{"plan", "-f", "testdata/nopool.yaml"}, strings.Fields(args)...)...)
			require.Equal(t, exitBadInput, r.code)
			require.Contains(t, r.stderr, want)
		})
	}
}

func TestBadPlans(t *testing.T) {
	verify := func(t *testing.T, text string) result {
		t.Helper()
		r := run(t, "verify", "-f", "testdata/shop.yaml", "--catalog", "testdata/market.json", "--plan", temp(t, "plan.json", text))
		require.Equal(t, exitBadInput, r.code)
		return r
	}
	made := run(t, "plan", "-f", "testdata/shop.yaml", "--catalog", "testdata/market.json", "-o", "json").stdout
	r := verify(t, strings.Replace(made, `"shop/web-0"`, `"shop/web-1"`, 1))
	require.Contains(t, r.stderr, "shop/web-0")
	require.Contains(t, r.stderr, "shop/web-1")
	require.Contains(t, r.stderr, "error: the plan breaks a rule: ")
	require.Contains(t, verify(t, "{}").stderr, "the plan breaks a rule")
	require.Contains(t, verify(t, `{"lunches":[]}`).stderr, "lunches: is not known (did you mean launches?)")
	require.Contains(t, verify(t, `{"launches":5}`).stderr, "is no plan")
	require.Contains(t, verify(t, `{}{}`).stderr, "there is more text after the end of the document")
	require.Contains(t, verify(t, "a: [\n").stderr, "neither JSON nor YAML")
	r = run(t, "verify", "-f", "testdata/shop.yaml", "--plan", "/nowhere.json")
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "/nowhere.json")
}
