package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
)

// catalogCommand prints instance types and their prices.
func catalogCommand(a *app) *cobra.Command {
	var market marketFlags
	var format *string
	var compared, with string
	var regions, each, sources bool
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "List instance types, zones and prices",
		Long: `Catalog lists the instance types of a catalog, the cheapest first. JSON and CSV hold all
fields and can be edited and passed back with --catalog FILE. With --compare A B it compares
the lowest prices of two catalogs, by instance type or, if they have none in common, by
vCPUs, memory, architecture and devices.`,
		Example: `  plimsoll catalog --catalog ec2/eu-west-1 --filter 'arch=arm64,cpu>=8,capacity-type=spot'
  plimsoll catalog --regions
  plimsoll catalog --compare ec2/eu-west-1 gcp/europe-west1 --filter 'cpu<=16'
  plimsoll catalog --catalog azure/eastus -o csv > mine.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if compared != "" && len(args) == 1 {
				with = args[0]
				return nil
			}
			if compared != "" {
				return errors.New("--compare takes two catalogs: --compare A B")
			}
			return noArguments("; name a catalog with --catalog")(cmd, args)
		},
		RunE: a.does(func(context.Context) error {
			if sources && *format != "table" {
				return usagef("--sources are text; --output json has them under provenance")
			}
			if regions {
				return printRegions(a, *format)
			}
			if compared != "" {
				return compareCatalogs(a, market, compared, with, *format)
			}
			m, err := market.catalog(nil)
			if err != nil {
				return err
			}
			a.warn("", m.leftOut)
			c := m.Filter(market.keep()...)
			switch {
			case sources:
				pricelists.WriteSources(&a.stdout, c)
				return nil
			case *format == "json":
				return c.WriteJSON(&a.stdout)
			case *format == "csv":
				return c.WriteCSV(&a.stdout)
			}
			rows := pricelists.Types
			if each {
				rows = pricelists.Offerings
			}
			t := &table{view: a.view, alone: true, out: &a.stdout}
			t.oldPrices(now(), c.Origin())
			t.headed(rows(c), "ZONES", "INTERRUPTED", "$/MONTH", "PODS", "DEVICES", "ARCH")
			t.line("\n%s.", pricelists.Dates(c.Origin(), false))
			return nil
		}),
	}
	market.register(cmd)
	cmd.Flags().StringVar(&compared, "compare", "", "compare the prices of `CATALOG` with those of a second catalog, given as the argument")
	cmd.Flags().BoolVar(&regions, "regions", false, "list the embedded catalogs instead")
	cmd.Flags().BoolVar(&each, "offerings", false, "print a line for each offering (instance type, zone and capacity type) instead of each instance type")
	cmd.Flags().BoolVar(&sources, "sources", false, "print the sources of the catalog's figures, and which figures are estimated")
	format = outputFlag(a, cmd, "output `FORMAT`: table, wide (a table of any width), json or csv", "table", "wide", "json", "csv")
	return cmd
}

// compareCatalogs sets two catalogs side by side, both with the filters and prices of the flags.
func compareCatalogs(a *app, flags marketFlags, first, second, format string) error {
	if flags.name != "" {
		return usagef("--compare A B names both catalogs: leave out --catalog")
	}
	if format == "json" {
		return usagef("--compare prints a table or CSV; --output json of each catalog has all of its prices")
	}
	var both [2]*instancetypes.Catalog
	var dates []string
	for i, name := range []string{first, second} {
		flags.name = name
		m, err := flags.catalog(nil)
		if err != nil {
			return err
		}
		a.warn("", m.leftOut)
		both[i] = m.Filter(flags.keep()...)
		dates = append(dates, string(rune('A'+i))+" is "+strings.TrimPrefix(pricelists.Dates(both[i].Origin(), false), "Prices: "))
	}
	result := pricelists.Compare(both[0], both[1])
	if format == "csv" {
		return csv.NewWriter(&a.stdout).WriteAll(result.Rows)
	}
	t := &table{view: a.view, alone: true, out: &a.stdout}
	t.oldPrices(now(), both[0].Origin(), both[1].Origin())
	if len(result.Rows) > 1 {
		t.headed(result.Rows, "CHEAPEST OF B", "CHEAPEST OF A")
		t.line("")
	}
	for _, line := range slices.Concat(result.Notes, dates) {
		t.line("%s.", strings.TrimSuffix(line, "."))
	}
	return nil
}

// printRegions lists the embedded catalogs, one in a line or as a list of JSON.
func printRegions(a *app, format string) error {
	names := clouds.Names()
	if format == "json" {
		return a.encode(format, "regions", names)
	}
	for _, name := range names {
		fmt.Fprintln(&a.stdout, name)
	}
	return nil
}
