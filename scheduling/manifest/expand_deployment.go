package manifest

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// deployment makes the missing pods of a Deployment. They belong to the ReplicaSet of
// its present revision: that of the input, or else one that the Deployment would make,
// under its own name.
func (e *expander) deployment(f found[*appsv1.Deployment]) {
	set := e.revision(f.obj)
	owner, template := f.obj.Name, f.obj.Spec.Template.DeepCopy()
	if set != nil {
		owner, template.Labels = set.Name, set.Spec.Template.Labels
	}
	want := 1
	if f.obj.Spec.Replicas != nil {
		want = int(*f.obj.Spec.Replicas)
	}
	m := e.maker(f.at, "Deployment", "apps/v1", f.obj, "spec.replicas", template)
	m.owner.Kind, m.owner.Name = "ReplicaSet", owner
	missing := want - e.owners.active[workload{"Deployment", f.obj.Namespace, f.obj.Name}]
	switch {
	case set != nil:
		m.owner.UID = set.UID
	case missing > 0 && !e.owners.inInput[workload{"ReplicaSet", f.obj.Namespace, owner}]:
		made := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.obj.Namespace, Name: owner}}
		made.Spec.Selector, made.Spec.Template = f.obj.Spec.Selector, *template
		e.sets = append(e.sets, made)
	}
	m.number(missing, nil)
}

// revision is the newest ReplicaSet of the input with the template that the Deployment
// has now; nil if there is none.
func (e *expander) revision(d *appsv1.Deployment) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	self := workload{"Deployment", d.Namespace, d.Name}
	for _, f := range e.c.replicaSets {
		if e.owners.parents[workload{"ReplicaSet", f.obj.Namespace, f.obj.Name}] != self || !sameTemplate(&f.obj.Spec.Template, &d.Spec.Template) {
			continue
		}
		if newest == nil || revisionOf(f.obj) > revisionOf(newest) || revisionOf(f.obj) == revisionOf(newest) && f.obj.Name < newest.Name {
			newest = f.obj
		}
	}
	return newest
}

// sameTemplate compares what a ReplicaSet makes with what its Deployment wants. The
// ReplicaSet's pods have their revision's hash as a label.
func sameTemplate(set, wanted *corev1.PodTemplateSpec) bool {
	set = set.DeepCopy()
	set.Labels = maps.Clone(set.Labels)
	delete(set.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(set, wanted)
}

// revisionOf is the number that the Deployment controller gives its ReplicaSets.
func revisionOf(set *appsv1.ReplicaSet) int {
	n, err := strconv.Atoi(set.Annotations["deployment.kubernetes.io/revision"])
	if err != nil {
		return 0
	}
	return n
}

// controllers are the owners of pods that have selectors.
func (e *expander) controllers() scheduling.Owners {
	o := scheduling.Owners{ReplicaSets: e.sets}
	for _, f := range e.c.replicaSets {
		o.ReplicaSets = append(o.ReplicaSets, f.obj)
	}
	for _, f := range e.c.statefulSets {
		o.StatefulSets = append(o.StatefulSets, f.obj)
	}
	for _, f := range e.c.controllers {
		o.ReplicationControllers = append(o.ReplicationControllers, f.obj)
	}
	return o
}
