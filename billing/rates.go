package billing

import (
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// rateIndex finds the rates of a savings plan by instance type.
type rateIndex map[string][]Rate

// index returns the rates of the commitment by instance type. The later of two rates of a type and region counts.
func (c *Commitment) index() rateIndex {
	rates := rateIndex{}
	for _, r := range c.Rates {
		rates[r.InstanceType] = append(rates[r.InstanceType], r)
	}
	return rates
}

// rate is the price of a node under a savings plan: that of its region, or else of every region, or else by the
// factor of the plan. It reports false if the plan has none for the type.
func (c *Commitment) rate(u *Usage, rates rateIndex) (price offerings.Price, known bool) {
	everywhere := false
	for _, r := range rates[u.InstanceType] {
		switch {
		case r.Region == "" && (everywhere || !known):
			price, known, everywhere = r.Price, true, true
		case r.Region != "" && offerings.InRegion(u.Zone, r.Region):
			price, known, everywhere = r.Price, true, false
		}
	}
	if !known && c.Factor > 0 {
		return offerings.Price(scaled(int64(u.Price), int64(c.Factor), nano, true)), true
	}
	return price, known
}

// sizeRatio is how many nodes of the second type a node of the first counts as, within a family: by the
// normalization factors of EC2, or by the number of vCPUs in the name of an Azure VM size. 0 is unknown,
// e.g. of EC2's bare metal.
func sizeRatio(of, in string) Units {
	a, b := sizeUnits(of), sizeUnits(in)
	if a == 0 || b == 0 {
		return 0
	}
	return Units(scaled(nano, a, b, true))
}

// sizeUnits is the size of an instance type within its family, by its name; 0 if the name does not tell it. For EC2
// the unit is a quarter of its normalization factor, of which nano has 0.25, small 1 and xlarge 8.
func sizeUnits(instanceType string) int64 {
	const xlarge = 32
	_, size, dotted := strings.Cut(instanceType, ".")
	if !dotted {
		parts := strings.Split(instanceType, "_")
		if len(parts) < 2 || strings.HasPrefix(parts[1], "B") { // sizes of burstable series are not in proportion
			return 0
		}
		name := strings.TrimLeft(parts[1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		return leadingNumber(name)
	}
	switch size {
	case "nano":
		return 1
	case "micro":
		return 2
	case "small":
		return 4
	case "medium":
		return 8
	case "large":
		return 16
	case "xlarge":
		return xlarge
	}
	size = strings.TrimPrefix(size, "metal-")
	if strings.HasSuffix(size, "xl") || strings.HasSuffix(size, "xlarge") {
		return xlarge * leadingNumber(size)
	}
	return 0
}

// leadingNumber is the decimal number that a text begins with, 0 if there is none or more than 9,999.
func leadingNumber(s string) int64 {
	end := 0
	for end < len(s) && end < 4 && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
