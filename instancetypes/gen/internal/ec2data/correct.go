package ec2data

import "github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"

// correct puts in what the sources lack or have wrong. The figures are those that
// EC2 reports, as Karpenter's documentation of instance types (release 1.14.1,
// August 2026) shows them. It reports whether the network interfaces are among them.
func correct(s *ec2facts.Shape) (hasInterfaces bool) {
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
