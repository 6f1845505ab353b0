package main

import (
	"context"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/azuredata"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/ec2data"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
)

// Days that the sources do not state in their files: that of the pseudo-version of
// the list of instances, and that of the release with the bandwidths.
const (
	instancesDate = "2025-05-28"
	bandwidthDate = "2026-08-20"
)

type ec2Result struct {
	out   ec2data.Output
	files files
}

type azureResult struct {
	out     azurefacts.Region
	leftOut []azuredata.LeftOut
	files   files
}

// build reads the sources and makes the files of both packages.
func build(ctx context.Context) (ec2 ec2Result, azure azureResult, err error) {
	instances, err := source.Fetch(ctx, source.Instances())
	if err != nil {
		return ec2, azure, err
	}
	if ec2, err = buildEC2(ctx, instances); err != nil {
		return ec2, azure, err
	}
	azure, err = buildAzure(instances)
	return ec2, azure, err
}

func buildEC2(ctx context.Context, instancesDir string) (ec2Result, error) {
	limitsDir, err := source.Fetch(ctx, source.Limits())
	if err != nil {
		return ec2Result{}, err
	}
	karpenterDir, err := source.Fetch(ctx, source.Karpenter())
	if err != nil {
		return ec2Result{}, err
	}
	var in ec2data.Input
	if in.Instances, err = source.ReadInstances(instancesDir); err != nil {
		return ec2Result{}, err
	}
	limitsDate := ""
	if in.Limits, limitsDate, err = source.ReadLimits(limitsDir); err != nil {
		return ec2Result{}, err
	}
	if in.Bandwidths, err = source.ReadBandwidths(karpenterDir); err != nil {
		return ec2Result{}, err
	}
	if in.Fresh, err = source.ReadPrices(karpenterDir); err != nil {
		return ec2Result{}, err
	}
	in.Sources = ec2facts.Sources{
		Instances: ec2facts.Source{Module: source.Instances().String(), Date: instancesDate},
		Limits:    ec2facts.Source{Module: source.Limits().String(), Date: limitsDate},
		Bandwidth: ec2facts.Source{Module: source.Karpenter().String(), Date: bandwidthDate},
	}
	r := ec2Result{files: files{}}
	if r.out, err = ec2data.Build(in); err != nil {
		return ec2Result{}, err
	}
	r.files["shapes"] = &r.out.Shapes
	for i := range r.out.Regions {
		r.files["region-"+r.out.Regions[i].Name] = &r.out.Regions[i]
	}
	return r, nil
}

func buildAzure(instancesDir string) (azureResult, error) {
	sizes, err := source.ReadSizes(instancesDir)
	if err != nil {
		return azureResult{}, err
	}
	r := azureResult{files: files{}}
	r.out, r.leftOut, err = azuredata.Build(azuredata.Input{
		Sizes: sizes, Region: "eastus", PriceKey: "us-east", Zones: 3,
		Module: source.Instances().String(), Date: instancesDate,
	})
	if err != nil {
		return azureResult{}, err
	}
	r.files["region-"+r.out.Name] = &r.out
	return r, err
}

// files maps names, without extension, to facts.
type files map[string]embedded.Facts
