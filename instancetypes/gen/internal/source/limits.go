package source

import (
	"fmt"
	"path/filepath"
)

// Limit is the network limits of an instance type.
type Limit struct {
	// Interfaces counts the network interfaces of the default network card.
	Interfaces int64
	// Addresses counts the IPv4 addresses of an interface.
	Addresses int64
	// BranchInterfaces counts the interfaces for single pods; 0 if there are none.
	BranchInterfaces int64
	// Hypervisor is nitro, xen or, on bare metal, empty.
	Hypervisor string
}

// ReadLimits reads the limits of all instance types, and the day they were listed.
func ReadLimits(moduleDir string) (byType map[string]Limit, date string, err error) {
	f, err := parseGo(filepath.Join(moduleDir, "pkg", "aws", "vpc", "limits.go"))
	if err != nil {
		return nil, "", err
	}
	var described map[string]struct {
		IPv4PerInterface, BranchInterface, DefaultNetworkCardIndex int64

		IsTrunkingCompatible bool
		Hypervisor           string
		NetworkCards         []struct{ MaximumNetworkInterfaces, NetworkCardIndex int64 }
	}
	if err := f.literal("Limits", &described); err != nil {
		return nil, "", err
	}
	byType = map[string]Limit{}
	for name, d := range described {
		limit := Limit{Addresses: d.IPv4PerInterface, Hypervisor: d.Hypervisor}
		if d.IsTrunkingCompatible {
			limit.BranchInterfaces = d.BranchInterface
		}
		for _, card := range d.NetworkCards {
			if card.NetworkCardIndex == d.DefaultNetworkCardIndex {
				limit.Interfaces = card.MaximumNetworkInterfaces
			}
		}
		if limit.Interfaces == 0 {
			return nil, "", fmt.Errorf("%s: %s: network card %d, the default, is not described", f.path, name, d.DefaultNetworkCardIndex)
		}
		byType[name] = limit
	}
	date, err = f.generatedDate()
	return byType, date, err
}
