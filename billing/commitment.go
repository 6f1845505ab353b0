package billing

import (
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Kind says in which unit a commitment is counted.
type Kind string

// The kinds of commitments.
const (
	// SavingsPlan is an amount of USD per hour: a compute or EC2 instance savings plan of AWS, a savings
	// plan of Azure, or a spend-based committed-use discount of Google Cloud. A node takes its rate.
	SavingsPlan Kind = "savings-plan"
	// ReservedInstances is a number of nodes of InstanceType: reserved instances of AWS, or a
	// reservation of Azure. Where sizes are flexible, a node of another size of the family takes
	// as many of them as it is larger.
	ReservedInstances Kind = "reserved-instances"
	// VCPUs is a number of vCPUs, and MemoryGiB of GiB of memory: the two parts of a resource-based
	// committed-use discount of Google Cloud. Each covers its part of the price of a node.
	VCPUs     Kind = "vcpus"
	MemoryGiB Kind = "memory-gib"
)

// Kinds returns the kinds of commitments, in the order in which they are applied.
func Kinds() []Kind { return []Kind{ReservedInstances, VCPUs, MemoryGiB, SavingsPlan} }

// Unit is the unit of the kind's amounts, for people.
func (k Kind) Unit() string {
	switch k {
	case ReservedInstances:
		return "nodes"
	case VCPUs:
		return "vCPUs"
	case MemoryGiB:
		return "GiB"
	case SavingsPlan:
		return "USD per hour"
	}
	return string(k)
}

// Commitment is usage that is paid in advance: a finite amount per hour of some instance types.
type Commitment struct {
	// ID names the commitment. It must be unique, and a valid label value.
	ID string `json:"id"`
	// Kind says in which unit Amount is.
	Kind Kind `json:"kind"`
	// Amount is how much is committed per hour, more than 0 and at most [MaxUnits]; a whole number of reserved instances.
	Amount Units `json:"amount"`
	// UsedElsewhere is the part of Amount that usage outside of the nodes of the input takes. 0 is none, Amount all of it.
	UsedElsewhere Units `json:"usedElsewhere,omitempty"`
	// InUse is the part of the Amount of reserved instances that the cloud counts as in use, by nodes of the input or
	// elsewhere: [FillUsedElsewhere] tells them apart. 0 is none, or not known.
	InUse Units `json:"inUse,omitempty"`
	// CostPerHour is the price of the commitment per hour, upfront payments included. Empty is Amount for
	// a savings plan, and unknown for other kinds.
	CostPerHour offerings.Price `json:"costPerHour,omitempty"`
	// Ends is the first day on which the commitment does not apply, as YYYY-MM-DD; empty if unknown.
	Ends string `json:"ends,omitempty"`

	// Region limits coverage to the zones of a region, Zone to one zone. Empty is everywhere.
	Region string `json:"region,omitempty"`
	Zone   string `json:"zone,omitempty"`
	// Families limits coverage to instance families, as [FamilyOf] names them. Empty is every family.
	Families []string `json:"families,omitempty"`
	// InstanceType is the type of reserved instances; other kinds have none.
	InstanceType string `json:"instanceType,omitempty"`
	// SizeFlexible says that reserved instances also cover other sizes of the family. Zonal ones of AWS never do.
	SizeFlexible bool `json:"sizeFlexible,omitempty"`

	// UnitPrice is the list price of a vCPU or GiB per hour, which says how much of a node's price
	// [VCPUs] or [MemoryGiB] cover. [FillUnitPrices] derives it from a catalog.
	UnitPrice offerings.Price `json:"unitPrice,omitempty"`
	// Rates are the prices of nodes under a savings plan. A type that has none pays Factor of its
	// list price; where that is empty, the plan does not cover the type.
	Rates []Rate `json:"rates,omitempty"`
	// Factor is 1 less the discount of a savings plan, e.g. 0.72 for 28 %.
	Factor Units `json:"factor,omitempty"`
}

// Rate is the price of an instance type under a savings plan.
type Rate struct {
	// InstanceType is the type, Region the region; an empty region is every one.
	InstanceType string `json:"instanceType"`
	Region       string `json:"region,omitempty"`
	// Price is the amount of the plan that a node takes.
	Price offerings.Price `json:"price"`
}

// DeepCopy returns a commitment that shares no memory with c.
func (c Commitment) DeepCopy() Commitment {
	c.Families, c.Rates = slices.Clone(c.Families), slices.Clone(c.Rates)
	return c
}

// Left is the amount that usage outside of the input leaves.
func (c *Commitment) Left() Units { return max(c.Amount-max(c.UsedElsewhere, 0), 0) }

// Expired reports whether the commitment has ended at a time. One without an end, or with an end that is
// not a day, has not.
func (c *Commitment) Expired(at time.Time) bool {
	end, err := time.Parse(time.DateOnly, c.Ends)
	return err == nil && !at.Before(end)
}

// Cost is the price of the commitment per hour, and whether it is known.
func (c *Commitment) Cost() (price offerings.Price, known bool) {
	if c.CostPerHour == 0 && c.Kind == SavingsPlan {
		return offerings.Price(c.Amount), true
	}
	return c.CostPerHour, c.CostPerHour > 0
}

// Covers reports whether the commitment covers a node at all, if it has enough left. Only on-demand nodes are covered, and by
// a savings plan only types of which a rate below the list price is known.
func (c *Commitment) Covers(u *Usage) bool {
	if c == nil || u == nil {
		return false
	}
	if c.byResource() {
		return c.covers(u)
	}
	_, ok := c.demand(u, c.index())
	return ok
}

// byResource reports whether the commitment is of a resource of nodes rather than of nodes.
func (c *Commitment) byResource() bool { return c.Kind == VCPUs || c.Kind == MemoryGiB }

// covers reports whether the commitment covers nodes of a usage at all.
func (c *Commitment) covers(u *Usage) bool { return c.excludes(u) == "" }

// excludes is the field that excludes nodes of a usage from the commitment, "" for none: the first of kind, region, zone, instanceType
// and families. Only on-demand nodes are covered: clouds do not apply commitments to spot nodes, and a capacity reservation has a
// price of its own.
func (c *Commitment) excludes(u *Usage) string {
	switch {
	case u.CapacityType != offerings.OnDemand || u.Price <= 0:
		return "kind"
	case c.Region != "" && !offerings.InRegion(u.Zone, c.Region):
		return "region"
	case c.Zone != "" && c.Zone != u.Zone:
		return "zone"
	case c.Kind == ReservedInstances:
		sameFamily := c.SizeFlexible && FamilyOf(c.InstanceType) == FamilyOf(u.InstanceType)
		if !sameFamily && u.InstanceType != c.InstanceType {
			return "instanceType"
		}
	case len(c.Families) > 0 && !slices.Contains(c.Families, FamilyOf(u.InstanceType)):
		return "families"
	}
	return ""
}

// Uncovering returns the first field because of which the commitment covers no offering of a catalog, e.g. a region or an instance type that the
// catalog does not have; nil if it covers one. Such a commitment is paid all the same.
func (c *Commitment) Uncovering(catalog *instancetypes.Catalog) *CommitmentError {
	if c == nil || catalog == nil {
		return nil
	}
	exclusions := []string{"kind", "region", "zone", "instanceType", "families", "rates"}
	last, rates := 0, c.index()
	for t := range catalog.All() {
		for i := range t.Offerings {
			u := UsageOf("", t, &t.Offerings[i])
			field := c.excludes(&u)
			if field == "" {
				if _, ok := c.demand(&u, rates); ok || c.byResource() {
					return nil
				}
				field = "rates"
			}
			last = max(last, slices.Index(exclusions, field))
		}
	}
	field := exclusions[last]
	value := map[string]string{"kind": string(c.Kind), "region": c.Region, "zone": c.Zone, "instanceType": c.InstanceType, "families": strings.Join(c.Families, ", ")}[field]
	problem := "matches no on-demand offering of catalog " + catalog.Name()
	if field == "rates" {
		problem = "none is below a list price of catalog " + catalog.Name()
	}
	return &CommitmentError{Commitment: c.ID, Field: field, Value: value, Problem: problem}
}

// FamilyOf is the family by which commitments are sold, from the name of an instance type: "m7i" of "m7i.large",
// "n2" of "n2-highmem-4", "Standard_D_v5" of "Standard_D8_v5".
func FamilyOf(instanceType string) string {
	if strings.Contains(instanceType, ".") || strings.Contains(instanceType, "_") {
		return offerings.Family(instanceType)
	}
	series, _, _ := strings.Cut(instanceType, "-")
	return series
}

// precedence orders commitments as clouds apply them: the narrower of two of a kind comes first.
func (c *Commitment) precedence() int {
	order := 2 * slices.Index(Kinds(), c.Kind)
	if c.Zone == "" && len(c.Families) == 0 {
		order++
	}
	return order
}
