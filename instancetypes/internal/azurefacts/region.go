package azurefacts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Region is what a region sells.
type Region struct {
	// Name is the region as Azure's API spells it, such as "eastus".
	Name string
	// Zones counts the availability zones, which are numbered from 1. 0 means that the
	// region has none.
	Zones int64
	// Module is the Go module with its version that the figures were read from, and
	// Date the day they describe, as YYYY-MM-DD.
	Module, Date string
	// Sizes holds what is sold, in order of name.
	Sizes []Size
}

// Size is a virtual machine size and its prices. A text that is not known is empty.
type Size struct {
	// Name is the size, such as "Standard_D8as_v5".
	Name string
	// VCPU counts virtual cores.
	VCPU int64
	// MemoryMiB is the memory that Azure advertises.
	MemoryMiB int64
	// Arch is amd64 or arm64.
	Arch string
	// GPUMaker is nvidia or amd, GPUName such as "A100", GPUs their number.
	GPUMaker, GPUName string
	GPUs              int64
	// PremiumDisks and AcceleratedNetworking are "true", "false" or empty.
	PremiumDisks, AcceleratedNetworking string
	// OnDemand and Spot are the prices; there is no spot offering if Spot is 0.
	OnDemand, Spot offerings.Price
}

// field is a column of the table.
type field struct {
	name  string
	text  func(*Size) *string // one of text, num and price is set
	num   func(*Size) *int64
	price func(*Size) *offerings.Price
}

func fields() []field {
	return []field{
		{name: "name", text: func(s *Size) *string { return &s.Name }},
		{name: "vcpu", num: func(s *Size) *int64 { return &s.VCPU }},
		{name: "memory", num: func(s *Size) *int64 { return &s.MemoryMiB }},
		{name: "arch", text: func(s *Size) *string { return &s.Arch }},
		{name: "gpumaker", text: func(s *Size) *string { return &s.GPUMaker }},
		{name: "gpuname", text: func(s *Size) *string { return &s.GPUName }},
		{name: "gpus", num: func(s *Size) *int64 { return &s.GPUs }},
		{name: "premium", text: func(s *Size) *string { return &s.PremiumDisks }},
		{name: "accelerated", text: func(s *Size) *string { return &s.AcceleratedNetworking }},
		{name: "ondemand", price: func(s *Size) *offerings.Price { return &s.OnDemand }},
		{name: "spot", price: func(s *Size) *offerings.Price { return &s.Spot }},
	}
}

// Table writes the region as a table.
func (g Region) Table() (*compact.Table, error) {
	if err := g.validate(); err != nil {
		return nil, err
	}
	t := &compact.Table{Facts: []compact.Fact{
		{Key: "region", Value: g.Name},
		{Key: "zones", Value: strconv.FormatInt(g.Zones, 10)},
		{Key: "module", Value: g.Module},
		{Key: "date", Value: g.Date},
	}}
	for _, f := range fields() {
		cells := make([]string, len(g.Sizes))
		for i := range g.Sizes {
			cells[i] = f.write(&g.Sizes[i])
		}
		t.Columns = append(t.Columns, compact.Column{Name: f.name, Cells: cells})
	}
	return t, nil
}

func (f field) write(s *Size) string {
	switch {
	case f.text != nil:
		return *f.text(s)
	case f.num != nil && *f.num(s) != 0:
		return strconv.FormatInt(*f.num(s), 10)
	case f.price != nil && *f.price(s) != 0:
		return f.price(s).String()
	}
	return ""
}

// ReadRegion is the inverse of [Region.Table].
func ReadRegion(t *compact.Table) (Region, error) {
	r := compact.NewReader(t)
	g := Region{Name: r.Fact("region"), Module: r.Fact("module"), Date: r.Fact("date"), Sizes: make([]Size, t.Rows())}
	zones, errZones := strconv.ParseInt(r.Fact("zones"), 10, 64)
	var errs []error
	for _, f := range fields() {
		switch {
		case f.text != nil:
			for i, cell := range r.Text(f.name) {
				*f.text(&g.Sizes[i]) = cell
			}
		case f.num != nil:
			for i, n := range r.Ints(f.name) {
				*f.num(&g.Sizes[i]) = n
			}
		default:
			for i, cell := range r.Text(f.name) {
				if cell == "" {
					continue
				}
				price, err := offerings.ParsePrice(cell)
				if err != nil && len(errs) < 20 {
					errs = append(errs, fmt.Errorf("column %q, row %d: %w", f.name, i, err))
				}
				*f.price(&g.Sizes[i]) = price
			}
		}
	}
	if err := errors.Join(append(errs, r.Err(), errZones)...); err != nil {
		return Region{}, fmt.Errorf("region %s: %w", g.Name, err)
	}
	g.Zones = zones
	if err := g.validate(); err != nil {
		return Region{}, err
	}
	return g, nil
}

// maxZones is the largest number of zones that is believed.
const maxZones = 9

func (g Region) validate() error {
	var errs []error
	fault := func(format string, args ...any) {
		if len(errs) < 20 {
			errs = append(errs, fmt.Errorf("region %s: "+format, append([]any{g.Name}, args...)...))
		}
	}
	if g.Name == "" {
		fault("the name is empty")
	}
	if g.Zones < 0 || g.Zones > maxZones {
		fault("%d zones: want 0 to %d", g.Zones, maxZones)
	}
	for i, s := range g.Sizes {
		switch {
		case s.Name == "" || i > 0 && g.Sizes[i-1].Name >= s.Name:
			fault("row %d: name %q is empty or does not come after the one before", i, s.Name)
		case s.OnDemand <= 0 || s.Spot < 0:
			fault("%s: prices %v on demand, %v spot: want more than 0, and at least 0", s.Name, s.OnDemand, s.Spot)
		}
		for _, flag := range []string{s.PremiumDisks, s.AcceleratedNetworking} {
			if !slices.Contains([]string{"true", "false", ""}, flag) {
				fault("%s: %q: want true, false or nothing", s.Name, flag)
			}
		}
	}
	return errors.Join(errs...)
}
