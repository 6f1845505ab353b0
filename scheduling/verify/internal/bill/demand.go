package bill

import (
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// demand is the amount that a node takes of a commitment, in billionths, if all of a price is covered.
type demand struct{ amount, price *big.Int }

// better compares the prices for each unit of the commitment.
func (d *demand) better(than *demand) int {
	return new(big.Int).Mul(d.price, than.amount).Cmp(new(big.Int).Mul(than.price, d.amount))
}

// one is a unit in billionths.
const one = 1_000_000_000

// demandOf returns the demand of a node; nil if the commitment does not cover it.
func demandOf(m *billing.Commitment, n *node) *demand {
	if n == nil || n.CapacityType != offerings.OnDemand || n.Price <= 0 || m.Zone != "" && n.Zone != m.Zone || m.Region != "" && !offerings.InRegion(n.Zone, m.Region) {
		return nil
	}
	if len(m.Families) > 0 && !slices.Contains(m.Families, billing.FamilyOf(n.InstanceType)) {
		return nil
	}
	d := &demand{price: big.NewInt(int64(n.Price))}
	switch m.Kind {
	case billing.ReservedInstances:
		d.amount = sizesOf(m, n.InstanceType)
	case billing.VCPUs:
		d.amount = quotient(n.MilliCPU, one, 1000)
		d.part(m.UnitPrice)
	case billing.MemoryGiB:
		d.amount = quotient(n.MemoryMiB, one, 1024)
		d.part(m.UnitPrice)
	case billing.SavingsPlan:
		d.amount = rateOf(m, n)
		if d.amount != nil && d.amount.Cmp(d.price) >= 0 {
			return nil
		}
	}
	if d.amount == nil || d.amount.Sign() < 0 || d.amount.Sign() == 0 && m.Kind != billing.SavingsPlan || d.price.Sign() <= 0 {
		return nil
	}
	return d
}

// part limits the price to that of the amount at a price for each unit, rounded down.
func (d *demand) part(unit offerings.Price) {
	part := new(big.Int).Mul(d.amount, big.NewInt(int64(unit)))
	if part.Quo(part, big.NewInt(one)); part.Cmp(d.price) < 0 {
		d.price = part
	}
}

// quotient is a × b ÷ c, rounded up.
func quotient(a, b, c int64) *big.Int {
	n := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return n.Quo(n.Add(n, big.NewInt(c-1)), big.NewInt(c))
}

// rateOf is the rate of a node under a savings plan: the last that is stated for its type in its region, else for its type
// everywhere, else by the factor, rounded up; nil if there is none.
func rateOf(m *billing.Commitment, n *node) (rate *big.Int) {
	if m.Factor > 0 {
		rate = quotient(int64(n.Price), int64(m.Factor), one)
	}
	for _, regional := range []bool{false, true} {
		for _, r := range m.Rates {
			if r.InstanceType == n.InstanceType && (r.Region != "") == regional && (!regional || offerings.InRegion(n.Zone, r.Region)) {
				rate = big.NewInt(int64(r.Price))
			}
		}
	}
	return rate
}

// sizesOf is how many of a commitment's reserved instances a node of a type takes, rounded up; nil if it takes none.
func sizesOf(m *billing.Commitment, instanceType string) *big.Int {
	if instanceType == m.InstanceType {
		return big.NewInt(one)
	}
	a, b := sizeOf(instanceType), sizeOf(m.InstanceType)
	if !m.SizeFlexible || a == 0 || b == 0 || billing.FamilyOf(instanceType) != billing.FamilyOf(m.InstanceType) {
		return nil
	}
	return quotient(a, one, b)
}

var (
	// ec2Size is the size of an EC2 type, e.g. "large" of "m5.large", or 24 of "m5.24xlarge" and "m5.metal-24xl".
	ec2Size = regexp.MustCompile(`^[^.]+\.(?:(nano|micro|small|medium|large|xlarge)|(?:metal-)?([1-9][0-9]{0,3})xl(?:arge)?)$`)
	// azureSize is the number of vCPUs in the name of an Azure VM size, e.g. 8 of "Standard_D8s_v5". Sizes of burstable series are
	// not in proportion.
	azureSize = regexp.MustCompile(`^[^._]+_[AC-Z][A-Z]*([1-9][0-9]{0,3})`)
)

// sizeOf is the size of a type within its family, in quarters of EC2's normalization factor or in vCPUs; 0 if it is not known.
func sizeOf(instanceType string) int64 {
	if found := azureSize.FindStringSubmatch(instanceType); found != nil {
		return number(found[1])
	}
	found := ec2Size.FindStringSubmatch(instanceType)
	switch {
	case found == nil:
		return 0
	case found[1] != "":
		return 1 << slices.Index(strings.Fields("nano micro small medium large xlarge"), found[1])
	}
	return 32 * number(found[2])
}

// number is a number of at most four digits.
func number(digits string) (n int64) {
	for _, d := range digits {
		n = 10*n + int64(d-'0')
	}
	return n
}
