package pricelists

import (
	"bytes"
	"fmt"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// WriteSources says where the figures of a catalog come from.
func WriteSources(w *bytes.Buffer, c *instancetypes.Catalog) {
	for _, p := range c.Provenance() {
		fmt.Fprintln(w, p.Source)
		for _, field := range []struct{ name, text string }{
			{"date", p.Date}, {"licence", p.License}, {"covers", p.Covers},
			{"prices", joined(p.Prices)}, {"estimated prices", joined(p.PricesEstimated)},
		} {
			if field.text != "" {
				fmt.Fprintf(w, "  %s: %s\n", field.name, field.text)
			}
		}
		for _, e := range p.Estimated {
			fmt.Fprintf(w, "  estimated: %s\n", e)
		}
	}
}

// joined joins capacity types for people.
func joined(list []offerings.CapacityType) string {
	return figures.Join(lo.Map(list, func(ct offerings.CapacityType, _ int) string { return string(ct) }))
}
