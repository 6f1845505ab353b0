package ec2data

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

// familyName matches families whose sizes follow one rule: a category of the five
// below, one digit for the generation, letters for features, perhaps "-flex".
var familyName = regexp.MustCompile(`^(c|i|m|r|x)(\d+)([a-z]*)(-flex)?$`)

// sizeName matches "12xlarge" and the part of "metal-48xl" that follows "metal-".
var sizeName = regexp.MustCompile(`^(\d+)xl(arge)?$`)

// firstDerived is the first generation whose types are derived from their names.
// Earlier ones hold exceptions to the rule, such as c5n.
const firstDerived = 7

// derive reads the shape of a type off its name. Since the seventh generation the
// compute, general purpose, memory, large memory and storage families have 2, 4, 8,
// 16 and 8 GiB per vCPU, an xlarge is four vCPUs, and the letter that follows the
// generation names the maker: g is AWS's own arm64, a AMD, i Intel. Local disks and
// bandwidth to network disks cannot be told from the name.
func derive(name string) (facts.Shape, bool) {
	family, size, _ := strings.Cut(name, ".")
	m := familyName.FindStringSubmatch(family)
	vcpu, ok := vcpuOf(size)
	if m == nil || !ok {
		return facts.Shape{}, false
	}
	if generation, err := strconv.Atoi(m[2]); err != nil || generation < firstDerived {
		return facts.Shape{}, false
	}
	s := facts.Shape{Name: name, VCPU: vcpu, MemoryMiB: vcpu * gibPerVCPU(m[1]) << 10, Arch: "amd64", Derived: true}
	switch {
	case strings.HasPrefix(m[3], "g"):
		s.Arch, s.CPUMaker = "arm64", "aws"
	case strings.HasPrefix(m[3], "a"):
		s.CPUMaker = "amd"
	case strings.HasPrefix(m[3], "i"):
		s.CPUMaker = "intel"
	default:
		return facts.Shape{}, false
	}
	return s, true
}

func gibPerVCPU(category string) int64 {
	return map[string]int64{"c": 2, "m": 4, "r": 8, "i": 8, "x": 16}[category]
}

// vcpuOf tells the vCPUs of a size; false for sizes that do not say.
func vcpuOf(size string) (int64, bool) {
	switch size {
	case "medium":
		return 1, true
	case "large":
		return 2, true
	case "xlarge":
		return 4, true
	}
	bare, metal := strings.CutPrefix(size, "metal-")
	m := sizeName.FindStringSubmatch(bare)
	if len(m) == 0 {
		return 0, false
	}
	if twice := m[2] != ""; metal == twice {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil || n < 2 {
		return 0, false
	}
	return 4 * n, true
}

// described makes the shape of a type that the file of instances describes, or says
// why there is none.
func (b *builder) described(i source.Instance) (s facts.Shape, leftOut string, err error) {
	s = facts.Shape{
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
		if facts.IsMetal(i.Name) {
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

// Extended resources by which device plugins count accelerators.
const (
	nvidiaGPU = "nvidia.com/gpu"
	amdGPU    = "amd.com/gpu"
	neuron    = "aws.amazon.com/neuron"
	gaudi     = "habana.ai/gaudi"
)

// accelerator says which accelerators a type has. Inference and training chips are
// told by the family, since the source gives trn1 the model of inf1, trn2 one device
// of no model, and dl1 none at all. A model that is not known is an error.
func accelerator(i source.Instance) (facts.Accelerator, error) {
	family, _, _ := strings.Cut(i.Name, ".")
	chip := facts.Accelerator{Resource: neuron, Maker: "aws", Count: i.GPUs}
	switch family {
	case "inf1":
		chip.Name, chip.Cores = "inferentia", 4
	case "inf2":
		chip.Name, chip.Cores = "inferentia2", 2
	case "trn1", "trn1n":
		chip.Name, chip.Cores = "trainium", 2
	case "trn2":
		chip.Name, chip.Cores, chip.Count = "trainium2", 8, 16
	case "dl1":
		chip = facts.Accelerator{Resource: gaudi, Maker: "habana", Name: "gaudi-hl-205", Count: 8, MemoryMiB: 32 << 10}
	default:
		return gpu(i)
	}
	if chip.Count <= 0 {
		return chip, fmt.Errorf("family %s: %d accelerators: want some", family, chip.Count)
	}
	return chip, nil
}

// gpu tells the GPUs of a type. The source sums up their memory, and counts it in
// the gigabytes of brochures where EC2 reports the MiB that programs see.
func gpu(i source.Instance) (facts.Accelerator, error) {
	if i.GPUs == 0 && i.GPUModel == "" {
		return facts.Accelerator{}, nil
	}
	if i.GPUs <= 0 {
		return facts.Accelerator{}, fmt.Errorf("GPU %q: %d of them: want some", i.GPUModel, i.GPUs)
	}
	a := facts.Accelerator{
		Resource: nvidiaGPU, Maker: "nvidia", Count: i.GPUs,
		MemoryMiB: int64(math.Round(i.GPUMemoryGiB * 1024 / float64(i.GPUs))),
	}
	switch i.GPUModel {
	case "NVIDIA GRID K520":
		a.Name = "k520"
	case "NVIDIA Tesla K80":
		a.Name = "k80"
	case "NVIDIA Tesla M60":
		a.Name = "m60"
	case "NVIDIA Tesla V100":
		a.Name = "v100"
	case "NVIDIA T4 Tensor Core":
		a.Name = "t4"
	case "NVIDIA T4G Tensor Core":
		a.Name = "t4g"
	case "NVIDIA A10G":
		a.Name, a.MemoryMiB = "a10g", 22888
	case "NVIDIA L4":
		a.Name, a.MemoryMiB = "l4", 22888
	case "NVIDIA L40S":
		a.Name, a.MemoryMiB = "l40s", 45776
	case "NVIDIA A100":
		a.Name = "a100"
	case "NVIDIA H100":
		a.Name = "h100"
	case "NVIDIA H200":
		a.Name = "h200"
	case "AMD Radeon Pro V520":
		a.Resource, a.Maker, a.Name = amdGPU, "amd", "radeon-pro-v520"
	default:
		return a, fmt.Errorf("GPU model %q is not known", i.GPUModel)
	}
	return a, nil
}
