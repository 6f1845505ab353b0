package azuredata

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Input is what the source says, and which region is wanted.
type Input struct {
	Sizes []source.Size
	// Region is the name to give, such as "eastus"; PriceKey is the source's name of
	// the same, such as "us-east".
	Region, PriceKey string
	Zones            int64
	Module, Date     string
}

// LeftOut is a size that the region sells and the catalog does not hold.
type LeftOut struct{ Size, Reason string }

// Build makes the table of a region. An error means that the source changed in a way
// that this program does not understand.
func Build(in Input) (azurefacts.Region, []LeftOut, error) {
	g := azurefacts.Region{Name: in.Region, Zones: in.Zones, Module: in.Module, Date: in.Date}
	var leftOut []LeftOut
	var errs []error
	for _, from := range in.Sizes {
		price, ok := from.Pricing[in.PriceKey]
		if !ok || price.Linux == nil {
			continue
		}
		size, reason, err := build(from, price)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", from.Key, err))
		case reason != "":
			leftOut = append(leftOut, LeftOut{Size: from.Name, Reason: reason})
		default:
			g.Sizes = append(g.Sizes, size)
		}
	}
	slices.SortFunc(g.Sizes, func(a, b azurefacts.Size) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(leftOut, func(a, b LeftOut) int { return cmp.Compare(a.Size, b.Size) })
	return g, leftOut, errors.Join(errs...)
}

func build(from source.Size, price source.AzureRegionalPrice) (s azurefacts.Size, reason string, err error) {
	if price.Linux.OnDemand == "" {
		return s, "has no price for Linux on demand", nil
	}
	name, reason := skuName(from)
	if reason != "" {
		return s, reason, nil
	}
	s = azurefacts.Size{Name: name, VCPU: from.VCPU, MemoryMiB: int64(from.MemoryGiB * 1024)}
	if s.VCPU < 2 || s.MemoryMiB < 3584 {
		return s, "is too small: Kubernetes on Azure wants 2 vCPUs and 3.5 GiB", nil
	}
	if s.Arch, err = arch(name, from); err != nil {
		return s, "", err
	}
	if reason = setGPU(&s, from.GPU); reason != "" {
		return s, reason, nil
	}
	s.PremiumDisks = flag(from.PremiumIO)
	if from.PremiumIO == nil {
		s.PremiumDisks = strconv.FormatBool(strings.Contains(features(name), "s"))
	}
	s.AcceleratedNetworking = flag(from.AcceleratedNetworking)
	if s.OnDemand, err = offerings.ParsePrice(string(price.Linux.OnDemand)); err != nil {
		return s, "", err
	}
	if price.Linux.Spot != "" {
		s.Spot, err = offerings.ParsePrice(string(price.Linux.Spot))
	}
	return s, "", err
}

func flag(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// arch tells the architecture: the source's where it has one; else by the letter p
// among the features, which stands for Arm processors.
func arch(name string, from source.Size) (string, error) {
	switch {
	case slices.Contains(from.Arch, "x64"):
		return "amd64", nil
	case slices.Contains(from.Arch, "Arm64"):
		return "arm64", nil
	case len(from.Arch) > 0:
		return "", fmt.Errorf("architecture %v is not known", from.Arch)
	case strings.Contains(features(name), "p"):
		return "arm64", nil
	}
	return "amd64", nil
}

// gpuText matches whole GPUs: "4X V100", "1 V710", "8x A100 (NVlink)".
var gpuText = regexp.MustCompile(`^(\d+)[xX]? ([A-Z]+\d+[A-Z]*)( \(NVlink\))?$`)

// setGPU reads the description of the GPUs, and says why a size with GPUs that are
// shared or not known must be left out.
func setGPU(s *azurefacts.Size, text string) (reason string) {
	if text == "0" {
		return ""
	}
	m := gpuText.FindStringSubmatch(text)
	if m == nil {
		return fmt.Sprintf("its GPU is %q: a share of one, or unknown", text)
	}
	count, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil || count == 0 {
		return fmt.Sprintf("its GPU is %q: not a number of GPUs", text)
	}
	switch m[2] {
	case "M60", "V100", "T4", "A10", "A100", "H100", "H200":
		s.GPUMaker = "nvidia"
	case "V710", "MI300X":
		s.GPUMaker = "amd"
	default:
		return fmt.Sprintf("its GPU is %q: Kubernetes on Azure does not support it", text)
	}
	s.GPUs, s.GPUName = count, m[2]
	return ""
}
