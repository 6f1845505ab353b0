package pricelist

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// ec2List is the name of AWS's price list.
const ec2List = "EC2 price list"

// product is a product of AWS's price list, as far as it is read.
type product struct {
	SKU        string     `json:"sku"`
	Family     string     `json:"productFamily"`
	Attributes attributes `json:"attributes"`
}

// attributes say which machine a product is, and how it is paid for.
type attributes struct {
	InstanceType    string `json:"instanceType"`
	RegionCode      string `json:"regionCode"`
	LocationType    string `json:"locationType"`
	OperatingSystem string `json:"operatingSystem"`
	Tenancy         string `json:"tenancy"`
	CapacityStatus  string `json:"capacitystatus"`
	Software        string `json:"preInstalledSw"`
	MarketOption    string `json:"marketoption"`
}

// term is a way to pay for a product.
type term struct {
	Dimensions map[string]struct {
		Unit  string            `json:"unit"`
		Price map[string]string `json:"pricePerUnit"` // by currency
	} `json:"priceDimensions"`
}

// offer is an element of PriceList: a product with its terms.
type offer struct {
	Product product `json:"product"`
	Terms   struct {
		OnDemand map[string]term `json:"OnDemand"`
	} `json:"terms"`
	Published string `json:"publicationDate"`
}

// reason says why a product is left out; "" if it is the machine of a Linux node.
func (p *product) reason() string {
	a := &p.Attributes
	switch {
	case a.InstanceType == "" || p.Family != "Compute Instance" && p.Family != "Compute Instance (bare metal)":
		return fmt.Sprintf("products of the family %q", p.Family)
	case a.OperatingSystem != "Linux":
		return fmt.Sprintf("products with the operating system %q", a.OperatingSystem)
	case a.Tenancy != "Shared":
		return fmt.Sprintf("products of the tenancy %q", a.Tenancy)
	case !slices.Contains([]string{"", "NA"}, a.Software):
		return "products with pre-installed software"
	case !slices.Contains([]string{"", "Used"}, a.CapacityStatus):
		return fmt.Sprintf("products of the capacity status %q", a.CapacityStatus)
	case !slices.Contains([]string{"", "OnDemand"}, a.MarketOption):
		return fmt.Sprintf("products of the market option %q", a.MarketOption)
	case !slices.Contains([]string{"", "AWS Region"}, a.LocationType):
		return fmt.Sprintf("products of the location type %q", a.LocationType)
	case a.RegionCode == "":
		return "products without a region code"
	}
	return ""
}

// offers reads the value of PriceList: offers, each as text or as an object.
func (r *reader) offers() error {
	return r.doc.list(func(i int) error {
		path := fmt.Sprintf("PriceList[%d]", i)
		var raw json.RawMessage
		if err := r.doc.value(path, &raw); err != nil {
			return err
		}
		if raw[0] == '"' {
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			raw = json.RawMessage(text)
		}
		var o offer
		if err := json.Unmarshal(raw, &o); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if reason := o.Product.reason(); reason != "" {
			r.list(ec2List).leaveOut(reason)
			return nil
		}
		r.sell(&o.Product, o.Terms.OnDemand, dayOf(o.Published), path)
		return nil
	})
}

// offerFileProducts reads the value of products in an offer file, by SKU.
func (r *reader) offerFileProducts() error {
	return r.doc.object(func(sku string) error {
		var p product
		if err := r.doc.value("products."+sku, &p); err != nil {
			return err
		}
		if reason := p.reason(); reason != "" {
			r.list(ec2List).leaveOut(reason)
		} else {
			r.products[sku] = p
		}
		return nil
	})
}

// offerFileTerms reads the value of terms in an offer file. It stands after the products, because of all SKUs
// only those of Linux nodes are kept.
func (r *reader) offerFileTerms() error {
	return r.doc.object(func(kind string) error {
		if kind != "OnDemand" {
			return r.doc.skip()
		}
		return r.doc.object(func(sku string) error {
			p, ok := r.products[sku]
			if !ok {
				return r.doc.skip()
			}
			path := "terms.OnDemand." + sku
			var terms map[string]term
			if err := r.doc.value(path, &terms); err != nil {
				return err
			}
			r.sell(&p, terms, r.published, path)
			return nil
		})
	})
}

// sell adds the price of a product.
func (r *reader) sell(p *product, terms map[string]term, date, path string) {
	l := r.list(ec2List)
	at := place{region: p.Attributes.RegionCode, instanceType: p.Attributes.InstanceType, by: offerings.OnDemand}
	sold := false
	for _, key := range slices.Sorted(maps.Keys(terms)) {
		for _, code := range slices.Sorted(maps.Keys(terms[key].Dimensions)) {
			d := terms[key].Dimensions[code]
			text, inUSD := d.Price["USD"]
			price, err := offerings.ParsePrice(text)
			switch {
			case d.Unit != "Hrs":
				l.leaveOut(fmt.Sprintf("prices per %q", d.Unit))
			case !inUSD:
				l.leaveOut("prices in a currency other than USD")
			case err != nil:
				l.fault(at.instanceType, path+": pricePerUnit.USD", text, err)
			case price == 0:
				l.leaveOut("prices of 0")
			default:
				l.add(at, found{price: price, date: date})
			}
			sold = true
		}
	}
	if !sold {
		l.leaveOut("products without a price on demand")
	}
}

// spotList is the name of the history of EC2's spot prices.
const spotList = "EC2 spot price history"

// spotPrice is the price of spot nodes from a time on.
type spotPrice struct {
	AvailabilityZone   string
	AvailabilityZoneID string `json:"AvailabilityZoneId"`
	InstanceType       string
	ProductDescription string
	SpotPrice          string
	Timestamp          string
}

// regionName matches the region that the name of a zone begins with: us-east-1 of us-east-1a, and of the local zone us-east-1-bos-1a.
var regionName = regexp.MustCompile(`^[a-z]+(?:-[a-z]+)+-\d+`)

// history reads the value of SpotPriceHistory. The newest price of a type in a zone counts. It has held until the history
// was asked for, of which the file does not state the time: the day of the newest price of all is the nearest one that is known.
func (r *reader) history() error {
	l := r.list(spotList)
	return r.doc.list(func(i int) error {
		path := fmt.Sprintf("SpotPriceHistory[%d]", i)
		var s spotPrice
		if err := r.doc.value(path, &s); err != nil {
			return err
		}
		if s.ProductDescription != "Linux/UNIX" && s.ProductDescription != "Linux/UNIX (Amazon VPC)" {
			l.leaveOut(fmt.Sprintf("prices of %q", s.ProductDescription))
			return nil
		}
		price, err := offerings.ParsePrice(s.SpotPrice)
		day := dayOf(s.Timestamp)
		switch {
		case s.InstanceType == "" || s.AvailabilityZone == "" && s.AvailabilityZoneID == "":
			l.fault(s.InstanceType, path, s.SpotPrice, errors.New("has no zone or no instance type"))
		case day == "":
			l.fault(s.InstanceType, path+": Timestamp", s.Timestamp, errors.New("must be a time such as 2026-11-20T06:16:23Z"))
		case err != nil:
			l.fault(s.InstanceType, path+": SpotPrice in "+s.AvailabilityZone, s.SpotPrice, err)
		default:
			at := place{region: regionName.FindString(s.AvailabilityZone), zone: s.AvailabilityZone, zoneID: s.AvailabilityZoneID, instanceType: s.InstanceType, by: offerings.Spot}
			l.add(at, found{price: price, rank: s.Timestamp})
			l.newest = max(l.newest, day)
		}
		return nil
	})
}
