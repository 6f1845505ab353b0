package karpenter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// labelKeys are the keys that a catalog's types and offerings carry.
type labelKeys struct{ types, offerings sets.Set[string] }

func keysOf(catalogs ...*instancetypes.Catalog) labelKeys {
	k := labelKeys{types: sets.New[string](), offerings: sets.New[string](offerings.ReservationIDLabel)}
	for _, catalog := range catalogs {
		for t := range catalog.All() {
			for key := range t.Labels {
				k.types.Insert(key)
			}
			for i := range t.Offerings {
				for key := range t.Offerings[i].NodeLabels() {
					k.offerings.Insert(key)
				}
			}
		}
	}
	return k
}

// register tells Karpenter which labels its cloud provider knows, as providers do when
// their package is loaded. Pods may select on them although no NodePool names them.
// Karpenter keeps them in global variables without a lock, so that problems are to be
// loaded one after the other, and not while one is being solved.
func register(k labelKeys) {
	cloudprovider.ReservationIDLabel = offerings.ReservationIDLabel
	cloudprovider.ReservedCapacityLabels.Insert(offerings.ReservationIDLabel)
	// The provider of every cloud registers what its storage drivers call a zone.
	for _, key := range []string{"topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.disk.csi.azure.com/zone"} {
		karpv1.NormalizedLabels[key] = corev1.LabelTopologyZone
	}
	for _, keys := range []sets.Set[string]{k.types, k.offerings} {
		for key := range keys {
			karpv1.WellKnownLabels.Insert(key)
		}
	}
}
