package offers

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// NarrowToVolumes keeps the offers whose machines, bought for a template, can use all
// volumes of a pod.
func (t *OfferTable) NarrowToVolumes(row model.Bits, v *Template, c *podspec.Constraint) {
	for _, terms := range c.Volumes {
		matched := model.NewBits(len(t.Offers))
		for i := range terms {
			if alternative := t.Matching(v, &terms[i]); alternative != nil {
				matched.Or(alternative)
			}
		}
		row.And(matched)
	}
}
