package offerings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Validate reports everything that is wrong with the offering, joined into one
// error of which each line names the field and the value. A reserved offering
// needs a reservation id, since reservations are counted by it. A count needs an
// id. Only spot offerings have an interruption rate.
func (o Offering) Validate() error {
	var faults faultList
	if o.Zone == "" {
		faults.add("zone: must not be empty")
	} else {
		faults.label("zone", o.Zone)
	}
	if _, err := ParseCapacityType(string(o.CapacityType)); err != nil {
		faults.add("capacityType: %w", err)
	}
	if o.Price < 0 {
		faults.add("price: %v: must not be negative", o.Price)
	}
	if o.RankingSurcharge < 0 {
		faults.add("rankingSurcharge: %v: must not be negative", o.RankingSurcharge)
	}
	o.validateReservation(&faults)
	// Written so that NaN fails too.
	if !(o.InterruptionRate >= 0 && o.InterruptionRate <= 1) {
		faults.add("interruptionRate: %v: want a share from 0 to 1", o.InterruptionRate)
	} else if o.InterruptionRate > 0 && o.CapacityType != Spot {
		faults.add("interruptionRate: %v: only spot offerings have one, this is %s", o.InterruptionRate, o.CapacityType)
	}
	faults.resources("capacity", o.Capacity)
	faults.resources("overhead", o.Overhead)
	o.validateLabels(&faults)
	for _, field := range o.Estimated {
		if !slices.Contains(estimable(), field) {
			faults.add("estimated: %s: want one of %s", quoteShort(field), strings.Join(estimable(), ", "))
		}
	}
	return errors.Join(faults...)
}

// mostReserved is the largest count of a reservation, mostUsePerNode the largest amount that a node may take of it. With these,
// the amount of a million nodes is within an int64.
const mostReserved, mostUsePerNode = 1_000_000_000_000_000, 1_000_000_000_000

func (o Offering) validateReservation(faults *faultList) {
	switch {
	case o.Counted():
		faults.label("reservationID", o.ReservationID)
	case o.CapacityType == Reserved:
		faults.add("reservationID: must not be empty, since reservations are counted by it")
	case o.ReservationCount != 0:
		faults.add("reservationCount: %d: needs a reservationID, since nodes are counted by it", o.ReservationCount)
	case o.ReservationUse != 0:
		faults.add("reservationUse: %d: needs a reservationID, since nodes are counted by it", o.ReservationUse)
	case o.Commitment:
		faults.add("commitment: true: needs a reservationID, which names the commitment")
	}
	if o.Commitment && o.CapacityType == Reserved {
		faults.add("commitment: true: nodes of capacity type reserved are in a reservation; a commitment needs another capacity type")
	}
	faults.amount("reservationCount", o.ReservationCount, mostReserved)
	faults.amount("reservationUse", o.ReservationUse, mostUsePerNode)
}

func (o Offering) validateLabels(faults *faultList) {
	if len(o.Labels) == 0 {
		return
	}
	own := Offering{Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID, Commitment: o.Commitment}.NodeLabels()
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		value := o.Labels[key]
		// Older names of a key say the same thing and must not contradict it either.
		name := requirements.NormalizeKey(key)
		if !requirements.ValidLabelKey(key) {
			for _, message := range validation.IsQualifiedName(key) {
				faults.add("labels: key %s: %s", quoteShort(key), message)
			}
		}
		faults.label("labels["+key+"]", value)
		if want, ok := own[name]; ok && want != value {
			faults.add("labels[%s]: %s: contradicts %s, which the offering says elsewhere", key, quoteShort(value), quoteShort(want))
		}
		if _, carried := o.ReservationLabel(); name == ReservationIDLabel && !carried {
			faults.add("labels[%s]: %s: needs the same reservationID, of a reservation or inventory", key, quoteShort(value))
		}
	}
}

// estimable lists the fields that [Offering.Estimated] may name.
func estimable() []string {
	return []string{"capacity", "interruptionRate", "overhead", "price", "reservationCount", "unavailable", "zone"}
}

// faultList collects the faults of one object.
type faultList []error

func (f *faultList) add(format string, args ...any) {
	*f = append(*f, fmt.Errorf(format, args...))
}

// amount reports a number of a reservation that is not in 0 to most.
func (f *faultList) amount(field string, n, most int64) {
	switch {
	case n < 0:
		f.add("%s: %d: must not be negative", field, n)
	case n > most:
		f.add("%s: %d: must be at most %d", field, n, most)
	}
}

// label reports a text that cannot be the value of a label.
func (f *faultList) label(field, value string) {
	if requirements.ValidLabelValue(value) {
		return
	}
	for _, message := range validation.IsValidLabelValue(value) {
		f.add("%s: %s: %s", field, quoteShort(value), message)
	}
}

func (f *faultList) resources(field string, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		if name == "" {
			f.add("%s: resource name must not be empty", field)
		}
		if quantity.Sign() < 0 {
			f.add("%s[%s]: %s: must not be negative", field, name, quantity.String())
		}
	}
}
