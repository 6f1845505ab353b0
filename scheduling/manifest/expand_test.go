package manifest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// object writes an object of the namespace shop with one container.
func object(apiVersion, kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: shop}\nspec: %s\n---\n", apiVersion, kind, name, spec)
}

// Parts of specifications.
const (
	template = "template: {metadata: {labels: {app: x}}, spec: {containers: [{name: main, resources: {requests: {cpu: 100m}}}]}}"
	jobSpec  = "template: {spec: {restartPolicy: Never, containers: [{name: main}]}}"
)

// owned writes a pod of a workload.
func owned(name, kind, owner, rest string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop, uid: u-%s, ownerReferences: [{apiVersion: x, kind: %s, name: %s, controller: true, uid: u}], %s\nspec: {containers: [{name: main}]}\n",
		name, name, kind, owner, rest)
}

// Ends of owned, closing metadata.
const (
	active   = "labels: {}}"
	deleting = "deletionTimestamp: 2026-01-01T00:00:00Z}"
	done     = "labels: {}}\nstatus: {phase: Succeeded}"
	failed   = "labels: {}}\nstatus: {phase: Failed}"
)

func TestExpansion(t *testing.T) {
	deploy := func(name, replicas string) string {
		return object("apps/v1", "Deployment", name, "{"+replicas+template+"}")
	}
	job := func(spec string) string { return object("batch/v1", "Job", "work", "{"+spec+jobSpec+"}") }
	cron := func(spec string) string {
		return object("batch/v1", "CronJob", "nightly", "{schedule: \"0 3 * * *\", "+spec+"jobTemplate: {spec: {parallelism: 2, "+jobSpec+"}}}")
	}
	tests := map[string]struct{ text, want string }{
		"Deployment":                     {deploy("web", "replicas: 3, "), "web-0 web-1 web-2"},
		"no replicas stated is one":      {deploy("web", ""), "web-0"},
		"no replicas":                    {deploy("web", "replicas: 0, "), ""},
		"StatefulSet":                    {object("apps/v1", "StatefulSet", "db", "{replicas: 2, "+template+"}"), "db-0 db-1"},
		"StatefulSet from an ordinal":    {object("apps/v1", "StatefulSet", "db", "{ordinals: {start: 5}, replicas: 2, "+template+"}"), "db-5 db-6"},
		"ReplicaSet":                     {object("apps/v1", "ReplicaSet", "rs", "{replicas: 2, "+template+"}"), "rs-0 rs-1"},
		"ReplicationController":          {object("v1", "ReplicationController", "rc", "{replicas: 2, "+template+"}"), "rc-0 rc-1"},
		"Job":                            {job(""), "work-0"},
		"parallel Job":                   {job("parallelism: 3, "), "work-0 work-1 work-2"},
		"Job with less work than hands":  {job("parallelism: 3, completions: 2, "), "work-0 work-1"},
		"Job with more work than hands":  {job("parallelism: 2, completions: 9, "), "work-0 work-1"},
		"paused Job":                     {job("suspend: true, "), ""},
		"Job without hands":              {job("parallelism: 0, "), ""},
		"Job that is done":               {strings.ReplaceAll(job(""), "---", "status: {conditions: [{type: Complete, status: \"True\"}]}\n---"), ""},
		"Job that is nearly done":        {strings.ReplaceAll(job("parallelism: 3, completions: 9, "), "---", "status: {succeeded: 8}\n---"), "work-0"},
		"indexed Job":                    {job("parallelism: 2, completions: 9, completionMode: Indexed, "), "work-0 work-1"},
		"indexed Job half way":           {strings.ReplaceAll(job("parallelism: 3, completions: 9, completionMode: Indexed, "), "---", "status: {succeeded: 4, completedIndexes: \"0,2-4,x\"}\n---"), "work-1 work-5 work-6"},
		"CronJob":                        {cron(""), "nightly-0 nightly-1"},
		"paused CronJob":                 {cron("suspend: true, "), ""},
		"names that are taken":           {deploy("web", "replicas: 2, ") + pod("web-0"), "web-0 web-1 web-2"},
		"two workloads of one name":      {deploy("web", "replicas: 2, ") + object("apps/v1", "StatefulSet", "web", "{replicas: 2, "+template+"}"), "web-0 web-1 web-2 web-3"},
		"all pods of a StatefulSet":      {object("apps/v1", "StatefulSet", "db", "{replicas: 2, "+template+"}") + owned("db-0", "StatefulSet", "db", active) + "---\n" + owned("db-1", "StatefulSet", "db", active), "db-0 db-1"},
		"some pods of a StatefulSet":     {object("apps/v1", "StatefulSet", "db", "{replicas: 3, "+template+"}") + owned("db-1", "StatefulSet", "db", active), "db-0 db-1 db-2"},
		"a pod on its way out":           {object("apps/v1", "StatefulSet", "db", "{replicas: 2, "+template+"}") + owned("db-1", "StatefulSet", "db", deleting), "db-0"},
		"all pods of a Deployment":       {deploy("web", "replicas: 1, ") + owned("web-5d4f-x", "ReplicaSet", "web-5d4f", "labels: {pod-template-hash: 5d4f}}"), "web-5d4f-x"},
		"some pods of a Deployment":      {deploy("web", "replicas: 2, ") + owned("web-5d4f-x", "ReplicaSet", "web-5d4f", "labels: {pod-template-hash: 5d4f}}"), "web-0 web-5d4f-x"},
		"pods that are gone":             {deploy("web", "replicas: 1, ") + owned("web-5d4f-x", "ReplicaSet", "web-5d4f", "labels: {pod-template-hash: 5d4f}, "+deleting), "web-0"},
		"pods that failed":               {deploy("web", "replicas: 1, ") + owned("web-5d4f-x", "ReplicaSet", "web-5d4f", "labels: {pod-template-hash: 5d4f}}\nstatus: {phase: Failed}"), "web-0"},
		"pods of another Deployment":     {deploy("web", "replicas: 1, ") + owned("api-5d4f-x", "ReplicaSet", "api-5d4f", "labels: {pod-template-hash: 5d4f}}"), "api-5d4f-x web-0"},
		"more pods than replicas":        {deploy("web", "replicas: 0, ") + owned("web-5d4f-x", "ReplicaSet", "web-5d4f", "labels: {pod-template-hash: 5d4f}}"), "web-5d4f-x"},
		"ReplicaSet without Deployment":  {replicaSet("web-5d4f", 2) + owned("web-5d4f-x", "ReplicaSet", "web-5d4f", active), "web-5d4f-0 web-5d4f-x"},
		"ReplicaSet between the two":     {deploy("web", "replicas: 2, ") + replicaSet("web-5d4f", 2) + owned("web-5d4f-x", "ReplicaSet", "web-5d4f", active), "web-0 web-5d4f-x"},
		"running pods of a Job":          {job("parallelism: 2, completions: 5, ") + owned("work-a", "Job", "work", active), "work-0 work-a"},
		"finished pods of a Job":         {job("parallelism: 2, completions: 2, ") + owned("work-a", "Job", "work", done), "work-0"},
		"failed pods of a Job":           {job("parallelism: 2, completions: 2, ") + owned("work-a", "Job", "work", failed), "work-0 work-1"},
		"CronJob with a Job":             {cron("") + strings.ReplaceAll(job("parallelism: 3, "), "namespace: shop", "namespace: shop, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: nightly, controller: true, uid: u}]"), "work-0 work-1 work-2"},
		"CronJob with pods":              {cron("") + owned("nightly-123-a", "Job", "nightly-123", done), ""},
		"CronJob with pods of others":    {cron("") + owned("weekly-123-a", "Job", "weekly-123", active), "nightly-0 nightly-1 weekly-123-a"},
		"owner without the mark":         {deploy("web", "replicas: 1, ") + strings.ReplaceAll(owned("web-a", "Deployment", "web", active), "controller: true, ", ""), "web-a"},
		"objects without a name":         {strings.ReplaceAll(strings.ReplaceAll(pod("a"), "name: a", "generateName: task-")+"---\n"+pod("a"), "name: a", "generateName: task-"), "task-1 task-2"},
		"objects without a namespace":    {strings.ReplaceAll(deploy("web", ""), ", namespace: shop", ""), "default/web-0"},
		"workloads of other namespaces":  {deploy("web", "") + strings.ReplaceAll(deploy("web", ""), "shop", "lab"), "lab/web-0 web-0"},
		"the pods of daemons and nodes":  {owned("agent-x", "DaemonSet", "agent", active) + "---\n" + owned("etcd-node-1", "Node", "node-1", active), ""},
		"a pod that is finished":         {owned("a", "X", "x", done), ""},
		"a pod that is being deleted":    {owned("a", "X", "x", deleting), ""},
		"a pod behind a gate is pending": {strings.ReplaceAll(pod("a"), "spec: {", "spec: {schedulingGates: [{name: wait}], "), "a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := read(t, tt.text)
			got := strings.ReplaceAll(strings.Join(pods(s), " "), "shop/", "")
			require.Equal(t, tt.want, got)
		})
	}
}

// replicaSet writes a ReplicaSet of the Deployment web.
func replicaSet(name string, replicas int) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: %s, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, controller: true, uid: u}]}\nspec: {replicas: %d, %s}\n---\n", name, replicas, template)
}

func TestExpandedPods(t *testing.T) {
	s := read(t, `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop, uid: u1}
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}, annotations: {note: keep}}
    spec:
      containers: [{name: main, resources: {requests: {cpu: 500m}}}]
      volumes: [{name: data, emptyDir: {}}, {name: tmp, emptyDir: {}}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: gp3, resources: {requests: {storage: 10Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-1, namespace: shop}
`)
	require.Len(t, s.Problem.Pods, 1)
	p := s.Problem.Pods[0]
	require.Equal(t, map[string]string{"app": "db", "statefulset.kubernetes.io/pod-name": "db-0", "apps.kubernetes.io/pod-index": "0"}, p.Labels)
	require.Equal(t, map[string]string{"note": "keep"}, p.Annotations)
	require.Equal(t, "StatefulSet", p.OwnerReferences[0].Kind)
	require.True(t, *p.OwnerReferences[0].Controller)
	require.Equal(t, corev1.PodPending, p.Status.Phase)
	require.Equal(t, "500m", p.Spec.Containers[0].Resources.Requests.Cpu().String())
	require.Len(t, p.Spec.Volumes, 2)
	require.Equal(t, "tmp", p.Spec.Volumes[0].Name)
	require.Equal(t, "data-db-0", p.Spec.Volumes[1].PersistentVolumeClaim.ClaimName)
	require.Len(t, s.Problem.Claims, 2)
	require.Equal(t, "data-db-0", s.Problem.Claims[0].Name)
	require.Equal(t, "gp3", *s.Problem.Claims[0].Spec.StorageClassName)
	require.Empty(t, s.Problem.Claims[0].Spec.VolumeName, "no volume is bound to it yet")
	require.Equal(t, "shop/db", s.Workload("shop/db-0"))
	require.Equal(t, "shop/other", s.Workload("shop/other"))
}

func TestIndexedPodsCarryTheirIndex(t *testing.T) {
	s := read(t, object("batch/v1", "Job", "work", "{parallelism: 2, completions: 4, completionMode: Indexed, "+jobSpec+"}")+
		owned("work-0-x", "Job", "work", "annotations: {batch.kubernetes.io/job-completion-index: \"0\"}}"))
	require.Equal(t, []string{"shop/work-0-x", "shop/work-1"}, pods(s))
	require.Equal(t, map[string]string{"batch.kubernetes.io/job-name": "work", "batch.kubernetes.io/job-completion-index": "1"}, s.Problem.Pods[1].Labels)
}

func TestWorkloadNames(t *testing.T) {
	s := read(t, owned("web-5d4f-x", "ReplicaSet", "web-5d4f", "labels: {pod-template-hash: 5d4f}}")+"---\n"+
		owned("loose-5d4f-x", "ReplicaSet", "loose-5d4f", active)+"---\n"+
		owned("static", "Node", "n1", active)+"---\n"+
		owned("run-1", "Job", "run", active)+"---\n"+pod("alone"))
	for name, want := range map[string]string{
		"shop/web-5d4f-x": "shop/web", "shop/loose-5d4f-x": "shop/loose-5d4f",
		"shop/static": "shop/static", "shop/run-1": "shop/run", "shop/alone": "shop/alone",
	} {
		require.Equal(t, want, s.Workload(name))
	}
}

func TestPodsOnNodes(t *testing.T) {
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n" + object("apps/v1", "DaemonSet", "agent", "{"+template+"}")
	on := func(name, node, rest string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop%s}\nspec: {nodeName: %s, containers: [{name: c}]}\n", name, rest, node)
	}
	s := read(t, node+on("a", "n1", "")+"---\n"+on("b", "n1", ", deletionTimestamp: 2026-01-01T00:00:00Z")+"---\n"+
		on("c", "n1", "")+"status: {phase: Succeeded}\n---\n"+on("d", "n2", "")+"---\n"+on("e", "n3", "")+"---\n"+pod("f"))
	require.Equal(t, []string{"shop/f"}, pods(s))
	var running []string
	for _, p := range s.Problem.Running {
		running = append(running, p.Name)
	}
	require.Equal(t, []string{"a", "b"}, running, "a pod that is being deleted still takes room, a finished one does not")
	require.Len(t, s.Warnings, 1)
	require.Equal(t, "shop/d", s.Warnings[0].Object)
	require.Equal(t, "runs on node n2, which is not in the input, and was left out (and 1 more)", s.Warnings[0].Message)
}

func TestPendingDaemonPodsWarnWithoutTheirSet(t *testing.T) {
	s := read(t, owned("agent-x", "DaemonSet", "agent", active)+"---\n"+owned("agent-y", "DaemonSet", "agent", active))
	require.Empty(t, s.Problem.Pods)
	require.Len(t, s.Warnings, 1)
	require.Contains(t, s.Warnings[0].Message, "belongs to a DaemonSet that is not in the input")
	s = read(t, owned("agent-x", "DaemonSet", "agent", active)+"---\n"+object("apps/v1", "DaemonSet", "agent", "{"+template+"}"))
	require.Empty(t, s.Warnings)
	require.Len(t, s.Problem.DaemonSets, 1)
}

// The result does not depend on the order of documents.
func TestOrderOfInputDoesNotShow(t *testing.T) {
	docs := []string{
		object("apps/v1", "Deployment", "web", "{replicas: 3, "+template+"}"),
		object("apps/v1", "StatefulSet", "web", "{replicas: 2, "+template+"}"),
		object("batch/v1", "Job", "web", "{parallelism: 2, "+jobSpec+"}"),
		object("apps/v1", "Deployment", "api", "{replicas: 2, "+template+"}"),
		pod("web-1") + "---\n", pod("z") + "---\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n---\n", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n",
		strings.ReplaceAll(pod("lost"), "spec: {", "spec: {nodeName: gone, priorityClassName: x, ") + "---\n",
		object("apps/v1", "Deployment", "prio", "{template: {spec: {priorityClassName: high, containers: [{name: c}]}}}"),
	}
	want := read(t, strings.Join(docs, ""))
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		got := read(t, strings.Join(docs, ""))
		require.Equal(t, want.Problem, got.Problem)
		require.Equal(t, want.Warnings, got.Warnings)
	}
}

func ExampleLoader_Read() {
	s, err := manifest.Loader{}.Read("shop.yaml", strings.NewReader(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        resources: {requests: {cpu: 500m, memory: 1Gi}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range s.Problem.Pods {
		fmt.Println(p.Namespace+"/"+p.Name, "of", s.Workload(p.Namespace+"/"+p.Name))
	}
	// Output:
	// shop/web-0 of shop/web
	// shop/web-1 of shop/web
}

func ExampleFaults() {
	_, err := manifest.Loader{}.Read("shop.yaml", strings.NewReader(`
apiVersion: v1
kind: Pod
metadata: {name: cache, namespace: shop}
spec:
  containers:
  - name: redis
    resources: {requests: {cpu: lots, memory: -1Gi}}
`))
	fmt.Println(err)
	// Output:
	// shop.yaml: document 1, line 2: Pod shop/cache: spec.containers[0].resources.requests.cpu: "lots" is not a quantity such as "500m" or "2Gi"
	// shop.yaml: document 1, line 2: Pod shop/cache: spec.containers[0].resources.requests.memory: "-1Gi" is negative
}

// A dump may hold workloads that the API server would refuse.
func TestWorkloadsWithoutATemplateMakeNoPods(t *testing.T) {
	s, err := manifest.Loader{}.Read("dump", strings.NewReader("apiVersion: v1\nkind: ReplicationController\nmetadata: {name: a, uid: u}\nspec: {replicas: 2}\n"))
	require.NoError(t, err)
	require.Empty(t, s.Problem.Pods)
}
