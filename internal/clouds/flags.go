package clouds

import (
	"flag"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// Flags are the flags --catalog and --prices. They mean the same as for the command plimsoll.
type Flags struct {
	catalog string
	prices  []string
}

// Register adds the flags to those of a program. byDefault describes the catalog without --catalog.
func (f *Flags) Register(flags *flag.FlagSet, byDefault string) {
	flags.StringVar(&f.catalog, "catalog", "", "instance types and prices: an embedded `CATALOG` such as ec2/eu-west-1, a JSON or CSV file, or kwok:FILE (default: "+byDefault+")")
	flags.Func("prices", "override catalog prices with `FILE`, or with committed:1y or committed:3y; may be repeated, later ones override earlier ones", func(name string) error {
		f.prices = append(f.prices, name)
		return nil
	})
}

// Catalog reads the catalog of the flag; nil without the flag.
func (f *Flags) Catalog() (*instancetypes.Catalog, error) {
	if f.catalog == "" {
		return nil, nil
	}
	c, err := Read(f.catalog)
	if err != nil {
		return nil, fmt.Errorf("--catalog %s: %w", f.catalog, err)
	}
	return c, nil
}

// Prices reads the prices of the flags, in their order, for a catalog; nil is any catalog.
func (f *Flags) Prices(catalog *instancetypes.Catalog) (prices []instancetypes.Prices, err error) {
	for _, name := range f.prices {
		p, err := ReadPrices(catalog.Name(), name)
		if err != nil {
			return nil, fmt.Errorf("--prices %s: %w", name, err)
		}
		prices = append(prices, p)
	}
	return prices, nil
}
