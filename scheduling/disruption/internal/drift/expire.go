package drift

import (
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// defaultExpireAfter is the life of a node whose pool does not set expireAfter, as in Karpenter.
const defaultExpireAfter = 720 * time.Hour

// Expired reports whether a machine is past its expireAfter. Its own comes first, because its pool may have changed since the
// launch. A machine without either (pool is nil), or without a time of creation, does not expire.
func Expired(created, now time.Time, own *scheduling.NillableDuration, pool *scheduling.NodePool) bool {
	after := own
	if after == nil && pool != nil {
		after = pool.Spec.Template.Spec.ExpireAfter
		if after == nil {
			after = &scheduling.NillableDuration{Duration: new(defaultExpireAfter)}
		}
	}
	return !created.IsZero() && after != nil && after.Duration != nil && !now.Before(created.Add(*after.Duration))
}
