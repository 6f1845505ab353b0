package oracle

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

type offering = offerings.Offering

// launchNode is the node that a launch becomes when it is bought as the option, once it is ready, with the labels that providers
// add under older names.
func (w *world) launchNode(name string, l *scheduling.Launch, o *scheduling.LaunchOption) (*corev1.Node, error) {
	node, err := l.Node(name, o, w.problem.CatalogOf(l.NodePool))
	if err != nil {
		return nil, err
	}
	node.UID = types.UID(name)
	addAliases(node.Labels)
	return node, nil
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
