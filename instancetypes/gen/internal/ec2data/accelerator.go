package ec2data

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
)

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
func accelerator(i source.Instance) (ec2facts.Accelerator, error) {
	family, _, _ := strings.Cut(i.Name, ".")
	chip := ec2facts.Accelerator{Resource: neuron, Maker: "aws", Count: i.GPUs}
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
		chip = ec2facts.Accelerator{Resource: gaudi, Maker: "habana", Name: "gaudi-hl-205", Count: 8, MemoryMiB: 32 << 10}
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
func gpu(i source.Instance) (ec2facts.Accelerator, error) {
	if i.GPUs == 0 && i.GPUModel == "" {
		return ec2facts.Accelerator{}, nil
	}
	if i.GPUs <= 0 {
		return ec2facts.Accelerator{}, fmt.Errorf("GPU %q: %d of them: want some", i.GPUModel, i.GPUs)
	}
	a := ec2facts.Accelerator{
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
