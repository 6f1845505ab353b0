package manifest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
)

// workloadKey identifies a workload.
type workloadKey struct{ kind, namespace, name string }

// workload is an object of the input that makes pods.
type workload struct {
	workloadKey
	apiVersion string
	at         Location
	obj        metav1.Object

	replicas *int32           // nil is one
	job      *batchv1.JobSpec // of Jobs and CronJobs, in place of replicas
	selector *metav1.LabelSelector
	template *corev1.PodTemplateSpec
	path     string // of the fields that say how many pods there are; the template is below
}

// count is the field that says how many pods there are to be.
func (w *workload) count() string {
	if w.job != nil {
		return w.path + ".parallelism"
	}
	return w.path + ".replicas"
}

// wanted is how many pods a workload with replicas asks for.
func (w *workload) wanted() int {
	if w.replicas == nil {
		return 1
	}
	return int(*w.replicas)
}

// makes reads workloads of a kind. describe returns where the kind has its pod template.
func makes[T any, P object[T]](describe func(*workload, P)) func(*collector, rawObject) {
	return func(c *collector, o rawObject) {
		var w *workload
		of := func(obj P) *workload {
			w := &workload{obj: obj, at: o.at, apiVersion: o.apiVersion, path: "spec"}
			describe(w, obj)
			return w
		}
		obj, ok := take(c, o, true, func(obj P) []fieldFault { return checkWorkload(c.found, of(obj)) })
		if !ok {
			return
		}
		w = of(obj)
		w.workloadKey = workloadKey{o.kind, obj.GetNamespace(), obj.GetName()}
		c.unread.noteWorkloadRef(o, obj)
		if set, ok := w.obj.(*appsv1.DaemonSet); ok {
			c.objects.problem.DaemonSets = append(c.objects.problem.DaemonSets, set)
		} else {
			c.objects.workloads = append(c.objects.workloads, w)
		}
	}
}

// checkWorkload finds the faults that the API server would refuse.
func checkWorkload(found *findings, w *workload) (faults []fieldFault) {
	if w.template == nil {
		return []fieldFault{{field: w.path + ".template", msg: "is missing"}}
	}
	if w.selector != nil {
		at := fieldFault{field: w.path + ".selector", value: written(w.selector)}
		selector, err := metav1.LabelSelectorAsSelector(w.selector)
		if err != nil {
			at.msg = "is no selector: " + err.Error()
			faults = append(faults, at)
		} else if !selector.Matches(labels.Set(w.template.Labels)) {
			at.msg = "contradicts the labels in spec.template.metadata.labels"
			faults = append(faults, at)
		}
	}
	return append(faults, checkPod(found, qualified(w.obj), &w.template.Spec, w.path+".template.spec")...)
}

// owners knows which pods of the input belong to which workload.
type owners struct {
	parents map[workloadKey]workloadKey // of ReplicaSets and Jobs of the input
	inInput map[workloadKey]bool
	pods    map[workloadKey]*podCounts
	jobs    map[workloadKey]bool // CronJobs of which there are Jobs
	names   map[string]bool      // namespace/name of pods
}

// podCounts says how many pods a workload has.
type podCounts struct {
	all, active, succeeded int          // active are neither finished nor being deleted
	indexes                map[int]bool // of Indexed Jobs, that run or have run
}

// of returns the counts of a workload.
func (o *owners) of(w workloadKey) *podCounts {
	if o.pods[w] == nil {
		o.pods[w] = &podCounts{indexes: map[int]bool{}}
	}
	return o.pods[w]
}

// controllerOf returns the workload that made an object. Hand-written objects may
// lack the mark of the controller; then the only owner is it.
func controllerOf(obj metav1.Object) (workloadKey, bool) {
	refs := obj.GetOwnerReferences()
	for _, ref := range refs {
		if ref.Controller != nil && *ref.Controller || len(refs) == 1 {
			return workloadKey{ref.Kind, obj.GetNamespace(), ref.Name}, true
		}
	}
	return workloadKey{}, false
}

// ownersOf finds the owners of the pods of the input.
func ownersOf(objects *objects) *owners {
	o := &owners{
		parents: map[workloadKey]workloadKey{}, inInput: map[workloadKey]bool{}, pods: map[workloadKey]*podCounts{},
		jobs: map[workloadKey]bool{}, names: map[string]bool{},
	}
	for _, set := range objects.problem.DaemonSets {
		o.inInput[workloadKey{"DaemonSet", set.Namespace, set.Name}] = true
	}
	for _, w := range objects.workloads {
		o.inInput[w.workloadKey] = true
		parent, ok := controllerOf(w.obj)
		if ok && (w.kind == "ReplicaSet" || w.kind == "Job") {
			o.parents[w.workloadKey], o.jobs[parent] = parent, true
		}
	}
	for _, pod := range objects.pods {
		o.names[qualified(pod)] = true
		for _, w := range o.chain(pod) {
			counts := o.of(w)
			counts.all++
			if !lifecycle.Leaving(pod) {
				counts.active++
			}
			if pod.Status.Phase == corev1.PodSucceeded {
				counts.succeeded++
			}
			if i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation]); err == nil && pod.Status.Phase != corev1.PodFailed {
				counts.indexes[i] = true
			}
		}
	}
	return o
}

// cronSuffix is the suffix of the name of a Job that a CronJob makes.
var cronSuffix = regexp.MustCompile(`-\d+$`)

// chain returns the workloads that a pod belongs to, the one that made it first. Where the ReplicaSet or Job between is
// not in the input, its owner follows from the names that controllers give.
func (o *owners) chain(pod *corev1.Pod) []workloadKey {
	w, ok := controllerOf(pod)
	if !ok {
		return nil
	}
	parent, ok := o.parents[w]
	switch {
	case ok || o.inInput[w]:
	case w.kind == "ReplicaSet":
		hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		name, hashed := strings.CutSuffix(w.name, "-"+hash)
		if ok = hashed && hash != ""; ok {
			parent = workloadKey{"Deployment", w.namespace, name}
			break
		}
		// Pods that were made here name a ReplicaSet of the Deployment's own name.
		parent = workloadKey{"Deployment", w.namespace, w.name}
		ok = o.inInput[parent]
	case w.kind == "Job":
		parent = workloadKey{"CronJob", w.namespace, cronSuffix.ReplaceAllString(w.name, "")}
		ok = o.inInput[parent]
	}
	if ok {
		return []workloadKey{w, parent}
	}
	return []workloadKey{w}
}

// top returns the name of the workload at the end of a pod's chain of owners, or the pod's own.
func (o *owners) top(pod *corev1.Pod) string {
	if chain := o.chain(pod); len(chain) > 0 && chain[0].kind != "Node" {
		last := chain[len(chain)-1]
		return last.namespace + "/" + last.name
	}
	return qualified(pod)
}

// jobFinished says whether a Job makes no further pods.
func jobFinished(job *batchv1.Job) bool {
	return job.DeletionTimestamp != nil || slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		ended := []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet}
		return c.Status == corev1.ConditionTrue && slices.Contains(ended, c.Type)
	})
}
