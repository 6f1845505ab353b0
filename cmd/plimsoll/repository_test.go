package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository writes the files of one, by their names in it.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// deployed is a Deployment of one pod.
func deployed(name, spec string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec: {" + spec +
		"template: {spec: {containers: [{name: main, resources: {requests: {cpu: 100m}}}]}}}\n"
}

func TestSkipInvalid(t *testing.T) {
	dir := repository(t, map[string]string{
		"apps/db.yaml":                         deployed("db", "") + "---\n- op: replace\n---\n" + deployed("cache", ""),
		"apps/dashboard.json":                  `{"panels": [{"title": "CPU"}]}`,
		"apps/web.yaml":                        deployed("web", ""),
		"apps/broken.yaml":                     deployed("fine", "") + "---\nkind: [\n",
		"charts/web/Chart.yaml":                "apiVersion: v2\nname: web\n",
		"charts/web/values.yaml":               "replicas: 3\nkind: DaemonSet\n",
		"charts/web/templates/deployment.yaml": "{{- if .Values.on }}\n" + deployed("chart", "") + "{{- end }}\n",
		"charts/web/templates/name.yaml":       deployed(`"{{ .Release.Name }}-web"`, ""),
		"charts/web/templates/count.yaml":      deployed("count", "replicas: {{ .Values.replicas }}, "),
		"kustomize/kustomization.yaml": "resources: [base.yaml]\npatches: [{path: replicas.yaml}]\n" +
			"patchesStrategicMerge: [image.yaml]\nconfigMapGenerator: [{name: c, files: [conf.yaml=settings.yaml]}]\n",
		"kustomize/base.yaml":     deployed("base", ""),
		"kustomize/image.yaml":    deployed("base", "replicas: 40, "),
		"kustomize/replicas.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: base}\nspec: {replicas: 50}\n",
		"kustomize/settings.yaml": deployed("settings", ""),
		"more/kafka.yaml":         "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: k}\n---\napiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: l}\n",
		"more/negative.yaml":      deployed("negative", "replicas: -1, "),
		"more/notes.yaml":         "apiVersion: release-notes/v2\nkind: bug-fix\narea: docs\n",
		"more/toleration.yaml":    strings.Replace(deployed("tolerant", ""), "{containers:", "{tolerations: [{key: k, operator: Equals}], containers:", 1),
		"more/twice.yaml":         deployed("web", "replicas: 9, "),
		"more/zones.yaml":         "apiVersion: v1\nkind: Namespace\nmetadata: {name: \"${namespace}\"}\n",
		"more/zip.json":           "\x1f\x8b\x08\x00",
	})
	catalog, err := filepath.Abs("testdata/market.json")
	require.NoError(t, err)
	t.Chdir(dir)
	args := []string{"plan", "-R", "-f", ".", "--catalog", catalog, "-o", "json"}
	require.Equal(t, exitBadInput, run(t, args...).code, "only on request")

	r := run(t, append(args, "--skip-invalid")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	var placed []string
	for _, launch := range decodePlan(t, r.stdout).Launches {
		placed = append(placed, launch.Pods...)
	}
	require.ElementsMatch(t, []string{"default/base-0", "default/cache-0", "default/db-0", "default/fine-0", "default/web-0"}, placed)
	require.Equal(t, `left out by --skip-invalid:
  4 files of kustomize; pass the output of kubectl kustomize:
    kustomize/image.yaml
    kustomize/kustomization.yaml
    kustomize/replicas.yaml
    kustomize/settings.yaml
  4 files with unrendered templates; pass the output of helm template:
    charts/web/templates/count.yaml
    charts/web/templates/deployment.yaml
    charts/web/templates/name.yaml
    more/zones.yaml
  5 files with content other than objects:
    apps/dashboard.json
    apps/db.yaml
    charts/web/Chart.yaml
    charts/web/values.yaml
    more/notes.yaml
  1 file not in UTF-8:
    more/zip.json
  1 document in neither YAML nor JSON:
    apps/broken.yaml: document 2, line 6: is not valid YAML: did not find expected node content
  1 unknown kind that may create pods:
    Kafka of kafka.strimzi.io/v1beta2 (2 times)
  1 duplicate of objects read before, by file name:
    more/twice.yaml: document 1, line 1: Deployment default/web is a duplicate of the one in apps/web.yaml: document 1, line 1
  2 objects with faults:
    more/negative.yaml: document 1, line 1: Deployment default/negative: spec.replicas: -1 is negative
    more/toleration.yaml: document 1, line 1: Deployment default/tolerant: spec.template.spec.tolerations[0].operator: must be one of Equal, Exists, Lt, Gt: "Equals"
`, r.stderr)
}

// Paths that cannot be read are errors of the call, whatever may be left out of the files.
func TestSkipInvalidIsNotForPaths(t *testing.T) {
	for _, path := range []string{"/nowhere", t.TempDir()} {
		r := run(t, "plan", "-R", "--skip-invalid", "-f", path)
		require.Equal(t, exitBadInput, r.code)
		require.Contains(t, r.stderr, path)
	}
}

// The table comes first, and long lists are cut.
func TestSkipInvalidIsShort(t *testing.T) {
	files := map[string]string{"app.yaml": deployed("web", "")}
	for _, name := range strings.Split("abcdefghi", "") {
		files[name+"/values.yaml"] = "a: b\n"
	}
	r := run(t, "plan", "-R", "--skip-invalid", "-f", repository(t, files), "--catalog", "testdata/market.json")
	require.Equal(t, exitOK, r.code)
	require.NotContains(t, r.stdout, "left out")
	require.Contains(t, r.stderr, "  9 files with content other than objects:\n")
	require.Contains(t, r.stderr, "    and 4 more\n")
}

func TestMisplacedFieldsOfNodePools(t *testing.T) {
	for text, want := range map[string]string{
		"spec: {requirements: [{key: kubernetes.io/arch, operator: Exists}]}": "NodePool p: spec.requirements: ",
		"spec: {taints: [], template: {spec: {}}}":                            "(did you mean spec.template.spec.taints?)",
		"spec: {nodeClassRef: {name: default}}":                               "(did you mean spec.template.spec.nodeClassRef?)",
		"spec: {template: {spec: {limits: {cpu: 1}}}}":                        "(did you mean spec.limits?)",
		"spec: {template: {labels: {a: b}}}":                                  "(did you mean spec.template.metadata.labels?)",
		"spec: {template: {spec: {requirments: []}}}":                         "spec.template.spec.requirments: ",
	} {
		r := run(t, "plan", "-f", temp(t, "p.yaml", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\n"+text+"\n"))
		require.Equal(t, exitBadInput, r.code, text)
		require.Contains(t, r.stderr, want)
		require.Contains(t, r.stderr, "did you mean ")
	}
	r := run(t, "plan", "-f", temp(t, "d.yaml", deployed("web", "nodeSelector: {a: b}, ")), "--catalog", "testdata/market.json")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "field spec.nodeSelector is not known for a Deployment (did you mean spec.template.spec.nodeSelector?) and was left out")
}
