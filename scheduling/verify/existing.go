package verify

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// existing checks the nodes that receive pods, and charges the pods to them.
func (j *judge) existing() {
	listed := make(map[string]bool)
	for i := range j.plan.Existing {
		a := &j.plan.Existing[i]
		object := "node/" + a.Node
		if listed[a.Node] {
			j.add(NodeDuplicated, object, "is listed twice")
		}
		listed[a.Node] = true
		if len(a.Pods) == 0 {
			j.add(NodeEmpty, object, "is listed without pods")
		}
		s := j.stations[a.Node]
		if s == nil {
			j.add(NodeUnknown, object, "is not in the problem")
			continue
		}
		if leaving(s.node) {
			j.add(NodeLeaving, object, "is being removed")
		}
		j.settle(object, s, a)
	}
}

// settle puts the pods of an assignment onto the node.
func (j *judge) settle(object string, s *station, a *scheduling.Assignment) {
	need := amounts{}
	for _, name := range a.Pods {
		t := j.pods[name]
		if t == nil {
			continue
		}
		if !s.admits(t.wants) {
			j.add(NodeAffinity, object, "labels do not suit pod %s", name)
		}
		if bad := untolerated(s.taints, t.pod.Spec.Tolerations); len(bad) > 0 {
			j.add(Taints, object, "pod %s does not tolerate %s", name, taintText(bad))
		}
		if p, ok := clash(t.ports, s.taken); ok {
			j.add(HostPorts, object, "port %v of pod %s is taken", p, name)
		}
		s.taken = slices.Concat(s.taken, t.ports)
		if claim, bad := s.forVolumes().outOfReach(t.mounts); bad {
			j.add(Volume, object, "the volume of claim %s, which pod %s uses, cannot be used there", claim, name)
		}
		if why, full := s.attached.excess(t.mounts, s.volumeLimit); full {
			j.add(AttachLimit, object, "pod %s: %s", name, why)
		}
		s.attached.add(t.mounts)
		need.add(t.requests)
	}
	for _, name := range exceeding(need, s.left) {
		j.add(Resources, object, "%s: pods ask for %v, %v are free", name, need.of(name), s.left.of(name))
	}
	s.left = s.left.minus(need)
}
