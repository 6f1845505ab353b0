package instancetypes

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// label returns the value of one label of a node of type t bought at o, as
// [InstanceType.NodeLabels] has it, without building the map. The key is in its
// stable form, and so are those of the type and the offering.
func (t *InstanceType) label(o *offerings.Offering, key string) (string, bool) {
	switch key {
	case offerings.ZoneLabel:
		return o.Zone, o.Zone != ""
	case offerings.CapacityTypeLabel:
		return string(o.CapacityType), o.CapacityType != ""
	case offerings.ReservationIDLabel:
		if o.CapacityType == offerings.Reserved && o.ReservationID != "" {
			return o.ReservationID, true
		}
	}
	if value, ok := o.Labels[key]; ok {
		return value, true
	}
	value, ok := t.Labels[key]
	return value, ok
}

// matcher is a conjunction of requirements in the form that is quickest to test
// against many offerings.
type matcher []requirements.Requirement

func newMatcher(set requirements.Set) matcher { return slices.Collect(set.All()) }

// matches reports whether a node of type t bought at o satisfies the requirements.
// extra holds labels that the node has besides; the type's and the offering's come
// first.
func (m matcher) matches(t *InstanceType, o *offerings.Offering, extra map[string]string) bool {
	for i := range m {
		value, ok := t.label(o, m[i].Key())
		if !ok {
			value, ok = extra[m[i].Key()]
		}
		if ok && !m[i].Has(value) || !ok && !m[i].AllowsAbsent() {
			return false
		}
	}
	return true
}

// mentions reports whether a requirement is about one of the labels.
func (m matcher) mentions(labels map[string]string) bool {
	return slices.ContainsFunc(m, func(r requirements.Requirement) bool {
		_, ok := labels[r.Key()]
		return ok
	})
}
