package azure

import (
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/brackets"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

// Keys of the labels that Karpenter's Azure provider puts on nodes.
const (
	group = "karpenter.azure.com/sku-"

	labelName        = group + "name"
	labelFamily      = group + "family"
	labelSeries      = group + "series"
	labelVersion     = group + "version"
	labelCPU         = group + "cpu"
	labelMemory      = group + "memory"
	labelAccelerated = group + "networking-accelerated"
	labelPremium     = group + "storage-premium-capable"
	labelGPUName     = group + "gpu-name"
	labelGPUMaker    = group + "gpu-manufacturer"
	labelGPUCount    = group + "gpu-count"

	labelPlacement = "karpenter.azure.com/placement-scope"

	labelAKSPriority = "kubernetes.azure.com/scalesetpriority"

	labelAKSCPU    = "kubernetes.azure.com/sku-cpu"
	labelAKSMemory = "kubernetes.azure.com/sku-memory"
)

// labels returns the labels of every node of a size. Of devices that it lacks, only the number of
// GPUs (0) is stated.
func labels(s *facts.Shape) map[string]string {
	cpu, memory := facts.Text(s.VCPU), facts.Text(s.MemoryMiB)
	name := parseName(s.Name)
	return map[string]string{
		labelName: s.Name, labelCPU: cpu, labelMemory: memory, labelAKSCPU: cpu, labelAKSMemory: memory,
		labelFamily: name.family, labelSeries: name.series, labelVersion: name.version,
		labelAccelerated: s.AcceleratedNetworking, labelPremium: s.PremiumDisks,
		labelGPUName: s.Accelerator.Name, labelGPUMaker: s.Accelerator.Maker, labelGPUCount: strconv.FormatInt(s.Accelerator.Count, 10),
	}
}

// sizeName splits a size by Azure's naming convention: family, the letters of a
// subfamily, number of cores, features, accelerator or memory option, version.
var sizeName = regexp.MustCompile(`^Standard_([A-Z])([A-Z]*)\d+([a-z]*)(?:_[A-Z]+\d+[A-Z]*|_\d+)?(_v(\d+))?$`)

type nameParts struct{ family, series, version string }

// parseName reads family ("D"), series ("Das_v5") and version ("5", and "1" where the
// name has none) off a size. All are empty for a name that is built otherwise.
func parseName(name string) nameParts {
	m := sizeName.FindStringSubmatch(name)
	if m == nil {
		return nameParts{}
	}
	p := nameParts{family: m[1], series: strings.Join(m[1:5], ""), version: m[5]}
	if p.version == "" {
		p.version = "1"
	}
	return p
}

const (
	mib = 1 << 20
	// osDisk is the size of the system disk of Karpenter's node class, in bytes.
	osDisk = 128_000_000_000
	// evictionMemory is the hard threshold memory.available of AKS.
	evictionMemory = 750 * mib
)

// capacity returns the capacity that a node of this size reports.
func capacity(s *facts.Shape) corev1.ResourceList {
	advertised := s.MemoryMiB * mib
	// The firmware of EC2's arm64 machines, which the formula counts, is not here.
	memory := advertised - instancetypes.VMMemoryOverhead(advertised, "amd64")
	return s.Capacity(memory, resource.NewQuantity(osDisk, resource.DecimalSI), instancetypes.MaxPods(0, 0, 0, s.VCPU))
}

// overhead returns the resources that an AKS node of this size reserves.
func overhead(s *facts.Shape) instancetypes.Overhead {
	return instancetypes.Overhead{
		KubeReserved: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(reservedCPU(s.VCPU*1000), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(reservedMemory(s.MemoryMiB)*mib, resource.BinarySI),
		},
		EvictionThreshold: corev1.ResourceList{
			corev1.ResourceMemory: *resource.NewQuantity(evictionMemory, resource.BinarySI),
		},
	}
}

// reservedCPU returns how many of a node's millicores AKS reserves: 6 % of the first
// core, 4 % of the second, 2 % of the third and fourth, 1 % of the rest.
func reservedCPU(millicores int64) int64 {
	return brackets.Reserve(millicores, brackets.Bracket{UpTo: 1000, Share: 600}, brackets.Bracket{UpTo: 2000, Share: 400},
		brackets.Bracket{UpTo: 4000, Share: 200}, brackets.Bracket{UpTo: 1 << 40, Share: 100})
}

// reservedMemory returns how many of a node's MiB AKS reserves. The rule is that of AKS before
// Kubernetes 1.29, which Karpenter's Azure provider keeps to; newer nodes reserve less.
func reservedMemory(mebibytes int64) int64 { return brackets.Memory(mebibytes<<10, 1<<20) >> 10 }
