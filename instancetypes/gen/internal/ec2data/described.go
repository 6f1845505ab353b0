package ec2data

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
)

// described makes the shape of a type that the file of instances describes, or says
// why there is none.
func (b *builder) described(i source.Instance) (s ec2facts.Shape, leftOut string, err error) {
	s = ec2facts.Shape{
		Name: i.Name,
		VCPU: i.VCPU,
		// EC2 counts in MiB, the source in GiB with few decimals.
		MemoryMiB: int64(math.Floor(i.MemoryGiB * 1024)),
		CPUMaker:  cpuMaker(i.Processor),
	}
	switch {
	case slices.Contains(i.Arch, "x86_64"):
		s.Arch = "amd64"
	case slices.Contains(i.Arch, "arm64"):
		s.Arch = "arm64"
	default:
		return s, fmt.Sprintf("architecture %s does not run Linux nodes", strings.Join(i.Arch, ",")), nil
	}
	if s.Accelerator, err = accelerator(i); err != nil {
		return s, "", err
	}
	if i.Storage != nil && i.Storage.NVMe {
		s.LocalDiskGB = i.Storage.Devices * i.Storage.SizeGB
	}
	if ebsOptimizedByDefault(i.Name) {
		s.EBSMbps = i.EBSMbps
	}
	limit, ok := b.Limits[i.Name]
	if !ok && i.VPC != nil {
		// The types that only this source knows are large machines of the last years.
		limit, ok = source.Limit{Interfaces: i.VPC.Interfaces, Addresses: i.VPC.Addresses, Hypervisor: "nitro"}, true
		if ec2facts.IsMetal(i.Name) {
			limit.Hypervisor = ""
		}
	}
	b.addNetwork(&s, limit)
	if correct(&s) {
		ok = true
	}
	switch {
	case !ok || s.Interfaces == 0:
		return s, "its network interfaces are not known: EC2 no longer sells it", nil
	case s.VCPU <= 0 || s.MemoryMiB <= 0 || s.CPUMaker == "":
		return s, "", fmt.Errorf("%d vCPU, %d MiB, processor %q: want all of them", s.VCPU, s.MemoryMiB, i.Processor)
	}
	return s, "", nil
}

// cpuMaker reads the maker off the name of a processor, spelled as in Karpenter's
// label.
func cpuMaker(processor string) string {
	switch {
	case strings.Contains(processor, "Graviton"):
		return "aws"
	case strings.Contains(processor, "AMD"):
		return "amd"
	case strings.Contains(processor, "Intel"):
		return "intel"
	}
	return ""
}

// ebsOptimizedByDefault reports whether a type's bandwidth to network disks is there
// without asking. That of the oldest families is an option that costs extra, and
// Karpenter does not label them with it.
func ebsOptimizedByDefault(name string) bool {
	family, _, _ := strings.Cut(name, ".")
	return !slices.Contains([]string{"c1", "c3", "g2", "i2", "m1", "m2", "m3", "r3"}, family)
}
