package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// raiseReservation lets the reservation of an offering have what one more node takes.
func raiseReservation(o *offerings.Offering) scheduling.Change {
	out := scheduling.Change{Kind: scheduling.ChangeReservation, Object: o.ReservationID}
	if n := o.UsePerNode(); n > 1 {
		out.To = strconv.FormatInt(n, 10)
		out.Text = "add " + out.To + ", the amount that a node takes, to the count of reservation " + o.ReservationID + ", or free as much of it"
		return out
	}
	out.Text = "add an instance to capacity reservation " + o.ReservationID + ", or free one of its instances"
	return out
}

// putOnSale is the change that lets an offer of a pool be launched.
func putOnSale(s *PlanState, pool string, x *offers.Offer) scheduling.Change {
	name := fmt.Sprintf("%s/%s/%s", x.InstanceType.Name, x.Offering.Zone, x.Offering.CapacityType)
	words := strings.ReplaceAll(name, "/", " ")
	text := "wait until " + words + " is on sale again"
	if s.leftOut(pool, x) {
		text = "let the node class or the catalog of NodePool " + pool + " have " + words
	}
	return scheduling.Change{Kind: scheduling.ChangeOffering, Object: name, Text: text}
}

// applyOffering puts an offering, named type/zone/capacity type, on sale, or lets a reservation
// have more.
func applyOffering(t *Trial, c *scheduling.Change) bool {
	found, more := false, int64(1)
	if c.Kind == scheduling.ChangeReservation && c.To != "" {
		var err error
		if more, err = strconv.ParseInt(c.To, 10, 64); err != nil {
			return false
		}
	}
	err := ChangeOfferings(t.Problem, func(name string, o *offerings.Offering) bool {
		switch {
		case c.Kind == scheduling.ChangeReservation && o.ReservationID == c.Object:
			o.ReservationCount += more
		case c.Kind == scheduling.ChangeOffering && name+"/"+o.Zone+"/"+string(o.CapacityType) == c.Object:
			o.Unavailable = false
		default:
			return false
		}
		found = true
		return true
	})
	if c.Kind == scheduling.ChangeOffering && t.Problem.Unavailable != nil {
		marks := &offerings.Unavailable{}
		parts := strings.Split(c.Object, "/")
		for k, until := range t.Problem.Unavailable.All() {
			if (k.InstanceType != "" && k.InstanceType != parts[0]) || (k.Zone != "" && k.Zone != parts[1]) || (k.CapacityType != "" && string(k.CapacityType) != parts[2]) {
				marks.Mark(k, t.Problem.Now, until.Sub(t.Problem.Now))
			}
		}
		t.Problem.Unavailable = marks
	}
	return found && err == nil
}

// ChangeOfferings changes offerings in every catalog of the problem; change reports whether it did.
func ChangeOfferings(p *scheduling.Problem, change func(instanceType string, o *offerings.Offering) bool) error {
	known := map[*instancetypes.Catalog]*instancetypes.Catalog{}
	for _, old := range instance.CatalogsOf(p) {
		var changes []instancetypes.OfferingChange
		for t := range old.All() {
			for _, o := range t.Offerings {
				if change(t.Name, &o) {
					changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
				}
			}
		}
		known[old] = old
		if len(changes) > 0 {
			made, err := old.WithOfferings(changes...)
			if err != nil {
				return err
			}
			known[old] = made
		}
	}
	p.Catalog = known[p.Catalog]
	p.PoolCatalogs = maps.Clone(p.PoolCatalogs)
	for name, old := range p.PoolCatalogs {
		p.PoolCatalogs[name] = known[old]
	}
	return nil
}

// applyPolicy changes the policy.
func applyPolicy(t *Trial, c *scheduling.Change) bool {
	s := t.Policy
	switch c.Kind {
	case scheduling.ChangeSpot:
		s.NoSpot = false
	case scheduling.ChangeFlexibility:
		s.Flexibility = scheduling.Flexibility{}
	case scheduling.ChangeFilter:
		s.Filters = slices.Clone(s.Filters)
		for i, keep := range s.Filters {
			s.Filters[i] = func(t *instancetypes.InstanceType, o offerings.Offering) bool {
				return keep == nil || keep(t, o) || t.Name+"/"+o.Zone+"/"+string(o.CapacityType) == c.Object
			}
		}
	case scheduling.ChangeWorkloadShare:
		s.WorkloadShare = 0
	default:
		q, err := resource.ParseQuantity(c.To)
		if err != nil {
			return false
		}
		name := corev1.ResourceName(c.Key)
		s.Size.Smallest, s.Size.Largest = maps.Clone(s.Size.Smallest), maps.Clone(s.Size.Largest)
		if least, ok := s.Size.Smallest[name]; ok && least.Cmp(q) > 0 {
			s.Size.Smallest[name] = q
		}
		if most, ok := s.Size.Largest[name]; ok && most.Cmp(q) < 0 {
			s.Size.Largest[name] = q
		}
	}
	t.PolicyChanged()
	return true
}
