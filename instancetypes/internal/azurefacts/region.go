package azurefacts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Region is what a region sells.
type Region struct {
	// Name is the region as Azure's API spells it, such as "eastus".
	Name string `json:"name"`
	// Zones counts the availability zones, which are numbered from 1. 0 means that the
	// region has none.
	Zones int64 `json:"zones"`
	// Module is the Go module with its version that the figures were read from, and
	// Date the day they describe, as YYYY-MM-DD.
	Module string `json:"module"`
	Date   string `json:"date"`
	// Sizes holds what is sold, in order of name.
	Sizes []Size `json:"sizes"`
}

// Size is a virtual machine size and its prices. A text that is not known is empty.
type Size struct {
	// Name is the size, such as "Standard_D8as_v5".
	Name string `json:"name"`
	// VCPU counts virtual cores.
	VCPU int64 `json:"vcpu"`
	// MemoryMiB is the memory that Azure advertises.
	MemoryMiB int64 `json:"memoryMiB"`
	// Arch is amd64 or arm64.
	Arch string `json:"arch"`
	// GPUMaker is nvidia or amd, GPUName such as "A100", GPUs their number.
	GPUMaker string `json:"gpuMaker,omitempty"`
	GPUName  string `json:"gpuName,omitempty"`
	GPUs     int64  `json:"gpus,omitempty"`
	// PremiumDisks and AcceleratedNetworking are "true", "false" or empty.
	PremiumDisks          string `json:"premiumDisks,omitempty"`
	AcceleratedNetworking string `json:"acceleratedNetworking,omitempty"`
	// OnDemand and Spot are the prices; there is no spot offering if Spot is 0.
	OnDemand offerings.Price `json:"onDemand"`
	Spot     offerings.Price `json:"spot,omitempty"`
}

// maxZones is the largest number of zones that is believed.
const maxZones = 9

// Validate reports what is wrong with a region: names that do not ascend, prices that are not
// above 0, flags that are none.
func (g *Region) Validate() error {
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
