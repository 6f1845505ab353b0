package schedulingtest

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// owners draws services and controllers, and constraints for pods without their own.
func (w *world) owners(p *scheduling.Problem, groups [][]*corev1.Pod) {
	if !w.oneIn(5) {
		return
	}
	p.DefaultSpread = append(p.DefaultSpread, DefaultSpread(corev1.LabelTopologyZone, Skew(int32(w.between(1, 3)))))
	if w.oneIn(2) {
		p.DefaultSpread[0].WhenUnsatisfiable = corev1.ScheduleAnyway
	}
	if w.oneIn(2) {
		p.DefaultSpread = append(p.DefaultSpread, DefaultSpread(corev1.LabelHostname, Skew(int32(w.between(2, 5)))))
	}
	for i, g := range groups {
		app := g[0].Labels["app"]
		labels := map[string]string{"app": app}
		if tier, ok := g[0].Labels["tier"]; ok && w.oneIn(3) {
			labels = map[string]string{"tier": tier}
		}
		namespace := g[0].Namespace
		name := app
		switch w.IntN(7) {
		case 0, 1:
			p.Services = append(p.Services, Service(namespace, name, labels))
		case 2:
			p.Services = append(p.Services, Service(namespace, name, nil))
		case 3:
			apply(g, OwnedBy("ReplicaSet", name))
			p.Owners.ReplicaSets = append(p.Owners.ReplicaSets, ReplicaSet(namespace, name, selecting(labels, nil)))
		case 4:
			apply(g, OwnedBy("StatefulSet", name))
			p.Owners.StatefulSets = append(p.Owners.StatefulSets, StatefulSet(namespace, name, selecting(labels, []requirements.Selector{In("app", app)})))
		case 5:
			apply(g, OwnedBy("ReplicationController", name))
			p.Owners.ReplicationControllers = append(p.Owners.ReplicationControllers, ReplicationController(namespace, name, maps.Clone(labels)))
			if i%2 == 0 {
				p.Services = append(p.Services, Service(namespace, name, map[string]string{"app": app}))
			}
		}
	}
}
