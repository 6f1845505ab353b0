package oracle

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

type offering = offerings.Offering

// launchNode is the node that a launch becomes when it is bought as the option.
func (w *world) launchNode(name string, l *scheduling.Launch, o *scheduling.LaunchOption) (*corev1.Node, error) {
	t, of, err := w.offering(l.NodePool, o)
	if err != nil {
		return nil, err
	}
	labels := maps.Clone(l.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	sold := t.NodeLabels(*of)
	wellKnown := requirements.WellKnown()
	for i := range l.Requirements {
		// Labels that the launch requires of the provider are set by the provider.
		s := &l.Requirements[i]
		if _, given := sold[s.Key]; !given && wellKnown.Has(s.Key) && s.Operator == requirements.In && len(s.Values) > 0 {
			if _, given := labels[s.Key]; !given {
				labels[s.Key] = s.Values[0]
			}
		}
	}
	return newMachine(name, t, of, labels, l.Taints), nil
}

// newMachine is a node as it is once it has become ready, start-up taints gone.
func newMachine(name string, t *instancetypes.InstanceType, o *offering, labels map[string]string, taints []corev1.Taint) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: maps.Clone(labels)},
		Spec:       corev1.NodeSpec{Taints: taints},
		Status: corev1.NodeStatus{
			Capacity:    t.CapacityOf(*o),
			Allocatable: t.AllocatableOf(*o),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	maps.Copy(n.Labels, t.NodeLabels(*o))
	n.Labels[corev1.LabelHostname] = name
	n.Labels[scheduling.RegisteredLabel] = "true"
	n.Labels[scheduling.InitializedLabel] = "true"
	addAliases(n.Labels)
	return n
}

// addAliases adds the older names that kubelet, cloud provider and storage drivers
// put on nodes beside the stable ones.
func addAliases(labels map[string]string) {
	for alias, key := range aliases() {
		if value, ok := labels[key]; ok {
			if _, taken := labels[alias]; !taken {
				labels[alias] = value
			}
		}
	}
}

// aliases are other names of labels, with the stable ones.
func aliases() map[string]string {
	return map[string]string{
		"beta.kubernetes.io/arch":           corev1.LabelArchStable,
		"beta.kubernetes.io/os":             corev1.LabelOSStable,
		corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
		corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
		corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
		"topology.ebs.csi.aws.com/zone":     corev1.LabelTopologyZone,
		"topology.disk.csi.azure.com/zone":  corev1.LabelTopologyZone,
		"topology.gke.io/zone":              corev1.LabelTopologyZone,
	}
}
