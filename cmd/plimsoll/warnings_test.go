package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the plan leaves out or does not honour is told, once and with its count.
func TestWarningsOfWhatIsNotPlanned(t *testing.T) {
	pool := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {}}}\n---\n"
	object := func(apiVersion, kind, name, rest string) string {
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n%s\n---\n", apiVersion, kind, name, rest)
	}
	pod := func(name, metadata, spec string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s%s}\nspec: {%scontainers: [{name: c, resources: {requests: {cpu: 10m, memory: 1Mi}}}]}\n---\n", name, metadata, spec)
	}
	workload := func(kind, name, more string) string {
		return object("apps/v1", kind, name, "spec: {"+more+"selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, resources: {requests: {cpu: 100m, memory: 1Mi}, limits: {memory: 4Mi}}}]}}}")
	}
	scaled := func(kind, name string, least int) string {
		return object("autoscaling/v2", "HorizontalPodAutoscaler", name, fmt.Sprintf("spec: {minReplicas: %d, maxReplicas: 20, metrics: [], scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: %s}}", least, kind, name))
	}
	const grouped = "belongs to a scheduling group (%s): its pods are planned one by one, not all or none"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nothing": {agent + pool + pod("a", "", ""), nil},
		"no DaemonSet": {
			pool + pod("a", "", ""),
			[]string{"DaemonSets: the input has none, so new nodes are planned without DaemonSet pods; add the output of kubectl get ds -A -o json"},
		},
		"no DaemonSet and no cluster": {pod("a", "", ""), nil},
		"autoscalers": {
			agent + pool + workload("Deployment", "web", "replicas: 3, ") + scaled("Deployment", "web", 5) + workload("StatefulSet", "db", "") + scaled("StatefulSet", "db", 3) +
				workload("Deployment", "fine", "replicas: 3, ") + scaled("Deployment", "fine", 2) + workload("Deployment", "idle", "replicas: 0, ") + scaled("Deployment", "idle", 2) + scaled("Deployment", "gone", 2),
			[]string{"default/db: the HorizontalPodAutoscaler of this StatefulSet keeps at least 3 replicas, and the input asks for 1: 2 more will come that are not planned (and 1 more; 4 such pods in all)"},
		},
		"an autoscaler": {
			agent + pool + workload("Deployment", "web", "") + scaled("Deployment", "web", 2),
			[]string{"default/web: the HorizontalPodAutoscaler of this Deployment keeps at least 2 replicas, and the input asks for 1: 1 more will come that are not planned"},
		},
		"quotas": {
			agent + pool + workload("Deployment", "web", "replicas: 3, ") + pod("there", ", uid: x", "") +
				object("v1", "ResourceQuota", "small", "spec: {hard: {requests.cpu: 300m, memory: 1Gi, pods: 3, count/pods: 4, limits.memory: 10Mi, services: 1}}") +
				object("v1", "ResourceQuota", "scoped", "spec: {hard: {pods: 1}, scopes: [BestEffort]}") +
				object("v1", "ResourceQuota", "used", "spec: {hard: {cpu: 500m}}\nstatus: {hard: {cpu: 500m}, used: {cpu: 300m}}"),
			[]string{
				"default/small: this ResourceQuota allows less than the planned pods of its namespace request in total, so that some will not be created: limits.memory 12Mi of 10Mi, pods 4 of 3, requests.cpu 310m of 300m",
				"default/used: this ResourceQuota allows less than the planned pods of its namespace request in total, so that some will not be created: cpu 600m of 500m",
			},
		},
		"a quota that is full": {agent + pool + pod("there", ", uid: x", "") + object("v1", "ResourceQuota", "full", "spec: {hard: {pods: 0}}"), nil},
		"schedulers": {
			agent + pool + pod("a", "", "schedulerName: default-scheduler, ") + pod("b", "", "schedulerName: volcano, ") + pod("c", "", "schedulerName: volcano, ") + pod("d", "", "schedulerName: yunikorn, "),
			[]string{
				"default/b: asks for the scheduler volcano, and is planned by the rules of default-scheduler (and 1 more)",
				"default/d: asks for the scheduler yunikorn, and is planned by the rules of default-scheduler",
			},
		},
		"groups": {
			agent + pool + pod("a", ", labels: {scheduling.x-k8s.io/pod-group: g}", "") + pod("b", ", labels: {scheduling.x-k8s.io/pod-group: g}", "") +
				pod("c", ", labels: {kueue.x-k8s.io/pod-group-name: g}", "") + pod("d", ", annotations: {scheduling.k8s.io/group-name: g}", "") +
				pod("e", "", "schedulingGroup: {podGroupName: g}, ") + pod("f", ", uid: x", "workloadRef: {name: g}, ") +
				object("batch/v1", "Job", "j", "spec: {suspend: true, template: {spec: {containers: [{name: c}]}}}\n") +
				"apiVersion: batch/v1\nkind: Job\nmetadata: {name: queued, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {suspend: true, template: {spec: {containers: [{name: c}]}}}\n---\n",
			[]string{
				"default/a: " + fmt.Sprintf(grouped, "label scheduling.x-k8s.io/pod-group") + " (and 1 more)",
				"default/c: " + fmt.Sprintf(grouped, "label kueue.x-k8s.io/pod-group-name"),
				"default/d: " + fmt.Sprintf(grouped, "annotation scheduling.k8s.io/group-name"),
				"default/e: " + fmt.Sprintf(grouped, "spec.schedulingGroup"),
				"default/f: " + fmt.Sprintf(grouped, "spec.workloadRef"),
				"default/queued: is admitted by Kueue (label kueue.x-k8s.io/queue-name), whose queues and quotas are not read",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, "plan", "-o", "json", "-f", temp(t, "in.yaml", tt.text), "--catalog", "testdata/market.json")
			require.Equal(t, exitOK, r.code, r.stderr)
			require.Equal(t, tt.want, told(decodePlan(t, r.stdout)))
		})
	}
	r := run(t, "plan", "-f", temp(t, "in.yaml", agent+pool+pod("a", "", "schedulingGates: [{name: example.com/quota}], ")), "--catalog", "testdata/market.json")
	require.Contains(t, r.stdout, "scheduling gate example.com/quota is still set")
	r = run(t, "plan", "-f", temp(t, "in.yaml", pod("a", "", "")+object("v1", "ResourceQuota", "q", "spec: {hard: {pods: -1}}")+object("autoscaling/v2", "HorizontalPodAutoscaler", "h", "spec: {minReplicas: few}")))
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "ResourceQuota default/q: spec.hard.pods: -1 is negative")
	require.Contains(t, r.stderr, `HorizontalPodAutoscaler h: spec.minReplicas: "few" is not a whole number of 32 bits`)
}
