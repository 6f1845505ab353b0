package manifest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
)

// A workload of which some pods are there comes to as many active pods as it asks
// for, never fewer, and no name is given twice.
func TestWorkloadsComeToTheirReplicas(t *testing.T) {
	for seed := range soak.Cases(100) {
		r := rand.New(rand.NewPCG(seed, 22))
		var text strings.Builder
		want := 0
		for w := range 1 + r.IntN(4) {
			name, replicas, present := fmt.Sprintf("w%d", w), r.IntN(6), r.IntN(6)
			kind := pick(r, "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job")
			version := map[string]string{"ReplicationController": "v1", "Job": "batch/v1"}[kind]
			if version == "" {
				version = "apps/v1"
			}
			count := "replicas"
			if kind == "Job" {
				count = "parallelism"
			}
			text.WriteString(object(version, kind, name, fmt.Sprintf("{%s: %d, %s}", count, replicas, template)))
			active := 0
			for p := range present {
				state := pick(r, active0, active0, gone)
				podName := fmt.Sprintf("%s-x%d", name, p)
				if kind == "StatefulSet" {
					podName = fmt.Sprintf("%s-%d", name, p)
					state = active0
				}
				if state == active0 {
					active++
				}
				text.WriteString(owned(podName, kind, name, state) + "---\n")
			}
			want += max(replicas, active)
		}
		s := read(t, text.String())
		require.Len(t, s.Problem.Pods, want, text.String())
		seen := map[string]bool{}
		for _, p := range s.Problem.Pods {
			require.False(t, seen[p.Name], "%s stands twice", p.Name)
			seen[p.Name] = true
			require.Equal(t, "shop/"+strings.SplitN(p.Name, "-", 2)[0], s.Workload("shop/"+p.Name))
		}
		require.Empty(t, s.Warnings)
	}
}

// States of pods of a workload.
const (
	active0 = "labels: {}}"
	gone    = "labels: {}}\nstatus: {phase: Failed}"
)

// A snapshot that is written out, with the pods that were made, and read again is the same: its pods are those that a
// cluster would hold.
func TestExpansionIsStable(t *testing.T) {
	workloads := object("apps/v1", "Deployment", "web", "{replicas: 3, "+template+"}") +
		object("apps/v1", "StatefulSet", "db", "{replicas: 2, "+template+"}") +
		object("batch/v1", "Job", "work", "{parallelism: 2, completions: 4, completionMode: Indexed, "+jobSpec+"}") +
		object("batch/v1", "CronJob", "nightly", "{schedule: \"0 3 * * *\", jobTemplate: {spec: {"+jobSpec+"}}}")
	first := read(t, workloads)
	var text strings.Builder
	text.WriteString(workloads)
	for _, p := range first.Problem.Pods {
		ref := p.OwnerReferences[0]
		metadata := fmt.Sprintf("annotations: {batch.kubernetes.io/job-completion-index: %q}}", p.Labels["batch.kubernetes.io/job-completion-index"])
		text.WriteString(owned(p.Name, ref.Kind, ref.Name, metadata) + "---\n")
	}
	require.Equal(t, pods(first), pods(read(t, text.String())))
}
