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

// sizeName splits a name without "Standard_" into family, number, features and the
// rest: "D8as_v5" into "D", "8", "as", "_v5".
var sizeName = regexp.MustCompile(`^([A-Z]+)(\d+)([a-z]*)(_.*)?$`)

// features returns the letters after the number of cores, each of which stands for a
// feature.
func features(name string) string {
	if m := sizeName.FindStringSubmatch(strings.TrimPrefix(name, "Standard_")); m != nil {
		return m[3]
	}
	return ""
}

// withdrawn matches sizes that still have a price and that Azure no longer offers to
// anyone, or never did under that name; checked against the list of sizes that
// Karpenter's Azure provider keeps (August 2026).
var withdrawn = regexp.MustCompile(`^(` + strings.Join([]string{
	`A[5-7]`, `D\d+s`, `DS?15i_v2`, `E64is?_v3`, `H\d+m?r?`, `HB60rs`,
	`M896ixds_32_v3`, `NC\d+r?`, `NC\d+r?s_v2`, `ND\d+r?s`, `NV\d+`, `NP\d+s`,
}, "|") + `)$`)

// memoryOption matches the digits that tell sizes with the same number of cores
// apart: "M96ds1_v3" is written "M96ds_1_v3".
var memoryOption = regexp.MustCompile(`^(M\d+[a-z]+)(\d+)(_v3)$`)

// skuName returns the name by which Azure's API knows a size, or why the size is not
// for Kubernetes. The source's names are those of a price list: some lack
// "Standard", and a few are misspelled.
func skuName(s source.Size) (name, reason string) {
	body, found := strings.CutPrefix(s.Name, "Basic ")
	if found {
		return "", "is of the Basic tier, which Kubernetes on Azure does not take"
	}
	body = strings.ReplaceAll(strings.TrimPrefix(body, "Standard "), " ", "_")
	body = memoryOption.ReplaceAllString(body, "${1}_$2$3")
	body = strings.Replace(body, "_v710_", "_V710_", 1)
	switch body {
	case "E96nds_v4", "E96ns_v4": // the price list has the version wrong
		body = strings.Replace(body, "_v4", "_v6", 1)
	case "ND96asr_A100_v4":
		body = "ND96asr_v4"
	case "NV28ads_V710_v5":
		body = "NV28adms_V710_v5"
	}
	switch {
	case strings.Contains(body, "-"):
		return "", "has fewer cores than it is priced for, for software licences; Karpenter leaves such sizes out"
	case strings.HasPrefix(body, "DC"), strings.HasPrefix(body, "EC"):
		return "", "is for confidential computing, which Karpenter leaves out"
	case withdrawn.MatchString(body):
		return "", "is no longer offered"
	}
	return "Standard_" + body, ""
}
