package azure

import (
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
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

	labelAKSCPU    = "kubernetes.azure.com/sku-cpu"
	labelAKSMemory = "kubernetes.azure.com/sku-memory"
)

// labels returns the labels of every node of a size in a region. A fact that is not
// known or does not apply has no label; only the number of GPUs is always stated.
func labels(s *azurefacts.Size, region string) map[string]string {
	cpu, memory := strconv.FormatInt(s.VCPU, 10), strconv.FormatInt(s.MemoryMiB, 10)
	list := map[string]string{
		corev1.LabelInstanceTypeStable: s.Name,
		corev1.LabelArchStable:         s.Arch,
		corev1.LabelOSStable:           string(corev1.Linux),
		corev1.LabelTopologyRegion:     region,
		labelName:                      s.Name,
		labelCPU:                       cpu,
		labelMemory:                    memory,
		labelAKSCPU:                    cpu,
		labelAKSMemory:                 memory,
		labelGPUCount:                  strconv.FormatInt(s.GPUs, 10),
	}
	name := parseName(s.Name)
	for key, value := range map[string]string{
		labelFamily: name.family, labelSeries: name.series, labelVersion: name.version,
		labelAccelerated: s.AcceleratedNetworking, labelPremium: s.PremiumDisks,
		labelGPUName: s.GPUName, labelGPUMaker: s.GPUMaker,
	} {
		if value != "" {
			list[key] = value
		}
	}
	return list
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
