package validate

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// surroundings checks what tells which pods belong together: namespaces, Services and
// controllers, and the spread constraints of pods that state none.
func (c *Checker) surroundings(p *scheduling.Problem) {
	listed(c, "namespaces", p.Namespaces, func(o *corev1.Namespace) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "services", p.Services, func(o *corev1.Service) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "replicationcontrollers", p.Owners.ReplicationControllers, func(o *corev1.ReplicationController) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "replicasets", p.Owners.ReplicaSets, func(o *appsv1.ReplicaSet) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "statefulsets", p.Owners.StatefulSets, func(o *appsv1.StatefulSet) *metav1.ObjectMeta { return &o.ObjectMeta })
	for i := range p.DefaultSpread {
		s := &p.DefaultSpread[i]
		c.At = Position{List: "defaultSpread", Index: i}
		if s.MaxSkew < 1 {
			c.Add(strconv.Itoa(int(s.MaxSkew)), "must be at least 1", "maxSkew")
		}
		switch {
		case s.TopologyKey == "":
			c.Add("", "is missing", "topologyKey")
		case !LabelKey(s.TopologyKey):
			c.Add(s.TopologyKey, NotALabelKey, "topologyKey")
		}
		if s.WhenUnsatisfiable != corev1.DoNotSchedule && s.WhenUnsatisfiable != corev1.ScheduleAnyway {
			c.Add(string(s.WhenUnsatisfiable), "must be DoNotSchedule or ScheduleAnyway", "whenUnsatisfiable")
		}
	}
}

// listed checks that each object of a list is there, has a name, and is there once.
func listed[T any](c *Checker, list string, objects []*T, meta func(*T) *metav1.ObjectMeta) {
	c.names = NewNameSet(len(objects))
	for i, o := range objects {
		if c.Enter(list, i, o == nil) {
			c.named(meta(o))
		}
	}
}
