package pricelist

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// gcpList is the name of the price list of Google Cloud.
const gcpList = "Cloud Billing catalog"

// sku is an entry of Google Cloud's price list.
type sku struct {
	ID          string `json:"skuId"`
	Description string `json:"description"`
	Category    struct {
		Family string `json:"resourceFamily"`
		Usage  string `json:"usageType"`
	} `json:"category"`
	Regions []string      `json:"serviceRegions"`
	Pricing []pricingInfo `json:"pricingInfo"`
}

// pricingInfo is the price of a SKU from a time on.
type pricingInfo struct {
	Expression struct {
		Unit  string `json:"usageUnit"`
		Tiers []struct {
			Price struct {
				Currency string      `json:"currencyCode"`
				Units    json.Number `json:"units"`
				Nanos    int64       `json:"nanos"`
			} `json:"unitPrice"`
		} `json:"tieredRates"`
	} `json:"pricingExpression"`
	Effective string `json:"effectiveTime"`
}

// rateKey is a machine family of a region, and how it is paid for.
type rateKey struct {
	region, family string
	by             offerings.CapacityType
}

// rates are the prices of a core and of a GiB of memory per hour, and their day.
type rates struct {
	core, memory offerings.Price
	date         string
}

// rateOf matches the description of the SKU of a machine family's cores or memory, e.g. "Spot Preemptible N2D AMD Instance Core
// running in Belgium". Custom machines, sole tenancy and reservations have further words.
var rateOf = regexp.MustCompile(`^(?:Spot )?(?:Preemptible )?(?:M1: )?(?:([A-Z]\d+[A-Z]*)(?: Predefined| AMD| Arm| Memory-optimized)? Instance|(Compute optimized)(?: Instance)?|(Memory-optimized) Instance) (Core|Ram) running in `)

// family is the machine family that a description is of, as names of machine types begin, and its unit: h for cores, GiBy.h for memory.
func family(description string) (name, unit string, ok bool) {
	m := rateOf.FindStringSubmatch(description)
	switch {
	case m == nil:
		return "", "", false
	case m[2] != "":
		name = "c2"
	case m[3] != "":
		name = "m1"
	default:
		name = strings.ToLower(m[1])
	}
	if m[4] == "Core" {
		return name, "h", true
	}
	return name, "GiBy.h", true
}

// skus reads the value of skus: the rates of machine families. result turns them into prices of machine types.
func (r *reader) skus() error {
	l := r.list(gcpList)
	return r.doc.list(func(i int) error {
		path := fmt.Sprintf("skus[%d]", i)
		var s sku
		if err := r.doc.value(path, &s); err != nil {
			return err
		}
		by, paid := map[string]offerings.CapacityType{"OnDemand": offerings.OnDemand, "Preemptible": offerings.Spot}[s.Category.Usage]
		name, unit, ok := family(s.Description)
		switch {
		case s.Category.Family != "Compute":
			l.leaveOut(fmt.Sprintf("SKUs of the resource family %q", s.Category.Family))
		case !paid:
			l.leaveOut(fmt.Sprintf("SKUs of the usage type %q", s.Category.Usage))
		case !ok:
			l.leaveOut("SKUs of neither cores nor memory of predefined machine types, e.g. of GPUs, custom machine types and sole tenancy")
		case len(s.Pricing) == 0 || len(s.Pricing[len(s.Pricing)-1].Expression.Tiers) == 0:
			l.leaveOut("SKUs without a price")
		default:
			r.rate(&s, path, name, unit, by)
		}
		return nil
	})
}

// rate notes the price of a core or a GiB in the regions of a SKU.
func (r *reader) rate(s *sku, path, name, unit string, by offerings.CapacityType) {
	l := r.list(gcpList)
	info := &s.Pricing[len(s.Pricing)-1] // in order of time
	tiers := info.Expression.Tiers
	unitPrice := tiers[len(tiers)-1].Price
	units := unitPrice.Units.String()
	if units == "" {
		units = "0"
	}
	price, err := offerings.ParsePrice(fmt.Sprintf("%s.%09d", units, unitPrice.Nanos))
	switch {
	case info.Expression.Unit != unit:
		l.leaveOut(fmt.Sprintf("SKUs of cores or memory with the unit %q", info.Expression.Unit))
		return
	case unitPrice.Currency != "USD":
		l.leaveOut(fmt.Sprintf("SKUs in %q", unitPrice.Currency))
		return
	case err != nil:
		l.fault("", path+" ("+s.ID+"): unitPrice", fmt.Sprintf("%s units and %d nanos", units, unitPrice.Nanos), err)
		return
	case price == 0:
		l.leaveOut("SKUs of cores or memory with the price 0")
		return
	}
	for _, region := range s.Regions {
		key := rateKey{region, name, by}
		known := r.rates[key]
		if known == nil {
			known = &rates{}
			r.rates[key] = known
		}
		if unit == "h" {
			known.core = price
		} else {
			known.memory = price
		}
		known.date = max(known.date, dayOf(info.Effective))
	}
}

// machineTypes adds the prices of the machine types whose cores and memory have a price.
func (r *reader) machineTypes() error {
	regions := map[string]bool{}
	for key := range r.rates {
		regions[key.region] = true
	}
	for _, region := range gcp.Regions() {
		if !regions[region] {
			continue
		}
		delete(regions, region)
		catalog, err := gcp.Catalog(region)
		if err != nil {
			return err
		}
		for t := range catalog.All() {
			l, m := r.list(gcpList), machineTypeOf(t)
			for _, by := range []offerings.CapacityType{offerings.OnDemand, offerings.Spot} {
				known := r.rates[rateKey{region, m.family, by}]
				switch {
				case known == nil:
				case known.core == 0 || known.memory == 0:
					l.leaveOut("prices of machine types whose cores or memory have no price")
				case m.unpriced != "":
					l.leaveOut("prices of machine types " + m.unpriced)
				default:
					l.add(place{region: region, instanceType: t.Name, by: by}, found{price: known.of(m.cores, m.memoryMiB), date: known.date})
				}
			}
		}
	}
	for region := range regions {
		r.list(gcpList).leaveOut("SKUs of region " + region + ", whose machine types are not known")
	}
	return nil
}

// of is the price of cores and memory, to the nearest nano-USD.
func (x *rates) of(cores, memoryMiB int64) offerings.Price {
	return x.core*offerings.Price(cores) + (x.memory*offerings.Price(memoryMiB)+512)/1024
}

// machineType is a machine type, as its bill has it.
type machineType struct {
	family           string
	cores, memoryMiB int64
	// unpriced says why the price is not that of cores and memory; "" if it is.
	unpriced string
}

// ownGiB is the ephemeral storage of the catalog's nodes without local disks, those of a boot disk.
const ownGiB = 100

// machineTypeOf reads the labels and the capacity that package gcp gives its types.
func machineTypeOf(t *instancetypes.InstanceType) (m machineType) {
	m.family = t.Labels["cloud.google.com/machine-family"]
	m.cores, _ = strconv.ParseInt(t.Labels["karpenter.k8s.gcp/instance-cpu"], 10, 64)
	m.memoryMiB, _ = strconv.ParseInt(t.Labels["karpenter.k8s.gcp/instance-memory"], 10, 64)
	storage := t.Capacity[corev1.ResourceEphemeralStorage]
	_, err := strconv.Atoi(t.Labels["karpenter.k8s.gcp/instance-size"])
	switch {
	case t.Labels["cloud.google.com/gke-accelerator"] != "":
		m.unpriced = "with accelerators"
	case storage.Value() != ownGiB<<30:
		m.unpriced = "with local disks"
	case slices.Contains([]string{"e2-micro", "e2-small", "e2-medium"}, t.Name) || err != nil:
		m.unpriced = "with a share of a core"
	}
	return m
}
