package manifest

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// job makes the pods that a Job would run now: as many as run side by side, less
// those that are there, and no more than there is work left.
func (e *expander) job(f found[*batchv1.Job]) {
	if jobFinished(f.obj) {
		return
	}
	self := workload{"Job", f.obj.Namespace, f.obj.Name}
	m := e.maker(f.at, "Job", "batch/v1", f.obj, "spec.parallelism", &f.obj.Spec.Template)
	taken := e.owners.indexes[self]
	for _, i := range ranges(f.obj.Status.CompletedIndexes) {
		if taken == nil {
			taken = map[int]bool{}
		}
		for n := i[0]; n <= i[1]; n++ {
			taken[n] = true
		}
	}
	done := max(int(f.obj.Status.Succeeded), e.owners.succeeded[self])
	m.run(&f.obj.Spec, done, e.owners.active[self], taken)
}

// cronJob makes the pods of one Job of a CronJob, unless the input shows that its
// Jobs are accounted for.
func (e *expander) cronJob(f found[*batchv1.CronJob]) {
	if f.obj.Spec.Suspend != nil && *f.obj.Spec.Suspend {
		return
	}
	if e.owners.every[workload{"CronJob", f.obj.Namespace, f.obj.Name}] > 0 {
		return
	}
	job := &f.obj.Spec.JobTemplate.Spec
	m := e.maker(f.at, "CronJob", "batch/v1", f.obj, "spec.jobTemplate.spec.parallelism", &job.Template)
	m.run(job, 0, 0, nil)
}

// run makes the pods of a Job of which some are done and some run. Those of an
// Indexed Job get the lowest indexes that are not taken.
func (m *maker) run(job *batchv1.JobSpec, done, active int, taken map[int]bool) {
	if job.Suspend != nil && *job.Suspend {
		return
	}
	n := 1
	if job.Parallelism != nil {
		n = int(*job.Parallelism)
	}
	if job.Completions != nil {
		n = min(n, int(*job.Completions)-done)
	}
	n -= active
	labels := map[string]string{batchv1.JobNameLabel: m.obj.GetName()}
	if job.CompletionMode == nil || *job.CompletionMode != batchv1.IndexedCompletion {
		m.number(n, labels)
		return
	}
	if n <= 0 || !m.room(n) {
		return
	}
	for i := 0; n > 0; i++ {
		name := fmt.Sprintf("%s-%d", m.obj.GetName(), i)
		if taken[i] || m.e.owners.names[podNamed(m.obj.GetNamespace(), name)] {
			continue
		}
		labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(i)
		m.make(name, labels)
		n--
	}
}

// ranges reads the compressed indexes of a Job's status, "1,3-5". What it cannot
// read it leaves out, as status is no one's to write but the controller's.
func ranges(s string) (out [][2]int) {
	for part := range strings.SplitSeq(s, ",") {
		first, last, found := strings.Cut(part, "-")
		if !found {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 == nil && err2 == nil && from <= to && to-from < DefaultMaxPods {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}
