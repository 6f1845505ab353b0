package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/admission"
)

// DefaultMaxPods is the largest number of pods of all workloads if [Loader.MaxPods] is 0. A larger
// number is a fault, because it is probably a mistake in a number of replicas.
const DefaultMaxPods = 500_000

// expander makes the pods that workloads would make.
type expander struct {
	found   *findings
	names   *registry
	objects *objects
	maxPods int // as in [Loader]

	owners *owners
	admit  *admission.Admission
	pods   []*corev1.Pod
	made   map[string]*workload // by namespace/name of the pods made here
	sets   []*appsv1.ReplicaSet // that Deployments of the input would make
}

// maker makes the pods of one workload.
type maker struct {
	*expander
	*workload

	owner  metav1.OwnerReference
	labels map[string]string // of the template
	spec   *corev1.PodSpec   // of the template, after admission
}

// expand makes the missing pods of a workload.
func (e *expander) expand(w *workload) {
	if w.template == nil {
		return // which the API server would have refused
	}
	counts := e.owners.of(w.workloadKey)
	m := &maker{
		expander: e, workload: w, labels: w.template.Labels,
		owner: metav1.OwnerReference{APIVersion: w.apiVersion, Kind: w.kind, Name: w.name, UID: w.obj.GetUID(), Controller: lo.ToPtr(true)},
		spec:  e.admit.Spec(w.namespace, qualified(w.obj), &w.template.Spec),
	}
	switch obj := w.obj.(type) {
	case *appsv1.StatefulSet:
		m.statefulSet(obj)
	case *appsv1.Deployment:
		m.deployment(w.wanted() - counts.active)
	case *appsv1.ReplicaSet:
		// The Deployment counts for all of its ReplicaSets.
		if parent, ok := e.owners.parents[w.workloadKey]; !ok || !e.owners.inInput[parent] {
			m.number(w.wanted()-counts.active, nil, nil)
		}
	case *corev1.ReplicationController:
		m.number(w.wanted()-counts.active, nil, nil)
	case *batchv1.Job:
		if !jobFinished(obj) {
			takeRanges(counts.indexes, obj.Status.CompletedIndexes)
			m.jobPods(max(int(obj.Status.Succeeded), counts.succeeded), counts)
		}
	case *batchv1.CronJob:
		if !lo.FromPtr(obj.Spec.Suspend) && counts.all == 0 && !e.owners.jobs[w.workloadKey] {
			m.jobPods(0, counts)
		}
	}
}

// room reports whether n more pods may be made.
func (m *maker) room(n int) bool {
	most := cmp.Or(m.maxPods, DefaultMaxPods)
	if n <= most-len(m.pods) {
		return true
	}
	m.found.fault(&Fault{
		At: m.at, Object: reference(m.kind, m.obj), Field: m.count(), Value: fmt.Sprint(n),
		Message: fmt.Sprintf("more pods would make more than %d in all", most),
	})
	return false
}

// makePod makes one pod. Its labels are the template's and more.
func (m *maker) makePod(name string, more map[string]string) *corev1.Pod {
	labels := m.labels
	if len(more) > 0 {
		labels = lo.Assign(labels, more)
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       m.namespace,
			Name:            name,
			Labels:          labels,
			Annotations:     m.template.Annotations,
			OwnerReferences: []metav1.OwnerReference{m.owner},
		},
		Spec:   *m.spec,
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	m.owners.names[qualified(pod)] = true
	m.expander.made[qualified(pod)] = m.workload
	m.pods = append(m.pods, pod)
	return pod
}

// number makes n pods under the lowest numbers that are free and not taken. indexed, if
// there is one, is the label that says the number.
func (m *maker) number(n int, more map[string]string, taken map[int]bool, indexed ...string) {
	if n <= 0 || !m.room(n) {
		return
	}
	for i := 0; n > 0; i++ {
		name := fmt.Sprintf("%s-%d", m.name, i)
		if taken[i] || m.owners.names[m.namespace+"/"+name] {
			continue
		}
		for _, label := range indexed {
			more[label] = strconv.Itoa(i)
		}
		m.makePod(name, more)
		n--
	}
}

// statefulSet makes the pods of a StatefulSet whose names are not in the input.
func (m *maker) statefulSet(set *appsv1.StatefulSet) {
	want, start := m.wanted(), 0
	if set.Spec.Ordinals != nil {
		start = int(set.Spec.Ordinals.Start)
	}
	if !m.room(want) {
		return
	}
	for i := start; i < start+want; i++ {
		name := fmt.Sprintf("%s-%d", m.name, i)
		if !m.owners.names[m.namespace+"/"+name] {
			pod := m.makePod(name, map[string]string{appsv1.StatefulSetPodNameLabel: name, appsv1.PodIndexLabel: strconv.Itoa(i)})
			m.claimVolumes(pod, set.Spec.VolumeClaimTemplates)
		}
	}
}

// claimVolumes gives a pod of a StatefulSet the volumes that its claim templates
// promise, and makes the claims that are not in the input.
func (m *maker) claimVolumes(pod *corev1.Pod, templates []corev1.PersistentVolumeClaim) {
	if len(templates) == 0 {
		return
	}
	pod.Spec.Volumes = slices.Clone(pod.Spec.Volumes)
	for i := range templates {
		template := &templates[i]
		claim := template.Name + "-" + pod.Name
		volume := corev1.Volume{Name: template.Name}
		volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == template.Name })
		pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
		key := objectKey{groupKind{"", "PersistentVolumeClaim"}, m.namespace, claim}
		if _, ok := m.names.seen[key]; ok {
			continue
		}
		made := template.DeepCopy()
		made.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		made.Namespace, made.Name = m.namespace, claim
		m.names.seen[key] = Location{}
		m.objects.problem.Claims = append(m.objects.problem.Claims, made)
	}
}

// deployment makes the missing pods of a Deployment. They belong to the ReplicaSet of
// its present revision: that of the input, or else one that the Deployment would make,
// under its own name.
func (m *maker) deployment(missing int) {
	m.owner.Kind = "ReplicaSet"
	if set := m.revision(); set != nil {
		m.owner.Name, m.owner.UID, m.labels = set.Name, set.UID, set.Spec.Template.Labels
	} else if missing > 0 && !m.owners.inInput[workloadKey{"ReplicaSet", m.namespace, m.name}] {
		made := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: m.name}}
		made.Spec.Selector, made.Spec.Template = m.selector, *m.template
		m.sets = append(m.sets, made)
	}
	m.number(missing, nil, nil)
}

// revision is the newest ReplicaSet of the input with the template that the Deployment
// has now; nil if there is none.
func (m *maker) revision() (newest *appsv1.ReplicaSet) {
	for _, w := range m.objects.workloads {
		set, ok := w.obj.(*appsv1.ReplicaSet)
		if !ok || m.owners.parents[w.workloadKey] != m.workloadKey || !sameTemplate(w.template, m.template) {
			continue
		}
		if newest == nil || revisionOf(set) > revisionOf(newest) || revisionOf(set) == revisionOf(newest) && set.Name < newest.Name {
			newest = set
		}
	}
	return newest
}

// sameTemplate compares the template of a ReplicaSet with the one of its Deployment. The
// ReplicaSet's has the hash of its revision as a further label.
func sameTemplate(set, wanted *corev1.PodTemplateSpec) bool {
	own := *set
	own.Labels = maps.Clone(set.Labels)
	delete(own.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(&own, wanted)
}

// revisionOf is the number that the Deployment controller gives its ReplicaSets.
func revisionOf(set *appsv1.ReplicaSet) int {
	n, _ := strconv.Atoi(set.Annotations["deployment.kubernetes.io/revision"]) // 0 if it is none
	return n
}

// jobPods makes the pods that a Job would run now: its parallelism less its running pods, and at most
// the completions that are left. Pods of an Indexed Job get the lowest free indexes.
func (m *maker) jobPods(done int, counts *podCounts) {
	job := m.workload.job
	if lo.FromPtr(job.Suspend) {
		return
	}
	n := int(lo.FromPtrOr(job.Parallelism, 1))
	if job.Completions != nil {
		n = min(n, int(*job.Completions)-done)
	}
	labels := map[string]string{batchv1.JobNameLabel: m.name}
	if lo.FromPtr(job.CompletionMode) == batchv1.IndexedCompletion {
		m.number(n-counts.active, labels, counts.indexes, batchv1.JobCompletionIndexAnnotation)
	} else {
		m.number(n-counts.active, labels, nil)
	}
}

// takeRanges adds the compressed indexes of a Job's status, "1,3-5". Malformed parts are skipped,
// because only the controller writes the status.
func takeRanges(taken map[int]bool, text string) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, found := strings.Cut(part, "-")
		if !found {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 == nil && err2 == nil && to-from < DefaultMaxPods {
			for n := from; n <= to; n++ {
				taken[n] = true
			}
		}
	}
}
