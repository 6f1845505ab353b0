package manifest

import (
	"regexp"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload identifies what makes pods.
type workload struct{ kind, namespace, name string }

// owners knows which pods of the input belong to which workload.
type owners struct {
	parents map[workload]workload // of ReplicaSets and Jobs of the input
	inInput map[workload]bool
	// active counts pods that are neither finished nor being deleted; every counts all.
	active, every map[workload]int
	succeeded     map[workload]int
	indexes       map[workload]map[int]bool // of Indexed Jobs, that run or have run
	names         map[objectKey]bool        // of pods
}

// controllerOf returns the workload that made an object. Hand-written objects may
// lack the mark of the controller; then the only owner is it.
func controllerOf(obj metav1.Object) (workload, bool) {
	refs := obj.GetOwnerReferences()
	for _, ref := range refs {
		if ref.Controller != nil && *ref.Controller || len(refs) == 1 {
			return workload{ref.Kind, obj.GetNamespace(), ref.Name}, true
		}
	}
	return workload{}, false
}

// own finds out who owns the pods of the input.
func (c *collector) own() *owners {
	o := &owners{
		parents: map[workload]workload{}, inInput: map[workload]bool{},
		active: map[workload]int{}, every: map[workload]int{}, succeeded: map[workload]int{},
		indexes: map[workload]map[int]bool{}, names: map[objectKey]bool{},
	}
	for _, f := range c.deployments {
		o.inInput[workload{"Deployment", f.obj.Namespace, f.obj.Name}] = true
	}
	for _, f := range c.cronJobs {
		o.inInput[workload{"CronJob", f.obj.Namespace, f.obj.Name}] = true
	}
	for _, ds := range c.daemonSets {
		o.inInput[workload{"DaemonSet", ds.Namespace, ds.Name}] = true
	}
	for _, f := range c.replicaSets {
		o.child(workload{"ReplicaSet", f.obj.Namespace, f.obj.Name}, f.obj)
	}
	for _, f := range c.jobs {
		o.child(workload{"Job", f.obj.Namespace, f.obj.Name}, f.obj)
	}
	for _, f := range c.pods {
		o.pod(f.obj)
	}
	return o
}

// child notes a ReplicaSet or Job, and what it belongs to.
func (o *owners) child(w workload, obj metav1.Object) {
	o.inInput[w] = true
	if parent, ok := controllerOf(obj); ok {
		o.parents[w] = parent
		o.every[parent]++
	}
}

// pod counts a pod for its workload and for what that belongs to.
func (o *owners) pod(pod *corev1.Pod) {
	o.names[podKey(pod)] = true
	for _, w := range o.chain(pod) {
		o.every[w]++
		if !finished(pod) && pod.DeletionTimestamp == nil {
			o.active[w]++
		}
		if pod.Status.Phase == corev1.PodSucceeded {
			o.succeeded[w]++
		}
		if i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation]); err == nil && pod.Status.Phase != corev1.PodFailed {
			if o.indexes[w] == nil {
				o.indexes[w] = map[int]bool{}
			}
			o.indexes[w][i] = true
		}
	}
}

// cronSuffix is what a CronJob appends to its name to name a Job.
var cronSuffix = regexp.MustCompile(`-\d+$`)

// chain returns the workloads that a pod belongs to, the one that made it first.
// Where the ReplicaSet or Job between is not in the input, the names that their
// controllers give tell whose they are.
func (o *owners) chain(pod *corev1.Pod) []workload {
	w, ok := controllerOf(pod)
	if !ok {
		return nil
	}
	if parent, ok := o.parents[w]; ok {
		return []workload{w, parent}
	}
	if o.inInput[w] {
		return []workload{w}
	}
	switch w.kind {
	case "ReplicaSet":
		hash := pod.Labels["pod-template-hash"]
		if name, ok := strings.CutSuffix(w.name, "-"+hash); ok && hash != "" {
			return []workload{w, {"Deployment", w.namespace, name}}
		}
		// Pods that were made here name a ReplicaSet of the Deployment's own name.
		if parent := (workload{"Deployment", w.namespace, w.name}); o.inInput[parent] {
			return []workload{w, parent}
		}
	case "Job":
		parent := workload{"CronJob", w.namespace, cronSuffix.ReplaceAllString(w.name, "")}
		if o.inInput[parent] {
			return []workload{w, parent}
		}
	}
	return []workload{w}
}

// top returns the name of the workload at the end of a pod's chain, or the pod's
// own: what people call the thing that the pod is part of.
func (o *owners) top(pod *corev1.Pod) string {
	if chain := o.chain(pod); len(chain) > 0 && chain[0].kind != "Node" {
		last := chain[len(chain)-1]
		return last.namespace + "/" + last.name
	}
	return pod.Namespace + "/" + pod.Name
}

// podKey identifies a pod.
func podKey(pod *corev1.Pod) objectKey { return podNamed(pod.Namespace, pod.Name) }

// podNamed identifies the pod of a name.
func podNamed(namespace, name string) objectKey {
	return objectKey{kind{"", "Pod"}, namespace, name}
}

// finished says whether a pod has run to its end.
func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// jobFinished says whether a Job makes no further pods.
func jobFinished(job *batchv1.Job) bool {
	for _, cond := range job.Status.Conditions {
		switch cond.Type {
		case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
			if cond.Status == corev1.ConditionTrue {
				return true
			}
		}
	}
	return job.DeletionTimestamp != nil
}
