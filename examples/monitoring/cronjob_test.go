package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// job is the objects of cronjob.yaml.
type job struct {
	account corev1.ServiceAccount
	role    rbacv1.ClusterRole
	binding rbacv1.ClusterRoleBinding
	cron    batchv1.CronJob
}

func readJob(t *testing.T) *job {
	t.Helper()
	text, err := os.ReadFile("cronjob.yaml")
	require.NoError(t, err)
	documents := strings.Split(string(text), "\n---\n")
	require.Len(t, documents, 4)
	j := &job{}
	for i, into := range []any{&j.account, &j.role, &j.binding, &j.cron} {
		require.NoError(t, yaml.UnmarshalStrict([]byte(documents[i]), into))
	}
	return j
}

func (j *job) pod() *corev1.PodSpec { return &j.cron.Spec.JobTemplate.Spec.Template.Spec }

// The job may list objects and nothing else, with a token that one container has, and as no user of the host.
func TestJobCannotChangeAnything(t *testing.T) {
	j := readJob(t)
	for _, rule := range j.role.Rules {
		require.Equal(t, []string{"list"}, rule.Verbs)
		for _, forbidden := range []string{"secrets", "configmaps", "*"} {
			require.NotContains(t, rule.Resources, forbidden)
		}
		require.NotContains(t, rule.APIGroups, "*")
	}
	require.Equal(t, j.role.Name, j.binding.RoleRef.Name)
	require.Equal(t, rbacv1.Subject{Kind: "ServiceAccount", Name: j.account.Name, Namespace: j.account.Namespace}, j.binding.Subjects[0])
	pod := j.pod()
	require.Equal(t, j.account.Name, pod.ServiceAccountName)
	require.Equal(t, j.account.Namespace, j.cron.Namespace)
	require.False(t, *pod.AutomountServiceAccountToken)
	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	var withToken []string
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
		require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
		for _, m := range c.VolumeMounts {
			if m.Name == "token" {
				withToken = append(withToken, c.Name)
			}
		}
	}
	require.Equal(t, []string{"list"}, withToken)
}

// The kinds that the first container asks for are those that the role lets it list.
func TestJobListsTheKindsOfItsRole(t *testing.T) {
	j := readJob(t)
	var allowed []string
	for _, rule := range j.role.Rules {
		for _, resource := range rule.Resources {
			allowed = append(allowed, strings.TrimSuffix(resource+"."+rule.APIGroups[0], "."))
		}
	}
	require.ElementsMatch(t, allowed, strings.Fields(environment(&j.pod().InitContainers[0])["KINDS"]))
}

func environment(c *corev1.Container) map[string]string {
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	return env
}

// The containers run one after the other in a folder, as in a cluster; kubectl and curl are fakes.
func TestJobPushesTheMetrics(t *testing.T) {
	bin, work := t.TempDir(), t.TempDir()
	text, err := exec.Command("go", "-C", "../..", "build", "-o", bin, "./cmd/plimsoll").CombinedOutput()
	require.NoError(t, err, "%s", text)
	folder, err := filepath.Abs("../consolidate")
	require.NoError(t, err)
	fakes := map[string]string{
		"kubectl": `case $1 in
api-resources) printf 'bindings\npods\nnodes\nsecrets\nnodepools.karpenter.sh\npods.metrics.k8s.io\n' ;;
get) echo "$@" >"` + bin + `/asked"; for file in "` + folder + `"/*.yaml; do cat "$file"; echo ---; done ;;
esac`,
		"curl": `echo "$@" >"` + bin + `/pushed"`,
	}
	for name, script := range fakes {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	j := readJob(t)
	for _, c := range slices.Concat(j.pod().InitContainers, j.pod().Containers) {
		args := slices.Concat(c.Command, c.Args)
		if len(c.Command) == 0 {
			args = append([]string{filepath.Join(bin, "plimsoll")}, c.Args...)
		}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "/work", work)
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
		for name, value := range environment(&c) {
			cmd.Env = append(cmd.Env, name+"="+strings.ReplaceAll(value, "/work", work))
		}
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", c.Name, text)
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, "get pods,nodes,nodepools.karpenter.sh --all-namespaces -o json\n", read(filepath.Join(bin, "asked")), "only kinds that the cluster has are asked for")
	require.Equal(t, "-fsS --retry 3 -X PUT --data-binary @"+work+"/plimsoll.prom http://pushgateway.monitoring:9091/metrics/job/plimsoll/cluster/production\n", read(filepath.Join(bin, "pushed")))
	var d database
	d.scrape(t, read(filepath.Join(work, "plimsoll.prom")), planned)
	require.Len(t, d.query(t, "sum(plimsoll_bill_dollars_per_hour) > 0", planned), 1)
}
