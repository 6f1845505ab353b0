package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// catalogCommand prints what is on sale.
func (a *app) catalogCommand() *cobra.Command {
	var market marketFlags
	var format *string
	var compared, with string
	var regions, each, sources bool
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Print what is on sale",
		Long: `Catalog prints the instance types of a catalog, the cheapest first. JSON and CSV hold
everything that is known of them and can be edited and passed back with --catalog FILE.
With --compare A B it sets the lowest prices of two catalogs side by side, by type or, if
they have none in common, by cores, memory, architecture and devices.`,
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
				return a.printRegions(*format)
			}
			if compared != "" {
				return a.compareCatalogs(market, compared, with, *format)
			}
			m, err := market.catalog(nil)
			if err != nil {
				return err
			}
			for _, w := range m.leftOut {
				a.say("warning: %s: %s", w.Object, w.Message)
			}
			c := m.Filter(market.keep()...)
			switch {
			case sources:
				writeSources(&a.stdout, c)
				return nil
			case *format == "json":
				return c.WriteJSON(&a.stdout)
			case *format == "csv":
				return c.WriteCSV(&a.stdout)
			}
			rows := typeRows
			if each {
				rows = offeringRows
			}
			t := &table{view: a.view, alone: true}
			t.headed(rows(c), "ZONES", "INTERRUPTED", "$/MONTH", "PODS", "DEVICES", "ARCH")
			t.line("\n%s.", pricelists.Dates(c, false))
			_, err = t.out.WriteTo(&a.stdout)
			return err
		}),
	}
	market.register(cmd)
	cmd.Flags().StringVar(&compared, "compare", "", "set the prices of `CATALOG` beside those of another one, which is the argument")
	cmd.Flags().BoolVar(&regions, "regions", false, "list the embedded catalogs instead")
	cmd.Flags().BoolVar(&each, "offerings", false, "print a line for each offering, not for each type")
	cmd.Flags().BoolVar(&sources, "sources", false, "print where the catalog's figures come from, and which are estimated")
	format = a.outputFlag(cmd, "how to print it: `FORMAT` is table, wide (a table of any width), json or csv", "table", "wide", "json", "csv")
	return cmd
}

// compareCatalogs sets two catalogs side by side, both with the filters and prices of the flags.
func (a *app) compareCatalogs(flags marketFlags, first, second, format string) error {
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
		for _, w := range m.leftOut {
			a.say("warning: %s: %s", w.Object, w.Message)
		}
		both[i] = m.Filter(flags.keep()...)
		dates = append(dates, string(rune('A'+i))+" is "+strings.TrimPrefix(pricelists.Dates(both[i], false), "Prices: "))
	}
	result := pricelists.Compare(both[0], both[1])
	if format == "csv" {
		return csv.NewWriter(&a.stdout).WriteAll(result.Rows)
	}
	t := &table{view: a.view, alone: true}
	if len(result.Rows) > 1 {
		t.headed(result.Rows, "CHEAPEST OF B", "CHEAPEST OF A")
		t.line("")
	}
	for _, line := range slices.Concat(result.Notes, dates) {
		t.line("%s.", strings.TrimSuffix(line, "."))
	}
	_, err := t.out.WriteTo(&a.stdout)
	return err
}

// printRegions lists the embedded catalogs, one in a line or as a list of JSON.
func (a *app) printRegions(format string) error {
	names := clouds.Names()
	if format == "json" {
		return a.encode(format, "regions", names)
	}
	for _, name := range names {
		fmt.Fprintln(&a.stdout, name)
	}
	return nil
}

// writeSources says where the figures of a catalog come from.
func writeSources(w *bytes.Buffer, c *instancetypes.Catalog) {
	for _, p := range c.Provenance() {
		fmt.Fprintln(w, p.Source)
		for _, field := range []struct{ name, text string }{
			{"date", p.Date}, {"licence", p.License}, {"covers", p.Covers},
			{"prices", capacityTypes(p.Prices)}, {"prices without zones", capacityTypes(p.ZonesAssigned)},
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

// capacityTypes joins capacity types for people.
func capacityTypes(list []offerings.CapacityType) string {
	return figures.Join(lo.Map(list, func(ct offerings.CapacityType, _ int) string { return string(ct) }))
}

// shapeOf writes the columns that a type has wherever it is bought.
func shapeOf(t *instancetypes.InstanceType) []string {
	var devices []string
	for _, name := range slices.Sorted(maps.Keys(t.Capacity)) {
		if q := t.Capacity[name]; strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), "vpc.amazonaws.com/") && !q.IsZero() {
			devices = append(devices, fmt.Sprintf("%s %d", name, q.Value()))
		}
	}
	cpu, memory, pods := t.Capacity[corev1.ResourceCPU], t.Capacity[corev1.ResourceMemory], t.Capacity[corev1.ResourcePods]
	return []string{t.Name, t.Labels[corev1.LabelArchStable], figures.Cores(cpu.MilliValue()), figures.GiB(memory.Value()), pods.String(), cmp.Or(figures.Join(devices), "-")}
}

// typeRows has a row for each type with its lowest prices, the cheapest first. One that is
// not on sale comes last.
func typeRows(c *instancetypes.Catalog) [][]string {
	types := slices.SortedFunc(c.All(), func(a, b *instancetypes.InstanceType) int {
		return cmp.Or(cmp.Compare(lowest(a.Offerings), lowest(b.Offerings)), strings.Compare(a.Name, b.Name))
	})
	rows := [][]string{{"INSTANCE TYPE", "ARCH", "CPU", "MEMORY", "PODS", "DEVICES", "ZONES"}}
	for _, t := range types {
		zones := lo.UniqBy(t.Offerings, func(o offerings.Offering) string { return o.Zone })
		rows = append(rows, append(shapeOf(t), strconv.Itoa(len(zones))))
	}
	for _, ct := range []offerings.CapacityType{offerings.Reserved, offerings.Spot, offerings.OnDemand} {
		prices := lo.Map(types, func(t *instancetypes.InstanceType, _ int) offerings.Price {
			return lowest(lo.Filter(t.Offerings, func(o offerings.Offering, _ int) bool { return o.CapacityType == ct }))
		})
		if lo.EveryBy(prices, func(p offerings.Price) bool { return p == offerings.MaxPrice }) {
			continue
		}
		rows[0] = append(rows[0], strings.ToUpper(string(ct)))
		for i, price := range prices {
			rows[i+1] = append(rows[i+1], lo.Ternary(price == offerings.MaxPrice, "-", figures.USD(price)))
		}
	}
	return rows
}

// lowest is the lowest price of some offerings; of none the highest there is.
func lowest(list []offerings.Offering) offerings.Price {
	return slices.Min(append(lo.Map(list, func(o offerings.Offering, _ int) offerings.Price { return o.Price }), offerings.MaxPrice))
}

// offeringRows has a row for each offering, the cheapest first.
func offeringRows(c *instancetypes.Catalog) [][]string {
	type sale struct {
		t *instancetypes.InstanceType
		o offerings.Offering
	}
	var sales []sale
	for t := range c.All() {
		for _, o := range t.Offerings {
			sales = append(sales, sale{t, o})
		}
	}
	slices.SortStableFunc(sales, func(a, b sale) int {
		return cmp.Or(cmp.Compare(a.o.Price, b.o.Price), strings.Compare(a.t.Name, b.t.Name), strings.Compare(a.o.Zone, b.o.Zone))
	})
	rows := [][]string{{"INSTANCE TYPE", "ARCH", "CPU", "MEMORY", "PODS", "DEVICES", "CAPACITY", "ZONE", "$/HOUR", "$/MONTH", "INTERRUPTED"}}
	for _, s := range sales {
		interrupted := "-"
		if s.o.InterruptionRate > 0 {
			interrupted = figures.Percent(s.o.InterruptionRate) + " a month"
		}
		rows = append(rows, append(shapeOf(s.t), string(s.o.CapacityType), s.o.Zone, figures.USD(s.o.Price), figures.Monthly(s.o.Price), interrupted))
	}
	return rows
}
