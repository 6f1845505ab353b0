package pricelist

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// azureList is the name of the price list of Azure.
const azureList = "Azure retail price list"

// meter is an item of Azure's retail prices.
type meter struct {
	Service  string      `json:"serviceName"`
	Product  string      `json:"productName"`
	Size     string      `json:"armSkuName"`
	SKU      string      `json:"skuName"`
	Meter    string      `json:"meterName"`
	Region   string      `json:"armRegionName"`
	Kind     string      `json:"type"`
	Unit     string      `json:"unitOfMeasure"`
	Currency string      `json:"currencyCode"`
	Price    json.Number `json:"retailPrice"`
	Since    string      `json:"effectiveStartDate"`
	Primary  bool        `json:"isPrimaryMeterRegion"`
}

// reason says why a meter is left out; "" if it is the machine of a Linux node.
func (m *meter) reason() string {
	switch {
	case m.Service != "Virtual Machines":
		return fmt.Sprintf("prices of the service %q", m.Service)
	case m.Kind != "Consumption":
		return fmt.Sprintf("prices of the type %q", m.Kind)
	case strings.Contains(m.Product, "Windows"):
		return "prices of Windows"
	case strings.Contains(m.Product, "Cloud Services") || strings.Contains(m.Product, "CloudServices"):
		return "prices of Cloud Services"
	case strings.Contains(m.Product, "Dedicated Host"):
		return "prices of dedicated hosts"
	case strings.Contains(m.SKU+m.Meter, "Low Priority"):
		return "prices of low priority"
	case m.Unit != "1 Hour":
		return fmt.Sprintf("prices per %q", m.Unit)
	case m.Currency != "USD":
		return fmt.Sprintf("prices in %q", m.Currency)
	case m.Size == "" || m.Region == "":
		return "prices without armSkuName or armRegionName"
	}
	return ""
}

// meters reads the value of Items. A size may have several meters, of which the primary one counts, and the newest of these.
// The list has no date of its own: it states since when a price is valid, which may be years ago.
func (r *reader) meters() error {
	l := r.list(azureList)
	return r.doc.list(func(i int) error {
		path := fmt.Sprintf("Items[%d]", i)
		var m meter
		if err := r.doc.value(path, &m); err != nil {
			return err
		}
		if reason := m.reason(); reason != "" {
			l.leaveOut(reason)
			return nil
		}
		at := place{region: m.Region, instanceType: m.Size, by: offerings.OnDemand}
		if strings.Contains(m.SKU+m.Meter, "Spot") {
			at.by = offerings.Spot
		}
		price, err := offerings.ParsePrice(m.Price.String())
		switch {
		case m.Price == "":
			l.fault(m.Size, path+": retailPrice", "", errors.New("is missing"))
		case err != nil:
			l.fault(m.Size, path+": retailPrice", m.Price.String(), err)
		case price == 0:
			l.leaveOut("prices of 0")
		default:
			l.add(at, found{price: price, rank: fmt.Sprint(m.Primary) + m.Since}) // "true" is above "false"
		}
		return nil
	})
}
