package source

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// MachineType is a machine type of Google Cloud.
type MachineType struct {
	Name string
	// LocalGiB is the size of the local disks that it comes with, together.
	LocalGiB int64
	// GPU is the price list's name of its GPUs, GPUs their number.
	GPU  string
	GPUs string
	// Prices are by region.
	Prices map[string]MachinePrices
}

// MachineShape is the number of vCPUs and the memory of a machine type.
type MachineShape struct{ CPUs, MemoryMiB int64 }

// MachinePrices are decimals in USD; empty where there is none.
type MachinePrices struct {
	Hour string `yaml:"hour"`
	Spot string `yaml:"hour_spot"`
	// MonthOneYear and MonthThreeYears are those of 730 hours under a commitment.
	MonthOneYear    string `yaml:"month_1y"`
	MonthThreeYears string `yaml:"month_3y"`
}

// GCP is the data of Google Cloud.
type GCP struct {
	Types []MachineType // in order of name
	// Sold holds the types that are sold and where, Zones the letters of the zones of a region
	// that sold them some years before; both by type and region.
	Sold  map[string]map[string]MachineShape
	Zones map[string]map[string]string
	// RegionZones holds the letters of a region's zones.
	RegionZones map[string]string
	// Disks are the kinds of disks that a machine family takes.
	Disks map[string][]string
	// Compared are the prices of the provider, by region, "on_demand" or "spot", and type.
	Compared map[string]map[string]map[string]json.Number
}

// ReadGCP reads the sources of Google Cloud.
func ReadGCP(ctx context.Context, c Checkouts) (GCP, error) {
	g := GCP{Sold: map[string]map[string]MachineShape{}, Zones: map[string]map[string]string{}, RegionZones: map[string]string{}}
	prices, karpenter := CloudPrices(), KarpenterGCP()
	err := errors.Join(
		c.read(ctx, prices, "pricing.yml", g.readTypes),
		c.read(ctx, prices, "tools/machinetyperegion.csv", func(data []byte) error {
			return eachRow(data, func(row map[string]string) error {
				cpus, err := strconv.ParseInt(row["CPUS"], 10, 64)
				memory, memoryErr := strconv.ParseFloat(row["MEMORY_GB"], 64)
				put(g.Sold, row["NAME"], row["ZONE"], MachineShape{CPUs: cpus, MemoryMiB: int64(math.Round(memory * 1024))})
				return errors.Join(err, memoryErr)
			})
		}),
		c.read(ctx, prices, "tools/machinetypezone.csv", func(data []byte) error {
			return eachRow(data, func(row map[string]string) error {
				region, letter, err := splitZone(row["ZONE"])
				put(g.Zones, row["NAME"], region, g.Zones[row["NAME"]][region]+letter)
				return err
			})
		}),
		c.read(ctx, prices, "tools/zones.csv", func(data []byte) error {
			return eachRow(data, func(row map[string]string) error {
				region, letter, err := splitZone(row["NAME"])
				g.RegionZones[region] += letter
				return err
			})
		}),
		c.read(ctx, karpenter, "pkg/providers/disktype/pdcsi/node-labeler-configmap.yaml", g.readDisks),
		c.read(ctx, karpenter, "pkg/providers/pricing/initial-prices.json", func(data []byte) error {
			list := struct {
				Prices map[string]map[string]map[string]json.Number `json:"prices"`
			}{}
			err := json.Unmarshal(data, &list)
			g.Compared = list.Prices
			return err
		}),
	)
	return g, err
}

func (g *GCP) readTypes(data []byte) error {
	var list struct {
		Compute struct {
			Instance map[string]struct {
				CPU    any                      `yaml:"cpu"`
				RAM    any                      `yaml:"ram"`
				Local  int64                    `yaml:"local-ssd"`
				Type   string                   `yaml:"type"`
				Prices map[string]MachinePrices `yaml:"cost"`
				Others map[string]string        `yaml:",inline"`
			} `yaml:"instance"`
		} `yaml:"compute"`
	}
	if err := yaml.Unmarshal(data, &list); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(list.Compute.Instance)) {
		from := list.Compute.Instance[name]
		t := MachineType{Name: name, LocalGiB: from.Local, Prices: from.Prices}
		if from.Type != "" {
			continue // a machine of somebody's own measures
		}
		for t.GPU, t.GPUs = range from.Others {
			if len(from.Others) > 1 {
				return fmt.Errorf("%s: has %d devices, of which one is known", name, len(from.Others))
			}
		}
		g.Types = append(g.Types, t)
	}
	return nil
}

func (g *GCP) readDisks(data []byte) error {
	var config struct {
		Data map[string]string `yaml:"data"`
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return err
	}
	var families map[string]map[string]bool
	if err := json.Unmarshal([]byte(config.Data["machine-pd-compatibility.json"]), &families); err != nil {
		return err
	}
	g.Disks = map[string][]string{}
	for family, kinds := range families {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			if kinds[kind] {
				g.Disks[family] = append(g.Disks[family], kind)
			}
		}
	}
	return nil
}

func put[V any](to map[string]map[string]V, a, b string, value V) {
	if to[a] == nil {
		to[a] = map[string]V{}
	}
	to[a][b] = value
}

// splitZone takes "us-east1-b" apart.
func splitZone(zone string) (region, letter string, err error) {
	if len(zone) < 3 || zone[len(zone)-2] != '-' {
		return "", "", fmt.Errorf("zone %q: want one such as us-east1-b", zone)
	}
	return zone[:len(zone)-2], zone[len(zone)-1:], nil
}

// eachRow reads a table with a header whose columns are separated by semicolons.
func eachRow(data []byte, do func(row map[string]string) error) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = ';'
	header, err := r.Read()
	if err != nil {
		return err
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		row := map[string]string{}
		for i, field := range fields {
			row[header[i]] = field
		}
		if err == nil {
			err = do(row)
		}
		if err != nil {
			return err
		}
	}
}
