package offers

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// RankedOffers is the offers of some catalogs in rank order, all that does not depend on pods
// and on what is unavailable for a while.
type RankedOffers struct {
	Catalogs []*instancetypes.Catalog
	OfferTable
	Lists []shapeLists // by shape
	// sized is the shapes' room by the resources that were asked for last.
	Sized  []Shape
	Names  []corev1.ResourceName
	Ranked []int32 // see offerTable.ranks
}

// shapeLists are what a shape is made of.
type shapeLists struct{ Allocatable, Capacity corev1.ResourceList }
