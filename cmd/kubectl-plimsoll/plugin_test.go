package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// outcome is what a run of the plugin left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// commands puts scripts into a PATH of their own.
func commands(t *testing.T, scripts map[string]string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell for the fake commands")
	}
	dir := t.TempDir()
	for name, text := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755))
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

func kubectlPlimsoll(args ...string) outcome {
	var stdout, stderr terminal
	p := plugin{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
	code := p.run(args)
	return outcome{code, stdout.text.String(), stderr.text.String()}
}

// terminal is what several commands write to at the same time.
type terminal struct {
	lock sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (t *terminal) Write(p []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.text.Write(p)
}

// fakeKubectl serves a cluster of two objects, and notes how it is called.
const fakeKubectl = `
echo "$@" >>"$(dirname "$0")/calls"
case $1 in
api-resources) printf 'pods\nnodes\nsecrets\nnodepools.karpenter.sh\npods.metrics.k8s.io\n' ;;
get) cat <<'END'
{"apiVersion": "v1", "kind": "List", "metadata": {"items": "none"}, "items": [
 {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "uid": "1", "annotations": {"note": "private", "karpenter.sh/do-not-disrupt": "true"}},
  "spec": {"containers": [{"name": "web", "image": "private", "env": [{"name": "TOKEN", "value": "private"}], "resources": {"requests": {"cpu": "1"}}}]}},
 {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"images": [{"names": ["private"]}]}}
]}
END
;;
esac
`

// Neither environment nor images nor annotations that are not read reach plimsoll.
func TestObjectsAreStripped(t *testing.T) {
	dir := commands(t, map[string]string{"kubectl": fakeKubectl, "plimsoll": `echo "$@"; cat; exit 3`})
	got := kubectlPlimsoll("--context", "production", "consolidate", "-o", "json")
	require.Equal(t, 3, got.code, "the exit code is that of plimsoll: %s", got.stderr)
	require.Empty(t, got.stderr)
	require.True(t, strings.HasPrefix(got.stdout, "consolidate -f - -o json\n"), got.stdout)
	require.NotContains(t, got.stdout, "private")
	require.Contains(t, got.stdout, `"karpenter.sh/do-not-disrupt":"true"`)
	require.Contains(t, got.stdout, `"cpu":"1"`)
	require.Contains(t, got.stdout, `"kind":"Node"`)
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	require.Equal(t, "api-resources --verbs=list -o name --context=production\nget pods,nodes,nodepools.karpenter.sh --all-namespaces -o json --context=production\n", string(calls),
		"only kinds that the cluster has and that are read are asked for")
}

func TestCommandsThatReadNoCluster(t *testing.T) {
	dir := commands(t, map[string]string{"kubectl": fakeKubectl, "plimsoll": `echo "$@"`})
	for _, args := range []string{"version", "catalog --regions", "consolidate --help", "diff a b"} {
		require.Equal(t, outcome{0, args + "\n", ""}, kubectlPlimsoll(strings.Fields(args)...))
	}
	require.NoFileExists(t, filepath.Join(dir, "calls"))
}

func TestFailures(t *testing.T) {
	got := kubectlPlimsoll()
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.stderr, "Usage:")
	require.Equal(t, exitUsage, kubectlPlimsoll("--colour", "plan").code)

	commands(t, map[string]string{"kubectl": "exit 1"})
	got = kubectlPlimsoll("plan")
	require.Equal(t, exitBadInput, got.code)
	require.Contains(t, got.stderr, "plimsoll is neither next to kubectl-plimsoll nor in PATH")

	commands(t, map[string]string{"kubectl": `echo "no such host" >&2; exit 1`, "plimsoll": "cat"})
	got = kubectlPlimsoll("plan")
	require.Equal(t, exitBadInput, got.code)
	require.Contains(t, got.stderr, "no such host")
	require.Contains(t, got.stderr, "error: kubectl api-resources lists none")

	commands(t, map[string]string{"kubectl": `case $1 in get) echo forbidden >&2; exit 1;; *) echo pods;; esac`, "plimsoll": "cat"})
	got = kubectlPlimsoll("plan")
	require.Equal(t, exitBadInput, got.code)
	require.Contains(t, got.stderr, "kubectl get printed no objects")

	commands(t, map[string]string{"kubectl": `case $1 in get) echo '{"items": [{"kind": "Pod"}]}'; echo forbidden >&2; exit 1;; *) echo pods;; esac`, "plimsoll": "cat"})
	got = kubectlPlimsoll("plan")
	require.Equal(t, 0, got.code)
	require.Equal(t, "{\"kind\":\"Pod\"}\n", got.stdout)
	require.Contains(t, got.stderr, "forbidden\nwarning: kubectl could not list every kind")

	commands(t, map[string]string{"kubectl": `case $1 in get) echo '{"items": [{"kind": "Pod"}, {"kind"';; *) echo pods;; esac`, "plimsoll": "cat >/dev/null"})
	got = kubectlPlimsoll("plan")
	require.Equal(t, exitBadInput, got.code)
	require.Contains(t, got.stderr, "reading the output of kubectl")

	commands(t, map[string]string{"kubectl": fakeKubectl, "plimsoll": "exit 2"})
	require.Equal(t, 2, kubectlPlimsoll("plan", "--effort", "x").code, "plimsoll need not read what it is given")
}

// built returns a folder with the command plimsoll in it.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text, err := exec.Command("go", "build", "-o", filepath.Join(dir, "plimsoll"), "../plimsoll").CombinedOutput()
	require.NoError(t, err, "%s", text)
	return dir
}

// A user's way: the real command, and a cluster that a fake kubectl has.
func TestPluginPlansACluster(t *testing.T) {
	dir := built(t)
	t.Chdir("../plimsoll")
	scripts := commands(t, map[string]string{"kubectl": `case $1 in get) cat testdata/dump.json;; *) printf 'pods\nnodes\n';; esac`})
	t.Setenv("PATH", scripts+":"+dir+":/usr/bin:/bin")
	got := kubectlPlimsoll("plan", "--catalog", "testdata/market.json")
	require.Equal(t, 0, got.code, got.stderr)
	want, err := os.ReadFile("testdata/dump.table")
	require.NoError(t, err)
	require.Equal(t, string(want), got.stdout)
}

// The CronJob of the example asks for the same kinds, in the same order.
func TestKindsOfTheCronJob(t *testing.T) {
	text, err := os.ReadFile("../../examples/monitoring/cronjob.yaml")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(text), "name: KINDS\n                  value: >-\n")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "securityContext:")
	require.Equal(t, kinds(), strings.Fields(list))
}
