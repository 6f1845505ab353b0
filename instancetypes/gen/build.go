package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/azuredata"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/crosscheck"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/ec2data"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/gcpdata"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

// Days that the sources do not state in their files: that of the pseudo-version of
// the list of instances, that of the release with the bandwidths, and that of the list of
// zones of Google Cloud.
const (
	instancesDate = "2025-05-28"
	bandwidthDate = "2026-08-20"
	zonesDate     = "2023-05-02"
)

// tables are the embedded files of a cloud, and remarks for the report.
type tables struct {
	cloud   string
	shapes  facts.Shapes
	regions []facts.Region
	leftOut []string
	notes   []string
	// check, if it has pairs, compares prices with another source.
	check crosscheck.Report
}

// files maps names, without extension, to facts.
type files map[string]embedded.Facts

func (t *tables) files() files {
	f := files{"shapes": &t.shapes}
	for i := range t.regions {
		f["region-"+t.regions[i].Name] = &t.regions[i]
	}
	return f
}

// build reads the sources and makes the tables of a cloud.
func build(ctx context.Context, cloud string, checkouts source.Checkouts) (tables, error) {
	switch cloud {
	case "ec2":
		return buildEC2(ctx)
	case "azure":
		return buildAzure(ctx, checkouts)
	case "gcp":
		return buildGCP(ctx, checkouts)
	}
	return tables{}, fmt.Errorf("cloud %q: want one of %s", cloud, strings.Join(clouds(), ", "))
}

// clouds are those of which there are catalogs.
func clouds() []string { return []string{"ec2", "azure", "gcp"} }

func buildEC2(ctx context.Context) (tables, error) {
	t := tables{cloud: "ec2"}
	instancesDir, err := source.Fetch(ctx, source.Instances())
	if err != nil {
		return t, err
	}
	limitsDir, err := source.Fetch(ctx, source.Limits())
	if err != nil {
		return t, err
	}
	karpenterDir, err := source.Fetch(ctx, source.Karpenter())
	if err != nil {
		return t, err
	}
	var in ec2data.Input
	if in.Instances, err = source.ReadInstances(instancesDir); err != nil {
		return t, err
	}
	limitsDate := ""
	if in.Limits, limitsDate, err = source.ReadLimits(limitsDir); err != nil {
		return t, err
	}
	if in.Bandwidths, err = source.ReadBandwidths(karpenterDir); err != nil {
		return t, err
	}
	if in.Fresh, err = source.ReadPrices(karpenterDir); err != nil {
		return t, err
	}
	in.Sources = facts.Sources{
		Instances: instancesSource(),
		Limits:    facts.Source{Module: source.Limits().String(), Date: limitsDate},
		Bandwidth: facts.Source{Module: source.Karpenter().String(), Date: bandwidthDate},
	}
	out, err := ec2data.Build(in)
	derived := 0
	for _, s := range out.Shapes.List {
		if s.Derived {
			derived++
		}
	}
	t.shapes, t.regions, t.leftOut = out.Shapes, out.Regions, out.LeftOut
	t.notes = append(t.notes, fmt.Sprintf("%d types are derived from their names", derived))
	return t, err
}

func instancesSource() facts.Source {
	return facts.Source{Module: source.Instances().String(), Date: instancesDate}
}

// of is where figures were read, on a day.
func of(c source.Checkout, date string) facts.Source {
	return facts.Source{Module: c.String(), Date: date}
}

func buildAzure(ctx context.Context, checkouts source.Checkouts) (tables, error) {
	t := tables{cloud: "azure"}
	instancesDir, err := source.Fetch(ctx, source.Instances())
	if err != nil {
		return t, err
	}
	sizes, err := source.ReadSizes(instancesDir)
	if err != nil {
		return t, err
	}
	in, err := source.ReadAzure(ctx, checkouts)
	if err != nil {
		return t, err
	}
	karpenter, autoscaler := source.KarpenterAzure(), source.Autoscaler()
	t.shapes, t.regions, t.leftOut, err = azuredata.Build(in, sizes, facts.Sources{
		Instances: instancesSource(),
		Prices:    of(karpenter, in.Date), Shapes: of(autoscaler, autoscaler.Date), Zones: of(karpenter, karpenter.Date),
	})
	t.check = crosscheck.Report{Cloud: "Azure", Ours: karpenter.String() + ", on demand, of " + in.Date, Theirs: source.Instances().String() + ", of " + instancesDate}
	former := 0
	t.check.Pairs, former = azuredata.Compare(t.regions, sizes)
	t.check.Note = fmt.Sprintf("Of %d more the first has the price of Windows, and the second's is embedded.", former)
	return t, err
}

func buildGCP(ctx context.Context, checkouts source.Checkouts) (tables, error) {
	t := tables{cloud: "gcp"}
	in, err := source.ReadGCP(ctx, checkouts)
	if err != nil {
		return t, err
	}
	prices, karpenter := source.CloudPrices(), source.KarpenterGCP()
	t.shapes, t.regions, t.leftOut, err = gcpdata.Build(in, facts.Sources{
		Prices: of(prices, prices.Date), Shapes: of(prices, prices.Date), Zones: of(prices, zonesDate), Disks: of(karpenter, karpenter.Date),
	})
	if err != nil {
		return t, err
	}
	t.check = crosscheck.Report{
		Cloud: "Google Cloud", Ours: prices.String(), Theirs: karpenter.String() + " (pkg/providers/pricing/initial-prices.json)",
		Note: "The second list is made from what the author of the first publishes elsewhere, a few days later.",
	}
	t.check.Pairs, err = gcpdata.Compare(in, t.regions)
	return t, err
}
