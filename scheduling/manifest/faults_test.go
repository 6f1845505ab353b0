package manifest_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// deployment returns a Deployment with one field of its container set to a value.
func deployment(spec, container string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  ` + spec + `
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        ` + container + `
`
}

func TestBadInput(t *testing.T) {
	tests := map[string]struct {
		text string
		want string // the whole error
	}{
		"syntax": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a\n",
			"test.yaml: document 1, line 3: is not valid YAML: did not find expected ',' or '}'",
		},
		"syntax in the second document": {
			pod("a") + "---\napiVersion: v1\nkind: Pod\n  metadata: {}\n",
			"test.yaml: document 2, line 8: is not valid YAML: mapping values are not allowed in this context",
		},
		"tab": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n",
			"test.yaml: document 1, line 4: is not valid YAML: found character that cannot start any token (YAML is indented by spaces, never by tabs, and text that begins with @ or ` wants quotes)",
		},
		"duplicate key": {
			"apiVersion: v1\nkind: Pod\nkind: Node\nmetadata: {name: a}\n",
			`test.yaml: document 1, line 3: is not valid YAML: mapping key "kind" already defined`,
		},
		"duplicate key in JSON": {
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","name":"b"},"spec":{"containers":[{"name":"c"}]}}`,
			`test.yaml: document 1: Pod default/b: metadata.name: is given twice`,
		},
		"a name in other letters": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: café, namespace: shop}\nspec: {containers: [{name: c}]}\n",
			`test.yaml: document 1, line 1: Pod shop/café: metadata.name: "café" is no name: names are of lower-case letters, digits, - and ., and at most 253 long`,
		},
		"a namespace in capitals": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: Shop}\nspec: {containers: [{name: c}]}\n",
			`test.yaml: document 1, line 1: Pod Shop/a: metadata.namespace: "Shop" is no name: names are of lower-case letters, digits, - and ., and at most 253 long`,
		},
		"not a number": {
			deployment("replicas: .nan", ""),
			"test.yaml: document 1, line 1: is not valid YAML: a number that is not finite (.nan or .inf)",
		},
		"broken JSON": {
			`{"apiVersion":"v1",}`,
			"test.yaml: document 1: is not valid JSON: invalid character '}' looking for beginning of object key string (near byte 19)",
		},
		"JSON that ends early": {
			`{"apiVersion":"v1","kind":"Pod"`,
			"test.yaml: document 1: is not valid JSON: it ends in the middle of a value (near byte 31)",
		},
		"stray bracket": {
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}}`,
			"test.yaml: document 1: is not valid JSON: invalid character '}' looking for beginning of value (near byte 59)",
		},
		"text": {
			"Dear sir or madam,\nI write to you because\n",
			`test.yaml: document 1, line 1: is not a Kubernetes object: begins with "Dear sir or madam,"`,
		},
		"a template": {
			"{{- if .Values.enabled }}\napiVersion: v1\n",
			"test.yaml: is not a manifest (it looks like a template: render it first, for example with helm template)",
		},
		"a template further down": {
			"apiVersion: v1\nkind: {{ .Values.kind }}\n",
			"test.yaml: document 1, line 1: is not valid YAML: invalid map key: map[string]interface {}{\".Values.kind\":interface {}(nil)} (it looks like a template: render it first, for example with helm template)",
		},
		"a list at the top":     {"- apiVersion: v1\n", `test.yaml: document 1, line 1: is not a Kubernetes object: begins with "- apiVersion: v1"`},
		"UTF-16":                {"\xff\xfea\x00", "test.yaml: is encoded in UTF-16; save it as UTF-8"},
		"gzip":                  {"\x1f\x8b\x08\x00", "test.yaml: is compressed with gzip; unpack it first"},
		"kubectl get":           {"NAMESPACE   NAME    READY\nshop        web-1   1/1\n", `test.yaml: document 1, line 1: is not a Kubernetes object: begins with "NAMESPACE   NAME    READY" (it looks like a listing: have kubectl print objects, with -o json or -o yaml)`},
		"kubectl get -o name":   {"pod/web-1\npod/web-2\n", `test.yaml: document 1, line 1: is not a Kubernetes object: begins with "pod/web-1" (it looks like a listing: have kubectl print objects, with -o json or -o yaml)`},
		"binary":                {"\x7fELF\x02\x01\x01\x00", "test.yaml: is not text: control character 0x02 at offset 4"},
		"not UTF-8":             {"apiVersion: v1 # caf\xe9 \n", "test.yaml: is not text: byte 0xe9 at offset 20 is not UTF-8"},
		"no kind":               {"replicaCount: 3\n", "test.yaml: document 1, line 1: is not a Kubernetes object: it has no apiVersion and kind"},
		"no apiVersion":         {"kind: Pod\nmetadata: {name: a}\n", "test.yaml: document 1, line 1: Pod a: apiVersion: is missing"},
		"kind is no text":       {"apiVersion: v1\nkind: [Pod]\n", "test.yaml: document 1, line 1: is not a Kubernetes object: apiVersion and kind must be text"},
		"items are no list":     {"apiVersion: v1\nkind: List\nitems: {}\n", "test.yaml: document 1, line 1: List: items: must be a list of objects"},
		"JSON items no list":    {`{"items":{},"kind":"List"}`, "test.yaml: document 1: is not valid JSON: items is not a list (near byte 10)"},
		"items without list":    {`{"items":[],"kind":"Pod","apiVersion":"v1"}`, "test.yaml: document 1: has items, but its kind is not List"},
		"item is no object":     {`{"kind":"List","apiVersion":"v1","items":[1]}`, "test.yaml: document 1, items[0]: is not a Kubernetes object: it has no apiVersion and kind"},
		"array of texts":        {`["a"]`, "test.yaml: document 1, items[0]: is not a Kubernetes object: it has no apiVersion and kind"},
		"unknown kind":          {"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web, namespace: shop}\n", `test.yaml: document 1, line 1: Rollout shop/web: kind: "Rollout" of argoproj.io/v1alpha1 stands for pods that its operator creates and that the plan would miss: pass the created objects; to plan without it, use --ignore-unknown (Loader.IgnoreUnknown)`},
		"misspelt kind":         {"apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: web}\n", `test.yaml: document 1, line 1: Deploymnet web: kind: "Deploymnet" of apps/v1 is not known (did you mean kind Deployment of apps/v1?)`},
		"wrong group":           {"apiVersion: v1\nkind: Deployment\nmetadata: {name: web}\n", `test.yaml: document 1, line 1: Deployment web: kind: "Deployment" of v1 is not known (did you mean kind Deployment of apps/v1?)`},
		"old version":           {"apiVersion: apps/v2\nkind: Deployment\nmetadata: {name: web}\n", `test.yaml: document 1, line 1: Deployment web: apiVersion: "apps/v2" is not known for Deployment; known is apps/v1 or apps/v1beta2 or apps/v1beta1`},
		"no name":               {"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a}]}\n", "test.yaml: document 1, line 1: Pod: metadata.name: is missing"},
		"duplicate":             {pod("a") + "---\n" + pod("a"), `test.yaml: document 2, line 6: Pod shop/a: metadata.name: "a" is a duplicate of the one in test.yaml: document 1, line 1`},
		"negative request":      {deployment("", "resources: {requests: {cpu: -500m}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.requests.cpu: "-500m" is negative`},
		"negative limit":        {deployment("", "resources: {limits: {memory: -1}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.limits.memory: -1 is negative`},
		"no quantity":           {deployment("", "resources: {requests: {cpu: NaN}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.requests.cpu: "NaN" is not a quantity such as "500m" or "2Gi"`},
		"part of a device":      {deployment("", "resources: {requests: {nvidia.com/gpu: 0.5}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.requests[nvidia.com/gpu]: 0.5 is not a whole number`},
		"request above limit":   {deployment("", "resources: {requests: {cpu: 2}, limits: {cpu: 1}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.requests.cpu: is more than the limit of 1: "2"`},
		"misspelt resource":     {deployment("", "resources: {requests: {cpu: 1, mem: 1Gi}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.requests: "mem" is no resource of Kubernetes (did you mean memory?)`},
		"resource in capitals":  {deployment("", "resources: {limits: {CPU: 1}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.limits: "CPU" is no resource of Kubernetes (did you mean cpu?)`},
		"device without domain": {deployment("", "resources: {limits: {fpga: 1}}"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].resources.limits: "fpga" is no resource of Kubernetes; those of device plugins have a domain in their name, as nvidia.com/gpu does`},
		"kind in small letters": {"apiVersion: karpenter.sh/v1\nkind: nodepool\nmetadata: {name: a}\n", `test.yaml: document 1, line 1: nodepool a: kind: "nodepool" of karpenter.sh/v1 is not known (did you mean kind NodePool of karpenter.sh/v1?)`},
		"negative replicas":     {deployment("replicas: -1", ""), `test.yaml: document 1, line 1: Deployment shop/web: spec.replicas: -1 is negative`},
		"overflowing count":     {deployment("replicas: 99999999999", ""), `test.yaml: document 1, line 1: Deployment shop/web: spec.replicas: 99999999999 is not a whole number of 32 bits`},
		"too many pods":         {deployment("replicas: 2147483647", ""), `test.yaml: document 1, line 1: Deployment shop/web: spec.replicas: 2147483647 more pods would make more than 500000 in all`},
		"wrong type":            {deployment("replicas: three", ""), `test.yaml: document 1, line 1: Deployment shop/web: spec.replicas: "three" is not a whole number of 32 bits`},
		"unquoted label":        {"apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {live: true}}\nspec: {containers: [{name: c}]}\n", `test.yaml: document 1, line 1: Pod a: metadata.labels.live: true is not text: put it into quotes (YAML takes y, n, yes, no, on and off for true or false)`},
		"contradiction":         {deployment("selector: {matchLabels: {app: db}}", ""), `test.yaml: document 1, line 1: Deployment shop/web: spec.selector: {"matchLabels":{"app":"db"}} contradicts the labels in spec.template.metadata.labels`},
		"host port":             {deployment("", "ports: [{containerPort: 80, hostPort: 80000}]"), `test.yaml: document 1, line 1: Deployment shop/web: spec.template.spec.containers[0].ports[0].hostPort: must lie between 0 and 65535: "80000"`},
		"no containers":         {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", `test.yaml: document 1, line 1: Pod default/a: spec.containers: is missing or empty`},
		"node's capacity":       {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: -1}}\n", `test.yaml: document 1, line 1: Node a: status.allocatable.cpu: -1 is negative`},
		"bad operator": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c}]\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Near}]}]}}}\n",
			`test.yaml: document 1, line 1: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: label "a": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Near"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := manifest.Loader{}.Read("test.yaml", strings.NewReader(tt.text))
			require.Nil(t, s)
			require.EqualError(t, err, tt.want)
			var faults manifest.Faults
			require.ErrorAs(t, err, &faults)
			var fault *manifest.Fault
			require.ErrorAs(t, err, &fault)
		})
	}
}

func TestFaultsComeAllAtOnce(t *testing.T) {
	text := deployment("replicas: -1", "resources: {requests: {cpu: -1, memory: -2}}") + "---\nkind: [\n---\n" + pod("a") + "---\n" + pod("a")
	_, err := manifest.Loader{}.Read("test.yaml", strings.NewReader(text))
	var faults manifest.Faults
	require.ErrorAs(t, err, &faults)
	var fields []string
	for _, f := range faults {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{
		"spec.replicas",
		"spec.template.spec.containers[0].resources.requests.cpu",
		"spec.template.spec.containers[0].resources.requests.memory",
		"",
		"metadata.name",
	}, fields)
}

func TestFaultsAreBounded(t *testing.T) {
	for name, text := range map[string]string{
		"YAML": strings.Repeat("kind: Pod\n---\n", 1000),
		"JSON": "[" + strings.Repeat("{},", 1000) + "{}]",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.Loader{}.Read("test.yaml", strings.NewReader(text))
			var faults manifest.Faults
			require.ErrorAs(t, err, &faults)
			require.Len(t, faults, 21)
			require.EqualError(t, faults[20], "test.yaml: reading stopped after 20 faults")
		})
	}
}

// endless repeats a text up to a length.
func endless(text string, length int64) io.Reader {
	return io.LimitReader(&repeater{text: []byte(text)}, length)
}

type repeater struct {
	text []byte
	at   int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], r.text[r.at:])
		n, r.at = n+m, (r.at+m)%len(r.text)
	}
	return n, nil
}

func TestJunkIsRefusedEarly(t *testing.T) {
	const size = 30 << 20
	tests := map[string]string{
		"words":             "lorem ipsum dolor sit amet\n",
		"one line":          "abcdefghij",
		"zeros":             "\x00",
		"noise":             "\x8f\x01\xfe\x33",
		"log":               "2026-11-21T12:00:00 INFO a: b\n",
		"keys":              "a: b\n",
		"one endless key":   "key: value, and so on",
		"dashes":            "- - - ",
		"brackets":          "[",
		"braces":            `{"a":`,
		"a long text":       `{"apiVersion":"aaaaaaaaaaaaaaaaaaaaaaaaaa`,
		"numbers":           "[1,2,3,",
		"empty objects":     "{}",
		"nested sequences":  "a:\n- - - - - - - - b\n",
		"comments":          "# nothing\n",
		"blank lines":       "\n",
		"document markers":  "---\n",
		"items without end": "items:\n- a\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := manifest.Loader{}.Read("junk", endless(text, size))
			runtime.ReadMemStats(&after)
			if harmless := map[string]bool{"comments": true, "blank lines": true, "document markers": true}; harmless[name] {
				require.NoError(t, err, "there is nothing in it, so nothing is wrong with it")
			} else {
				require.ErrorContains(t, err, "junk")
				require.Less(t, strings.Count(err.Error(), "\n"), 21)
			}
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(300<<20))
		})
	}
}

func TestSizeIsBounded(t *testing.T) {
	l := manifest.Loader{MaxBytes: 1000}
	for name, text := range map[string]string{
		"YAML": pod("a") + "---\n# " + strings.Repeat("x", 2000) + "\n",
		"JSON": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"` + strings.Repeat("x", 2000) + `"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := l.Read("large", strings.NewReader(text))
			require.ErrorContains(t, err, "the input is too large: more than 1000 bytes")
		})
	}
}

// One object may not be larger than any API server would take it.
func TestObjectsAreBounded(t *testing.T) {
	const size = 100 << 20
	member := `"k":"` + strings.Repeat("x", 1<<20) + `",`
	for name, r := range map[string]io.Reader{
		"YAML":            io.MultiReader(strings.NewReader("apiVersion: v1\nkind: Secret\ndata:\n"), endless("  k: v\n", size)),
		"YAML at margin":  endless("a: b\n", size),
		"YAML item":       io.MultiReader(strings.NewReader("kind: List\nitems:\n- a: b\n"), endless("  k: v\n", size)),
		"YAML line":       io.MultiReader(strings.NewReader("a: "), endless("x", size)),
		"JSON text":       io.MultiReader(strings.NewReader(`{"a":"`), endless("x", size)),
		"JSON key":        io.MultiReader(strings.NewReader(`{"`), endless("x", size)),
		"JSON numbers":    io.MultiReader(strings.NewReader(`{"a":[1`), endless(",1", size)),
		"JSON members":    io.MultiReader(strings.NewReader(`{`), endless(member, size)),
		"JSON item":       io.MultiReader(strings.NewReader(`{"items":[{"a":"`), endless("x", size)),
		"JSON after more": io.MultiReader(strings.NewReader(`{"apiVersion":"v1","kind":"Secret"}{"a":"`), endless("x", size)),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := manifest.Loader{}.Read("large", r)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "an object is larger than 4 MiB")
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
		})
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("the wire was cut")
	_, err := manifest.Loader{}.Read("net", io.MultiReader(strings.NewReader(pod("a")), &failing{broken}))
	require.ErrorContains(t, err, "net: document 1, line 4: the wire was cut")
	_, err = manifest.Loader{}.Read("net", &failing{broken})
	require.ErrorContains(t, err, "net: the wire was cut")
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestFilesAndDirectories(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	single := write("single.txt", pod("z"))
	write("d/b.yml", pod("b"))
	write("d/a.yaml", pod("a"))
	write("d/c.json", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c","namespace":"shop"},"spec":{"containers":[{"name":"main"}]}}`)
	write("d/README.md", "# not a manifest")
	write("d/.hidden.yaml", "not: read")
	write("d/sub/d.yaml", pod("d"))
	write("d/.git/e.yaml", "not: read")
	write("d/kustomization.yaml", "resources: [a.yaml]\n")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))

	load := func(l manifest.Loader, paths ...string) *manifest.Snapshot {
		s, err := l.Load(paths...)
		require.NoError(t, err)
		return s
	}
	d := filepath.Join(dir, "d")
	s := load(manifest.Loader{}, single, d)
	require.Equal(t, []string{"shop/a", "shop/b", "shop/c", "shop/z"}, pods(s))
	require.Len(t, s.Warnings, 1)
	require.Contains(t, s.Warnings[0].Message, "kubectl kustomize")
	s = load(manifest.Loader{Recursive: true}, d)
	require.Equal(t, []string{"shop/a", "shop/b", "shop/c", "shop/d"}, pods(s))
	s = load(manifest.Loader{Stdin: strings.NewReader(pod("s"))}, single, "-")
	require.Equal(t, []string{"shop/s", "shop/z"}, pods(s))

	for name, tt := range map[string]struct {
		paths []string
		want  string
	}{
		"missing":     {[]string{filepath.Join(dir, "none.yaml")}, "cannot read " + filepath.Join(dir, "none.yaml") + ": no such file or directory"},
		"empty":       {[]string{filepath.Join(dir, "empty")}, "directory " + filepath.Join(dir, "empty") + " holds no .yaml, .yml or .json file (directories below it are read only on request)"},
		"stdin twice": {[]string{"-", "-"}, "stdin is not available\nstdin is named twice"},
		"file twice":  {[]string{single, single}, single + ": document 1, line 1: Pod shop/z: metadata.name: \"z\" is a duplicate of the one in " + single + ": document 1, line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.Loader{}.Load(tt.paths...)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestFaultsOfFilesAndObjectsComeTogether(t *testing.T) {
	_, err := manifest.Loader{Stdin: bytes.NewBufferString("kind: Pod\n")}.Load("/nowhere.yaml", "-")
	require.EqualError(t, err, "cannot read /nowhere.yaml: no such file or directory\nstdin: document 1, line 1: Pod: apiVersion: is missing")
	require.ErrorIs(t, err, os.ErrNotExist)
}
