package billing

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// linux is the operating system of nodes, as AWS names it in commitments and rates.
func linux(product string) bool {
	return product == "" || product == "Linux/UNIX" || product == "Linux/UNIX (Amazon VPC)"
}

// savingsPlans reads the output of aws savingsplans describe-savings-plans.
func (r *reading) savingsPlans(fields map[string]json.RawMessage) {
	var plans []struct {
		ID         string `json:"savingsPlanId"`
		OfferingID string `json:"offeringId"`
		End        string `json:"end"`
		State      string `json:"state"`
		Region     string `json:"region"`
		Family     string `json:"ec2InstanceFamily"`
		Type       string `json:"savingsPlanType"`
		Commitment string `json:"commitment"`
		Currency   string `json:"currency"`
	}
	if err := json.Unmarshal(fields["savingsPlans"], &plans); err != nil {
		r.fault("savingsPlans: %w", err)
		return
	}
	if r.plans == nil {
		r.plans = map[string]string{}
	}
	for _, p := range plans {
		switch {
		case p.State != "active":
			r.skip("savings plans that are " + p.State)
			continue
		case p.Type != "Compute" && p.Type != "EC2Instance":
			r.skip("savings plans of type " + p.Type)
			continue
		case p.Currency != "" && p.Currency != "USD":
			r.skip("savings plans in " + p.Currency)
			continue
		}
		amount, err := offerings.ParsePrice(p.Commitment)
		if err != nil {
			r.fault("savings plan %s: commitment: %w", p.ID, err)
			continue
		}
		c := Commitment{ID: p.ID, Kind: SavingsPlan, Amount: Units(amount), Ends: day(p.End)}
		if p.Type == "EC2Instance" {
			c.Region, c.Families = p.Region, []string{p.Family}
		}
		r.plans[p.ID] = p.OfferingID
		r.add(c)
	}
}

// yearSeconds is the duration of a savings plan for a year, as AWS states it.
const yearSeconds = 365 * 24 * 3600

// rateProperties are the properties of a rate: an object for offerings, a list of names and values for plans.
type rateProperties map[string]string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *rateProperties) UnmarshalJSON(data []byte) error {
	var pairs []struct{ Name, Value string }
	err := json.Unmarshal(data, &pairs)
	if *p = (rateProperties{}); err != nil {
		return json.Unmarshal(data, (*map[string]string)(p))
	}
	for _, pair := range pairs {
		(*p)[pair.Name] = pair.Value
	}
	return nil
}

// savingsPlanRates reads the output of aws savingsplans describe-savings-plan-rates, which names the plan, or of
// describe-savings-plans-offering-rates, in which each rate names its offering.
func (r *reading) savingsPlanRates(fields map[string]json.RawMessage) {
	var plan string
	var rates []struct {
		Rate       string         `json:"rate"`
		Unit       string         `json:"unit"`
		Currency   string         `json:"currency"`
		Product    string         `json:"productType"`
		UsageType  string         `json:"usageType"`
		Properties rateProperties `json:"properties"`
		Offering   struct {
			ID       string `json:"offeringId"`
			Currency string `json:"currency"`
			Payment  string `json:"paymentOption"`
			Type     string `json:"planType"`
			Seconds  int64  `json:"durationSeconds"`
		} `json:"savingsPlanOffering"`
	}
	if id, ok := fields["savingsPlanId"]; ok {
		if err := json.Unmarshal(id, &plan); err != nil {
			r.fault("savingsPlanId: %w", err)
			return
		}
	}
	if err := json.Unmarshal(fields["searchResults"], &rates); err != nil {
		r.fault("searchResults: %w", err)
		return
	}
	if r.rates == nil {
		r.rates, r.offers = map[string][]Rate{}, map[string]string{}
	}
	for _, x := range rates {
		p := x.Properties
		switch {
		case x.Product != "EC2":
			r.skip("rates of " + x.Product)
			continue
		case !linux(p["productDescription"]):
			r.skip("rates of " + p["productDescription"])
			continue
		case p["tenancy"] != "" && p["tenancy"] != "shared":
			r.skip("rates of " + p["tenancy"] + " tenancy")
			continue
		case !strings.Contains(x.UsageType, "BoxUsage"):
			r.skip("rates of usage other than running instances")
			continue
		case x.Currency != "" && x.Currency != "USD" || x.Offering.Currency != "" && x.Offering.Currency != "USD":
			r.skip("rates that are not in USD")
			continue
		}
		_, instanceType, _ := strings.Cut(x.UsageType, "BoxUsage:")
		if name := p["instanceType"]; name != "" {
			instanceType = name
		}
		price, err := offerings.ParsePrice(x.Rate)
		if err != nil {
			r.fault("rate of %s: %w", instanceType, err)
			continue
		}
		of := plan
		if of == "" {
			of = x.Offering.ID
			r.offers[of] = strings.ToLower(strings.ReplaceAll(fmt.Sprintf("%s-%dy-%s", x.Offering.Type, x.Offering.Seconds/yearSeconds, x.Offering.Payment), " ", "-"))
		}
		r.rates[of] = append(r.rates[of], Rate{InstanceType: instanceType, Region: p["region"], Price: price})
	}
}

// charges are the prices of reserved instances: a part that is paid at once for a duration in seconds, and parts per hour.
type charges struct {
	CurrencyCode     string
	FixedPrice       json.Number
	Duration         int64
	RecurringCharges []struct {
		Amount    json.Number
		Frequency string
	}
}

// perHour is the price of a node per hour; 0 in another currency than USD.
func (c *charges) perHour() (offerings.Price, error) {
	if c.CurrencyCode != "" && c.CurrencyCode != "USD" {
		return 0, nil
	}
	cost, err := parseCharge(c.FixedPrice)
	if c.Duration > 0 {
		cost = offerings.Price(scaled(int64(cost), 3600, c.Duration, true))
	}
	for _, charge := range c.RecurringCharges {
		hourly, failed := parseCharge(charge.Amount)
		if failed != nil {
			err = failed
		} else if charge.Frequency == "Hourly" {
			cost = offerings.Sum(cost, hourly)
		}
	}
	return cost, err
}

// skipInstances notes instances that are not of Linux on shared hardware.
func (r *reading) skipInstances(of, product, tenancy string) bool {
	switch {
	case !linux(product):
		r.skip(of + " of " + product)
	case tenancy != "" && tenancy != "default":
		r.skip(of + " of " + tenancy + " tenancy")
	default:
		return false
	}
	return true
}

// capacityReservations reads the output of aws ec2 describe-capacity-reservations: open reservations, which any node of the type
// in the zone uses.
func (r *reading) capacityReservations(fields map[string]json.RawMessage) {
	var list []struct {
		CapacityReservationID                      string `json:"CapacityReservationId"`
		InstanceType, InstancePlatform, Tenancy    string
		AvailabilityZone, State, EndDate           string
		InstanceMatchCriteria                      string
		TotalInstanceCount, AvailableInstanceCount int64
	}
	if err := json.Unmarshal(fields["CapacityReservations"], &list); err != nil {
		r.fault("CapacityReservations: %w", err)
		return
	}
	for _, x := range list {
		switch most := int64(MaxUnits / nano); {
		case x.State != "active":
			r.skip("capacity reservations that are " + x.State)
		case x.InstanceMatchCriteria != "open":
			r.skip("capacity reservations that nodes must name: the status of an EC2NodeClass has them")
		case r.skipInstances("capacity reservations", x.InstancePlatform, x.Tenancy):
		case x.TotalInstanceCount < 1 || x.TotalInstanceCount > most:
			r.fault("capacity reservation %s: TotalInstanceCount: %d: must be from 1 to %v", x.CapacityReservationID, x.TotalInstanceCount, MaxUnits)
		case x.AvailableInstanceCount < 0 || x.AvailableInstanceCount > x.TotalInstanceCount:
			r.fault("capacity reservation %s: AvailableInstanceCount: %d: must be from 0 to TotalInstanceCount %d", x.CapacityReservationID, x.AvailableInstanceCount, x.TotalInstanceCount)
		default:
			r.addTo(&r.input.Reservations, Commitment{
				ID: x.CapacityReservationID, Kind: ReservedInstances, Amount: Units(x.TotalInstanceCount) * nano, InUse: Units(x.TotalInstanceCount-x.AvailableInstanceCount) * nano,
				InstanceType: x.InstanceType, Zone: x.AvailabilityZone, Ends: day(x.EndDate),
			})
		}
	}
}

// reservedInstancesOfferings reads the output of aws ec2 describe-reserved-instances-offerings.
func (r *reading) reservedInstancesOfferings(fields map[string]json.RawMessage) {
	var list []struct {
		charges

		ReservedInstancesOfferingID                       string `json:"ReservedInstancesOfferingId"`
		InstanceType, ProductDescription, InstanceTenancy string
		AvailabilityZone                                  string
	}
	if err := json.Unmarshal(fields["ReservedInstancesOfferings"], &list); err != nil {
		r.fault("ReservedInstancesOfferings: %w", err)
		return
	}
	for _, x := range list {
		if r.skipInstances("offerings of reserved instances", x.ProductDescription, x.InstanceTenancy) {
			continue
		}
		cost, err := x.perHour()
		if err != nil {
			r.fault("offering %s: %w", x.ReservedInstancesOfferingID, err)
			continue
		}
		r.input.Offers = append(r.input.Offers, Commitment{
			ID: x.ReservedInstancesOfferingID, Kind: ReservedInstances, InstanceType: x.InstanceType, Zone: x.AvailabilityZone,
			SizeFlexible: x.AvailabilityZone == "", CostPerHour: cost,
		})
	}
}

// reservedInstances reads the output of aws ec2 describe-reserved-instances. It names no region for those that apply in
// a whole region: they apply to every zone of the catalog.
func (r *reading) reservedInstances(fields map[string]json.RawMessage) {
	var list []struct {
		charges

		ReservedInstancesID string `json:"ReservedInstancesId"`
		InstanceType        string
		InstanceCount       int64
		ProductDescription  string
		InstanceTenancy     string
		Scope               string
		AvailabilityZone    string
		State               string
		End                 string
	}
	if err := json.Unmarshal(fields["ReservedInstances"], &list); err != nil {
		r.fault("ReservedInstances: %w", err)
		return
	}
	for _, x := range list {
		switch {
		case x.State != "active":
			r.skip("reserved instances that are " + x.State)
			continue
		case r.skipInstances("reserved instances", x.ProductDescription, x.InstanceTenancy):
			continue
		case x.InstanceCount < 0 || x.InstanceCount > int64(MaxUnits/nano):
			r.fault("reserved instances %s: InstanceCount: %d: must be from 1 to %v", x.ReservedInstancesID, x.InstanceCount, MaxUnits)
			continue
		}
		c := Commitment{ID: x.ReservedInstancesID, Kind: ReservedInstances, Amount: Units(x.InstanceCount) * nano, InstanceType: x.InstanceType, Ends: day(x.End)}
		if x.Scope == "Availability Zone" {
			c.Zone = x.AvailabilityZone
		} else {
			c.SizeFlexible = true
		}
		cost, err := x.perHour()
		if err != nil {
			r.fault("reserved instances %s: %w", x.ReservedInstancesID, err)
			continue
		}
		c.CostPerHour, _ = cost.Times(x.InstanceCount)
		r.add(c)
	}
}

// parseCharge reads an amount of USD; an absent one is 0.
func parseCharge(n json.Number) (offerings.Price, error) {
	if n == "" {
		return 0, nil
	}
	return offerings.ParsePrice(n.String())
}
