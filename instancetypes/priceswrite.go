package instancetypes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// WriteJSON writes prices of single instance types so that [ReadPrices] reads them: a line for each, in order of region,
// instance type, capacity type and zone, with its day and its price list. Equal prices give equal bytes, in any order.
// The error names changes that are not prices of one type, i.e. patterns, factors and amounts that are added, because
// these depend on their order, and on the catalog.
func (p *Prices) WriteJSON(w io.Writer) error {
	var fs faults
	for i, x := range p.Changes {
		problem := ""
		switch {
		case x.InstanceType == "" || isPattern(x.InstanceType) || isPattern(x.Zone):
			problem = "is not of a single instance type"
		case !x.Price.Replaces():
			problem = "is no price, but a change of prices by " + x.Price.String()
		case x.CapacityType == "":
			problem = "has no capacity type"
		}
		if problem != "" {
			fs.add(&CatalogFault{Type: x.InstanceType, Field: fmt.Sprintf("prices[%d]", i), Problem: problem})
		}
	}
	if err := fs.err(); err != nil {
		return fmt.Errorf("not a list of prices: %w", err)
	}
	sorted := slices.SortedFunc(slices.Values(p.Changes), func(a, b PriceChange) int {
		return cmp.Or(strings.Compare(a.Region, b.Region), strings.Compare(a.InstanceType, b.InstanceType), strings.Compare(string(a.CapacityType), string(b.CapacityType)),
			strings.Compare(a.Zone, b.Zone), strings.Compare(a.ZoneID, b.ZoneID), strings.Compare(a.Date, b.Date), strings.Compare(a.Price.String(), b.Price.String()))
	})
	var out bytes.Buffer
	out.WriteString("{\"prices\":[")
	separator := "\n"
	for _, x := range sorted {
		text, err := json.Marshal(priceEntry{
			x.Region, x.InstanceType, x.CapacityType, x.Zone, x.ZoneID, json.Number(x.Price.String()), cmp.Or(x.Date, p.Date), x.PriceList,
		})
		if err != nil {
			return fmt.Errorf("writing prices: %w", err)
		}
		out.WriteString(separator + string(text))
		separator = ",\n"
	}
	out.WriteString("\n]}\n")
	_, err := w.Write(out.Bytes())
	return err
}

// priceEntry is an entry of a file of prices.
type priceEntry struct {
	Region       string                 `json:"region,omitempty"`
	InstanceType string                 `json:"instanceType"`
	CapacityType offerings.CapacityType `json:"capacityType"`
	Zone         string                 `json:"zone,omitempty"`
	ZoneID       string                 `json:"zoneID,omitempty"`
	Price        json.Number            `json:"price"`
	Date         string                 `json:"date,omitempty"`
	PriceList    string                 `json:"priceList,omitempty"`
}
