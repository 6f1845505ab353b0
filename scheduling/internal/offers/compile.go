package offers

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Purchase is what an engine option stands for: the best offer of a template among
// those that have the same room and admit the same pods.
type Purchase struct {
	Template int
	Offer    int
}

// TemplateOffers are the offers that may be bought for a template and that some pod
// could use, in rank order.
type TemplateOffers struct {
	Daemons []model.Bits // by daemon, the offers it runs on
	Rows    []model.Bits // by group, the offers that it may use; nil for none
	Soft    model.Bits   // groups that would rather avoid the pool's taints
	List    []TemplateOffer
	Crowded []TemplateOffer // offers that daemons alone would overfill: never bought
}

// TemplateOffer is one of them: what room it has and whom it admits.
type TemplateOffer struct {
	Offer  int
	Room   int
	Column int
}

// PoolLimits are the limits of a pool, nothing taken.
func PoolLimits(p *scheduling.NodePool, limited []corev1.ResourceName) []int64 {
	limits := make([]int64, len(limited))
	for d, name := range limited {
		limits[d] = podspec.Amount(name, p.Spec.Limits[name])
	}
	return limits
}
