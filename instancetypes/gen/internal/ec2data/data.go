package ec2data

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

// Input is the data of all sources.
type Input struct {
	Sources    facts.Sources
	Instances  []source.Instance
	Limits     map[string]source.Limit
	Bandwidths map[string]int64
	Fresh      source.Prices
}

// Output is the content of the embedded files.
type Output struct {
	Shapes  facts.Shapes
	Regions []facts.Region // in order of name
	// LeftOut names the types that sources mention and the catalogs do not hold, with the reason.
	LeftOut []string
}

// Build makes the tables. An error means that a source changed in a way that this
// program does not understand.
func Build(in Input) (Output, error) {
	b := builder{Input: in, known: map[string]source.Instance{}, shapes: map[string]facts.Shape{}}
	for _, i := range in.Instances {
		if _, twice := b.known[i.Name]; twice {
			return Output{}, fmt.Errorf("%s: is described twice", i.Name)
		}
		b.known[i.Name] = i
	}
	if err := b.addShapes(); err != nil {
		return Output{}, err
	}
	out := Output{Shapes: facts.Shapes{Sources: in.Sources}}
	sold := map[string]bool{}
	for _, name := range b.regionNames() {
		region, err := b.region(name)
		if err != nil {
			return Output{}, err
		}
		for _, row := range region.Rows {
			sold[row.Type] = true
		}
		out.Regions = append(out.Regions, region)
	}
	for _, name := range slices.Sorted(maps.Keys(b.shapes)) {
		if sold[name] {
			out.Shapes.List = append(out.Shapes.List, b.shapes[name])
		} else {
			b.leaveOut(name, "no region is known to sell it at a price of its own")
		}
	}
	out.LeftOut = slices.Sorted(slices.Values(b.leftOut))
	return out, nil
}

type builder struct {
	Input
	known   map[string]source.Instance
	shapes  map[string]facts.Shape
	leftOut []string
}

func (b *builder) leaveOut(name, reason string) {
	b.leftOut = append(b.leftOut, name+": "+reason)
}

// addShapes fills b.shapes with every type that is described or can be derived.
func (b *builder) addShapes() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(b.known)) {
		shape, reason, err := b.described(b.known[name])
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		case reason != "":
			b.leaveOut(name, reason)
		default:
			b.shapes[name] = shape
		}
	}
	fresh := map[string]bool{}
	for _, prices := range b.Fresh.ByRegion {
		for name := range prices {
			fresh[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		if _, ok := b.known[name]; ok {
			continue
		}
		shape, ok := derive(name)
		if !ok {
			b.leaveOut(name, "no source describes it and its name does not tell its shape")
			continue
		}
		limit, ok := b.Limits[name]
		if !ok {
			b.leaveOut(name, "its network interfaces are not known")
			continue
		}
		b.addNetwork(&shape, limit)
		b.shapes[name] = shape
	}
	return errors.Join(errs...)
}

// addNetwork sets the columns of the network, which the sources list by the name of the type.
func (b *builder) addNetwork(s *facts.Shape, l source.Limit) {
	s.Interfaces, s.Addresses, s.BranchInterfaces, s.Hypervisor = l.Interfaces, l.Addresses, l.BranchInterfaces, l.Hypervisor
	s.NetworkMbps = b.Bandwidths[s.Name]
}

// correct sets facts that the sources lack or have wrong. The figures are those that
// EC2 reports, as Karpenter's documentation of instance types (release 1.14.1,
// August 2026) shows them. It reports whether the network interfaces are among them.
func correct(s *facts.Shape) (hasInterfaces bool) {
	// card sets the interfaces of the default network card, each with 50 addresses.
	card := func(interfaces int64) {
		s.Interfaces, s.Addresses, s.Hypervisor = interfaces, 50, "nitro"
		hasInterfaces = true
	}
	switch s.Name {
	case "hpc6a.48xlarge":
		card(2)
		s.EBSMbps = 2085
	case "hpc6id.32xlarge":
		card(1)
		s.EBSMbps, s.LocalDiskGB = 2085, 15200
	case "hpc7a.12xlarge", "hpc7a.24xlarge", "hpc7a.48xlarge", "hpc7a.96xlarge":
		card(2)
		s.EBSMbps = 2085
	case "trn2.48xlarge":
		card(2)
		s.EBSMbps, s.LocalDiskGB = 80_000, 7600
	case "p4de.24xlarge":
		s.EBSMbps, s.LocalDiskGB = 19_000, 8000
	case "u7i-6tb.112xlarge", "u7i-8tb.112xlarge", "u7i-12tb.224xlarge":
		s.EBSMbps = 100_000
	case "m1.medium":
		s.MemoryMiB = 3788
	case "r3.large":
		s.MemoryMiB = 15360
	case "t1.micro":
		s.CPUMaker = "intel"
	}
	return hasInterfaces
}
