package facts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Shape is the machine of one instance type. An unknown number is 0 and an unknown
// text is empty.
type Shape struct {
	// Name is the instance type, such as "m5.large", "n2-standard-4" or "Standard_D4s_v5".
	Name string `json:"name"`
	// VCPU counts virtual cores.
	VCPU int64 `json:"vcpu"`
	// MemoryMiB is the memory that the cloud advertises.
	MemoryMiB int64 `json:"memoryMiB"`
	// Arch is amd64 or arm64.
	Arch string `json:"arch"`
	// CPUMaker is intel, amd or aws.
	CPUMaker string `json:"cpuMaker,omitempty"`
	// Hypervisor is nitro or xen; empty on bare metal.
	Hypervisor string `json:"hypervisor,omitempty"`
	// Interfaces counts the network interfaces of the default network card, and
	// Addresses the IPv4 addresses of each.
	Interfaces int64 `json:"interfaces,omitempty"`
	Addresses  int64 `json:"addresses,omitempty"`
	// BranchInterfaces counts the interfaces that pods can have of their own.
	BranchInterfaces int64 `json:"branchInterfaces,omitempty"`
	// NetworkMbps is the baseline network bandwidth, EBSMbps the highest bandwidth to
	// network disks of types that are optimised for them by default.
	NetworkMbps int64 `json:"networkMbps,omitempty"`
	EBSMbps     int64 `json:"ebsMbps,omitempty"`
	// LocalDiskGB is the size of all NVMe instance stores together, in 10^9 bytes.
	LocalDiskGB int64 `json:"localDiskGB,omitempty"`
	// LocalDisks counts the disks of a machine that comes with local ones, LocalDiskGiB is
	// their size together in 2^30 bytes.
	LocalDisks   int64 `json:"localDisks,omitempty"`
	LocalDiskGiB int64 `json:"localDiskGiB,omitempty"`
	// DiskTypes are the kinds of network disks that can be attached, sorted.
	DiskTypes []string `json:"diskTypes,omitempty"`
	// PremiumDisks and AcceleratedNetworking are "true", "false" or empty.
	PremiumDisks          string `json:"premiumDisks,omitempty"`
	AcceleratedNetworking string `json:"acceleratedNetworking,omitempty"`
	// Accelerator describes the GPUs or other accelerators, all of one kind.
	Accelerator Accelerator `json:"accelerator,omitzero"`
	// Derived tells that cores, memory, architecture and maker were read off the name
	// of the type, because no source describes it.
	Derived bool `json:"derived,omitempty"`
}

// Accelerator is a set of equal devices. Without devices it is the zero value.
type Accelerator struct {
	// Resource is the extended resource that counts the devices.
	Resource string `json:"resource"`
	// Name and Maker are those of the device, as the labels spell them.
	Name  string `json:"name"`
	Maker string `json:"maker"`
	// Count is the number of devices.
	Count int64 `json:"count"`
	// MemoryMiB is the memory of each device.
	MemoryMiB int64 `json:"memoryMiB,omitempty"`
	// Cores counts the neuron cores of each device.
	Cores int64 `json:"cores,omitempty"`
}

// IsMetal reports whether a type of that name is a whole machine without a
// hypervisor: its size is "metal" or begins with "metal-".
func IsMetal(name string) bool {
	_, size, _ := strings.Cut(name, ".")
	return size == "metal" || strings.HasPrefix(size, "metal-")
}

// Shapes is the content of the file of shapes.
type Shapes struct {
	// Sources names where the shapes come from.
	Sources Sources `json:"sources"`
	// List holds the shapes in order of name.
	List []Shape `json:"list"`
}

// Validate reports shapes whose names do not ascend, and flags that are none.
func (s *Shapes) Validate() error {
	errs := []error{ascending(len(s.List), func(i int) string { return s.List[i].Name })}
	for i := range s.List {
		for _, flag := range []string{s.List[i].PremiumDisks, s.List[i].AcceleratedNetworking} {
			if !slices.Contains([]string{"true", "false", ""}, flag) {
				errs = append(errs, fmt.Errorf("%s: %q: want true, false or nothing", s.List[i].Name, flag))
			}
		}
	}
	return errors.Join(errs...)
}

// ascending checks that n names are in order and differ, so that they can be searched by
// halves.
func ascending(n int, name func(int) string) error {
	for i := range n {
		if name(i) == "" {
			return fmt.Errorf("row %d: the name is empty", i)
		}
		if i > 0 && name(i-1) >= name(i) {
			return fmt.Errorf("row %d: name %q does not come after %q", i, name(i), name(i-1))
		}
	}
	return nil
}

// Source is where figures were read, and when they were true.
type Source struct {
	// Module is a Go module with its version, or a repository with its commit.
	Module string `json:"module"`
	// Date is a day as YYYY-MM-DD.
	Date string `json:"date"`
}

// Sources names the origin of each column of a cloud's tables. A source that a cloud does not
// use is the zero value.
type Sources struct {
	// Instances describes machines; that of EC2 also has prices of all regions, spot
	// prices, bands and zones, that of Azure spot prices.
	Instances Source `json:"instances,omitzero"`
	// Limits tells network interfaces and their addresses.
	Limits Source `json:"limits,omitzero"`
	// Bandwidth tells the network bandwidth and the fresher prices of EC2.
	Bandwidth Source `json:"bandwidth,omitzero"`
	// Prices has prices on demand, Shapes cores and memory, Zones the zones of regions,
	// Disks the kinds of disks that can be attached.
	Prices Source `json:"prices,omitzero"`
	Shapes Source `json:"shapes,omitzero"`
	Zones  Source `json:"zones,omitzero"`
	Disks  Source `json:"disks,omitzero"`
}
