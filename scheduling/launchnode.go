package scheduling

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// Node is the ready node of the launch, with the given name and option: it has the labels of pool, type
// and offering, the pool's taints without its start-up taints, and the allocatable that the catalog
// states, and of an offering of a commitment the annotation that names it. The catalog must be the one of the pool. Use it in simulations, because a real node is described by its kubelet, and for nodes that are starting:
// without the labels [RegisteredLabel] and [InitializedLabel] the node is in flight, and keeps its
// resources for the launch's pods. The error says that the option is nil, or that the catalog does
// not have it.
func (l *Launch) Node(name string, option *LaunchOption, catalog *instancetypes.Catalog) (*corev1.Node, error) {
	if option == nil {
		return nil, fmt.Errorf("launch %s: the option is missing", l.Name)
	}
	t, ok := catalog.Get(option.InstanceType)
	if !ok {
		return nil, fmt.Errorf("launch %s: the catalog has no instance type %s", l.Name, option.InstanceType)
	}
	i := slices.IndexFunc(t.Offerings, func(o offerings.Offering) bool {
		return o.Zone == option.Zone && o.CapacityType == option.CapacityType && o.ReservationID == option.ReservationID
	})
	if i < 0 {
		return nil, fmt.Errorf("launch %s: the catalog does not offer %s as %s in zone %q", l.Name, option.InstanceType, option.CapacityType, option.Zone)
	}
	offering := t.Offerings[i]
	sold := t.NodeLabels(offering)
	labels := map[string]string{}
	wellKnown := requirements.WellKnown()
	for i := range l.Requirements {
		// Providers set the labels of requirements that a launch passes on.
		s := &l.Requirements[i]
		if wellKnown.Has(s.Key) && s.Operator == requirements.In && len(s.Values) > 0 {
			labels[s.Key] = s.Values[0]
		}
	}
	maps.Copy(labels, l.Labels)
	maps.Copy(labels, sold)
	labels[NodePoolLabel] = l.NodePool
	labels[corev1.LabelHostname] = name
	labels[RegisteredLabel], labels[InitializedLabel] = "true", "true"
	var annotations map[string]string
	if offering.Commitment {
		annotations = map[string]string{offerings.CommitmentAnnotation: offering.ReservationID}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations},
		Spec:       corev1.NodeSpec{Taints: slices.Clone(l.Taints)},
		Status: corev1.NodeStatus{
			Capacity:    t.CapacityOf(offering),
			Allocatable: t.AllocatableOf(offering),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}, nil
}
