package main

import (
	"fmt"
	"io"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/azuredata"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/ec2data"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
)

// reporter writes what was generated, for the person who runs the command.
type reporter struct {
	w       io.Writer
	verbose bool
	err     error
}

func (r *reporter) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format, args...)
	}
}

func (r *reporter) ec2(out ec2data.Output) {
	derived := 0
	for _, s := range out.Shapes.List {
		if s.Derived {
			derived++
		}
	}
	r.printf("ec2: %d types, %d of them derived from their names; %d left out\n", len(out.Shapes.List), derived, len(out.LeftOut))
	for _, g := range out.Regions {
		onDemand, spot, assumed, lists := 0, 0, 0, map[ec2facts.PriceList]int{}
		for _, row := range g.Rows {
			onDemand += len(row.Zones)
			spot += len(row.Spot)
			lists[row.List]++
			if row.Assumed {
				assumed++
			}
		}
		r.printf("  %-16s %4d types, %5d on-demand and %4d spot offerings; prices %d older, %d fresher, %d dedicated; zones of %d assumed\n",
			g.Name, len(g.Rows), onDemand, spot, lists[ec2facts.OlderList], lists[ec2facts.FresherList], lists[ec2facts.DedicatedList], assumed)
	}
	if r.verbose {
		for _, l := range out.LeftOut {
			r.printf("  left out: %s: %s\n", l.Type, l.Reason)
		}
	}
}

func (r *reporter) azure(g azurefacts.Region, leftOut []azuredata.LeftOut) {
	spot := 0
	for _, s := range g.Sizes {
		if s.Spot > 0 {
			spot++
		}
	}
	r.printf("azure: %s: %d sizes, %d of them sold as spot; %d left out\n", g.Name, len(g.Sizes), spot, len(leftOut))
	if r.verbose {
		for _, l := range leftOut {
			r.printf("  left out: %s: %s\n", l.Size, l.Reason)
		}
	}
}
