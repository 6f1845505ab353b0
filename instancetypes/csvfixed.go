package instancetypes

import (
	"errors"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// fixedColumns returns the columns that have one name, in the order in which they
// are written.
func fixedColumns() []csvColumn {
	capacity, label := resourcePrefixes()[0], labelPrefixes()[0]
	return append([]csvColumn{
		{
			name: "name", path: "name",
			set: func(t *InstanceType, _ *offerings.Offering, cell string) error { t.Name = cell; return nil },
			get: func(t *InstanceType, _ *offerings.Offering) string { return t.Name },
		},
		label.column(corev1.LabelArchStable).renamed("arch"),
		label.column(corev1.LabelOSStable).renamed("os"),
		capacity.column("cpu").renamed("cpu"),
		capacity.column("memory").renamed("memory"),
		capacity.column("pods").renamed("pods"),
		capacity.column("ephemeral-storage").renamed("ephemeralStorage"),
		capacity.column(gpuResource).renamed("gpu"),
	}, offeringColumns()...)
}

func offeringColumns() []csvColumn {
	column := func(name string, set func(o *offerings.Offering, cell string) error, get func(o *offerings.Offering) string) csvColumn {
		return csvColumn{
			name: name, path: name, offering: true,
			set: func(_ *InstanceType, o *offerings.Offering, cell string) error { return set(o, cell) },
			get: func(_ *InstanceType, o *offerings.Offering) string { return get(o) },
		}
	}
	return []csvColumn{
		column("zone",
			func(o *offerings.Offering, cell string) error { o.Zone = cell; return nil },
			func(o *offerings.Offering) string { return o.Zone }),
		column("capacityType",
			func(o *offerings.Offering, cell string) (err error) {
				o.CapacityType, err = offerings.ParseCapacityType(cell)
				return err
			},
			func(o *offerings.Offering) string { return string(o.CapacityType) }),
		column("price",
			func(o *offerings.Offering, cell string) (err error) {
				o.Price, err = offerings.ParsePrice(cell)
				return err
			},
			func(o *offerings.Offering) string { return o.Price.String() }),
		column("unavailable", setUnavailable, func(o *offerings.Offering) string {
			if o.Unavailable {
				return "true"
			}
			return ""
		}),
		column("interruptionRate", setInterruptionRate, func(o *offerings.Offering) string {
			if o.InterruptionRate == 0 {
				return ""
			}
			return strconv.FormatFloat(o.InterruptionRate, 'g', -1, 64)
		}),
		column("reservationID",
			func(o *offerings.Offering, cell string) error { o.ReservationID = cell; return nil },
			func(o *offerings.Offering) string { return o.ReservationID }),
		column("reservationCount", setReservationCount, func(o *offerings.Offering) string {
			if o.ReservationCount == 0 {
				return ""
			}
			return strconv.Itoa(o.ReservationCount)
		}),
		column("estimated",
			func(o *offerings.Offering, cell string) error { o.Estimated = strings.Fields(cell); return nil },
			func(o *offerings.Offering) string { return strings.Join(o.Estimated, " ") }),
	}
}

func setUnavailable(o *offerings.Offering, cell string) error {
	switch strings.ToLower(cell) { // spreadsheets write TRUE
	case "true":
		o.Unavailable = true
	case "false":
		o.Unavailable = false
	default:
		return errors.New("must be true or false")
	}
	return nil
}

func setInterruptionRate(o *offerings.Offering, cell string) error {
	rate, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return errors.New("must be a share from 0 to 1")
	}
	o.InterruptionRate = rate
	return nil
}

func setReservationCount(o *offerings.Offering, cell string) error {
	n, err := strconv.ParseInt(cell, 10, 32)
	if err != nil {
		return errors.New("must be a whole number of at most 32 bits")
	}
	o.ReservationCount = int(n)
	return nil
}
