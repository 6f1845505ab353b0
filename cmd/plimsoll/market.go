package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/samber/lo"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/regions"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// assumedCatalog is the catalog if neither a flag nor the input names one.
const assumedCatalog = "ec2/us-east-1"

// marketFlags are the flags that choose the catalog, its prices, and the offerings that may be bought.
type marketFlags struct {
	name    string
	prices  []string
	billing []string
	filters []instancetypes.Filter
	types   []offerings.CapacityType
	said    []string // the filters and types as they were written
}

// register adds the flags to a command.
func (f *marketFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "catalog", "", "instance types and prices: an embedded `CATALOG` such as ec2/eu-west-1 (plimsoll catalog --regions lists them), a JSON or CSV file, or kwok:FILE for a file of Karpenter's KWOK provider; default: the region of the input's nodes and volumes, or else of its NodePools; "+assumedCatalog+" if they name none and no object is of another cloud")
	flags.StringArrayVar(&f.prices, "prices", nil, "override catalog prices with `FILE`: a file of plimsoll prices or a price list that it reads, or YAML, JSON or CSV with prices and factors by instanceType, region, zone and capacityType, or committed:1y or committed:3y for committed-use prices of the gcp catalogs; may be repeated, later files override earlier ones")
	flags.StringArrayVar(&f.billing, "billing", nil, "commitments that are paid anyway, commitments on offer and discounts, from `FILE`: YAML, or the output of the commands of aws, gcloud and az that list savings plans, reserved instances, capacity reservations, commitments and offers (see concepts/prices of the documentation); may be repeated")
	textFlag(flags, "filter", "only consider types matching `EXPRESSION`, such as 'category in (c m r),generation>=6,arch=arm64'; may be repeated", func(text string) error {
		filter, err := instancetypes.ParseFilter(text)
		f.filters, f.said = append(f.filters, filter), append(f.said, fmt.Sprintf("--filter %q", text))
		return err
	})
	listFlag(cmd, "capacity-types", "only launch these capacity `TYPES` (reserved, spot, on-demand), preferred in this order if the strategy ranks them equal", func(text string) error {
		c, err := offerings.ParseCapacityType(text)
		f.types, f.said = lo.Uniq(append(f.types, c)), append(f.said, "--capacity-types "+text)
		return err
	})
	grouped(cmd, groupMarket)
}

// keep returns the filters that an offering must pass to be bought.
func (f *marketFlags) keep() []instancetypes.Filter {
	if len(f.types) == 0 {
		return f.filters
	}
	return append(slices.Clone(f.filters), instancetypes.ByCapacityType(f.types...))
}

// market is a catalog with the prices and discounts of the flags.
type market struct {
	*instancetypes.Catalog
	// assumed says that neither a flag nor the input names the catalog.
	assumed bool
	// billing are the commitments and discounts of --billing. full is the catalog before the discounts.
	billing billing.Input
	full    *instancetypes.Catalog
	// leftOut warns of prices and discounts that were not used or are not plausible.
	leftOut []scheduling.Warning
}

// catalog returns the catalog for the region of the input, which may be nil. It is an error if no offering passes the
// filters.
func (f *marketFlags) catalog(input *manifest.Snapshot) (*market, error) {
	m, err := f.open(input)
	if err != nil {
		return nil, err
	}
	if m.Filter(f.keep()...).Len() == 0 {
		return nil, fmt.Errorf("catalog %s: none of the %d instance types meets %s", m.Name(), m.Len(), strings.Join(f.said, " and "))
	}
	return m, nil
}

// open returns the catalog for the region of the input, with the prices and discounts of the flags, the zone names of the nodes, and the
// capacity that the nodes of the input report.
func (f *marketFlags) open(input *manifest.Snapshot) (*market, error) {
	name := f.name
	if name == "" {
		var err error
		if name, err = regions.Located(input); err != nil {
			return nil, err
		}
	}
	m := &market{assumed: name == ""}
	var err error
	if m.assumed {
		if name, err = regions.Assumed(input, assumedCatalog); err != nil {
			return nil, err
		}
	}
	if m.Catalog, err = clouds.Read(name); err != nil {
		return nil, within("--catalog "+name, err)
	}
	if m.Len() == 0 {
		return nil, fmt.Errorf("catalog %s is empty: it has no instance types", name)
	}
	if err := regions.Elsewhere(input, m.Catalog); err != nil {
		return nil, err
	}
	var nodes []*corev1.Node
	if input != nil {
		nodes = lo.Map(input.Problem.Nodes, func(n *corev1.Node, _ int) *corev1.Node { return manifest.PaidFor(n) })
	}
	zones, err := instancetypes.ZoneNames(nodes)
	if err != nil {
		return nil, err
	}
	if m.Catalog, err = m.WithZones(zones); err != nil {
		return nil, err
	}
	for _, file := range f.prices {
		warnings, err := m.lay(file)
		if err != nil {
			return nil, within("--prices "+file, err)
		}
		for _, w := range warnings {
			m.leftOut = append(m.leftOut, scheduling.Warning{Object: file, Message: w})
		}
	}
	if err := m.discount(f.billing); err != nil {
		return nil, err
	}
	if m.full, err = m.full.WithNodes(nodes); err != nil {
		return nil, err
	}
	m.Catalog, err = m.WithNodes(nodes)
	return m, err
}

// discount reads files of --billing, and takes their discounts off the catalog's prices.
func (m *market) discount(files []string) (err error) {
	if m.billing, err = bills.Read(files, now()); err != nil {
		return err
	}
	discounted, unused, err := billing.Discounted(m.Catalog, "discounts of "+strings.Join(files, ", "), m.billing.Discounts)
	if err != nil {
		return fmt.Errorf("--billing: %w", err)
	}
	if w := clouds.Implausible(m.Catalog, discounted); w != "" {
		m.leftOut = append(m.leftOut, scheduling.Warning{Object: strings.Join(files, ", "), Message: w})
	}
	m.full, m.Catalog = m.Catalog, discounted
	for _, i := range unused {
		m.leftOut = append(m.leftOut, scheduling.Warning{Object: strings.Join(files, ", "), Message: fmt.Sprintf("discounts[%d]: left out: no offering of catalog %s matches it without matching a later one", i, m.Name())})
	}
	return nil
}

// lay replaces prices of the catalog by the prices of a file. The warnings name the prices that were left out.
func (m *market) lay(file string) (warnings []string, err error) {
	prices, err := clouds.ReadPrices(m.Name(), file)
	if err != nil {
		return nil, err
	}
	m.Catalog, warnings, err = clouds.WithPrices(m.Catalog, prices)
	return warnings, err
}

// withoutPath is an error of opening a file without the file's name.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// within puts the name of a file or flag before each line of an error.
func within(name string, err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = name + ": " + line
	}
	return errors.New(strings.Join(lines, "\n"))
}
