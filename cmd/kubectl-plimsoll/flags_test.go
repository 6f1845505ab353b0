package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKubectlFlagsBeforeAndAfterTheCommand(t *testing.T) {
	for _, test := range []struct {
		args               string
		cluster, namespace string
		command            string
	}{
		{"consolidate", "", "", "consolidate"},
		{"--context east consolidate", "--context=east", "", "consolidate"},
		{"consolidate --context east", "--context=east", "", "consolidate"},
		{"consolidate --context=east -o json", "--context=east", "", "consolidate -o json"},
		{"plan -o json --as me --as-group a --as-group=b", "--as=me --as-group=a --as-group=b", "", "plan -o json"},
		{"--kubeconfig= plan", "--kubeconfig=", "", "plan"},
		{"-n shop explain pod/web", "", "shop", "explain pod/web"},
		{"explain -nshop pod/web", "", "shop", "explain pod/web"},
		{"explain pod/web -n=shop", "", "shop", "explain pod/web"},
		{"explain pod/web --namespace shop", "", "shop", "explain pod/web"},
		{"plan --insecure-skip-tls-verify --no-spot", "--insecure-skip-tls-verify=true", "", "plan --no-spot"},
		{"plan --insecure-skip-tls-verify=false", "--insecure-skip-tls-verify=false", "", "plan"},
		{"plan -v 6 -s https://api:6443", "--v=6 --server=https://api:6443", "", "plan"},
		{"plan -v=6", "--v=6", "", "plan"},
		{"plan -A --all-namespaces", "", "", "plan"},
		{"plan --node-overhead 0 --node-cost", "", "", "plan --node-overhead 0 --node-cost"},
		{"explain -- --context east", "", "", "explain -- --context east"},
		{"--context east -- plan", "--context=east", "", "plan"},
		{"plan - --context east", "--context=east", "", "plan -"},
	} {
		got, err := parseCall(strings.Fields(test.args))
		require.NoError(t, err, test.args)
		assert.Equal(t, test.cluster, strings.Join(got.cluster, " "), test.args)
		assert.Equal(t, test.namespace, got.namespace, test.args)
		assert.Equal(t, test.command, strings.Join(got.command, " "), test.args)
	}
	for args, want := range map[string]string{
		"plan --context":      "flag --context needs a value",
		"-n":                  "flag -n needs a value",
		"--no-spot plan":      "unknown flag --no-spot before the command",
		"--contexts=east":     "unknown flag --contexts=east before the command",
		"-x plan":             "unknown flag -x before the command",
		"--kubeconfigs a pla": "unknown flag --kubeconfigs before the command",
	} {
		_, err := parseCall(strings.Fields(args))
		assert.EqualError(t, err, want, args)
	}
}

func TestNamespaceIsThatOfTheObjectsToExplain(t *testing.T) {
	dir := commands(t, map[string]string{"kubectl": fakeKubectl, "plimsoll": `echo "$@"; cat >/dev/null`})
	got := kubectlPlimsoll("-n", "shop", "explain", "pod/web", "--context", "east")
	require.Equal(t, outcome{0, "explain -f - --namespace=shop pod/web\n", ""}, got)
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	require.Contains(t, string(calls), "--all-namespaces -o json --context=east\n", "the nodes are full of the pods of all namespaces")
	require.NotContains(t, string(calls), "shop")

	got = kubectlPlimsoll("consolidate", "-n", "shop")
	require.Equal(t, 0, got.code)
	require.Equal(t, "consolidate -f -\n", got.stdout)
	require.Equal(t, "warning: --namespace shop is ignored: plans need the pods of all namespaces\n", got.stderr)
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"--help", "-h", "--context east -h"} {
		require.Equal(t, outcome{0, usage, ""}, kubectlPlimsoll(strings.Fields(args)...))
	}
}

// A flag of both kubectl and plimsoll would be taken from plimsoll, but for --namespace, which is handed on.
func TestFlagsOfKubectlAndOfPlimsollDiffer(t *testing.T) {
	plimsoll := filepath.Join(built(t), "plimsoll")
	for _, command := range []string{"plan", "consolidate", "report", "whatif", "diff", "lint", "redact", "explain", "verify", "catalog"} {
		help, err := exec.Command(plimsoll, command, "--help").Output()
		require.NoError(t, err)
		found := regexp.MustCompile(`(?m)^ +(?:-[a-zA-Z], )?--([a-z-]+)`).FindAllStringSubmatch(string(help), -1)
		require.NotEmpty(t, found, command)
		for _, m := range found {
			if flag, _, _ := kubectlFlagOf("--" + m[1]); flag != nil {
				assert.Equal(t, "explain --namespace", command+" --"+flag.name)
			}
		}
	}
}

func TestFlagsAreThoseOfKubectl(t *testing.T) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("no kubectl in PATH")
	}
	text, err := exec.Command(path, "options").Output()
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^ +(?:-([a-zA-Z]), )?--([a-z-]+)=`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		i := slices.IndexFunc(kubectlFlags(), func(f kubectlFlag) bool { return f.name == m[2] })
		if assert.GreaterOrEqual(t, i, 0, "--%s", m[2]) {
			assert.Equal(t, m[1], kubectlFlags()[i].short, "--%s", m[2])
		}
	}
}
