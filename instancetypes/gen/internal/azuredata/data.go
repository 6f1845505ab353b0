package azuredata

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/crosscheck"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Build makes the tables: those of regions in order of name, and says which sizes that the
// sources mention are left out, and why. described are the sizes of the
// older source, which has spot prices and tells GPUs and capabilities. An error means that a
// source changed in a way that this program does not understand.
func Build(in source.Azure, described []source.Size, sources facts.Sources) (facts.Shapes, []facts.Region, []string, error) {
	older := map[string]source.Size{}
	for _, s := range described {
		older[skuName(s.Name)] = s
	}
	shapes := map[string]facts.Shape{}
	var leftOut []string
	for _, name := range slices.Sorted(maps.Keys(in.Shapes)) {
		shape, reason := shapeOf(name, in, older[name])
		if reason == "" {
			shapes[name] = shape
		} else {
			leftOut = append(leftOut, name+": "+reason)
		}
	}
	sold := map[string]bool{}
	var regions []facts.Region
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(in.Prices)) {
		region := facts.Region{Name: name, Zones: zonesOf(name, in)}
		for size, text := range in.Prices[name] {
			shape, ok := shapes[size]
			if !ok {
				continue
			}
			row, err := rowOf(shape, text.String(), region, older[size])
			if err != nil {
				errs = append(errs, fmt.Errorf("%s in %s: %w", size, name, err))
			}
			if row.OnDemand > 0 { // a size without a price is not on sale
				region.Rows = append(region.Rows, row)
			}
		}
		slices.SortFunc(region.Rows, func(a, b facts.Row) int { return cmp.Compare(a.Type, b.Type) })
		windows := ofWindows(region.Rows, shapes)
		maps.DeleteFunc(windows, func(size string, _ bool) bool { return older[size].Pricing[priceKeys()[name]].Linux != nil })
		region.Rows = slices.DeleteFunc(region.Rows, func(r facts.Row) bool { return windows[r.Type] })
		for _, row := range region.Rows {
			sold[row.Type] = true
		}
		for _, size := range slices.Sorted(maps.Keys(windows)) {
			leftOut = append(leftOut, size+" in "+name+": its price is that of Windows, and no other is known")
		}
		regions = append(regions, region)
	}
	table := facts.Shapes{Sources: sources}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		if sold[name] {
			table.List = append(table.List, shapes[name])
		} else {
			leftOut = append(leftOut, name+": no region has a price of it")
		}
	}
	return table, regions, leftOut, errors.Join(errs...)
}

// Compare pairs the prices of regions with those of the older source, as far as both have them,
// and counts the prices that regions took from the older source.
func Compare(regions []facts.Region, described []source.Size) (pairs []crosscheck.Pair, former int) {
	older := map[string]source.Size{}
	for _, s := range described {
		older[skuName(s.Name)] = s
	}
	for _, region := range regions {
		for _, row := range region.Rows {
			from := older[row.Type].Pricing[priceKeys()[region.Name]].Linux
			if row.List == facts.FormerList {
				former++
			} else if from != nil {
				if before, err := offerings.ParsePrice(string(from.OnDemand)); err == nil {
					pairs = append(pairs, crosscheck.Pair{Region: region.Name, Type: row.Type, CapacityType: string(offerings.OnDemand), Ours: row.OnDemand, Theirs: before})
				}
			}
		}
	}
	return pairs, former
}

// rowOf says how a region sells a size. The spot price is that of the older source where it is
// below the price on demand of today. Where the newer price is that of Windows, the older one
// counts.
func rowOf(shape facts.Shape, text string, region facts.Region, older source.Size) (row facts.Row, err error) {
	row = facts.Row{Type: shape.Name, Assumed: true}
	if row.OnDemand, err = offerings.ParsePrice(text); err != nil {
		return row, err
	}
	for _, z := range region.Zones {
		row.Zones += string(z.Letter)
	}
	from := older.Pricing[priceKeys()[region.Name]].Linux
	if from == nil {
		return row, nil
	}
	if before, err := offerings.ParsePrice(string(from.OnDemand)); err == nil && isWindows(row.OnDemand, before, shape) {
		row.OnDemand, row.List = before, facts.FormerList
	}
	if from.Spot == "" {
		return row, nil
	}
	spot, err := offerings.ParsePrice(string(from.Spot))
	if spot < row.OnDemand {
		row.Spot = spot
	}
	return row, err
}

// isWindows reports whether a price exceeds that of Linux by the licence of Windows: 4.6 cents for
// each core, and a tenth of it in series B. The newer source has some Windows prices among its own.
func isWindows(price, linux offerings.Price, shape facts.Shape) bool {
	windows := offerings.MustPrice("0.046")
	if strings.HasPrefix(shape.Name, "Standard_B") {
		windows = offerings.MustPrice("0.0046")
	}
	more := windows * offerings.Price(shape.VCPU)
	off := price - linux - more
	return 50*max(off, -off) <= more+offerings.MustPrice("0.1") && 100*(price-linux) > linux
}

// ofWindows returns the sizes whose price is above that of the cheapest of their series, in
// proportion to cores, by the licence of Windows.
func ofWindows(rows []facts.Row, shapes map[string]facts.Shape) map[string]bool {
	type series struct {
		name          string
		memoryPerCore int64
	}
	perCore := map[series]offerings.Price{}
	of := func(s facts.Shape) series {
		m := sizeName.FindStringSubmatch(strings.TrimPrefix(s.Name, "Standard_"))
		if m == nil {
			return series{name: s.Name}
		}
		return series{m[1] + m[3] + m[4], s.MemoryMiB / s.VCPU}
	}
	for _, row := range rows {
		s := shapes[row.Type]
		price, known := row.OnDemand/offerings.Price(s.VCPU), perCore[of(s)]
		if known == 0 || price < known {
			perCore[of(s)] = price
		}
	}
	out := map[string]bool{}
	for _, row := range rows {
		s := shapes[row.Type]
		if s.Accelerator.Count == 0 && isWindows(row.OnDemand, perCore[of(s)]*offerings.Price(s.VCPU), s) {
			out[row.Type] = true
		}
	}
	return out
}

// zonesOf are the zones of a region, which are numbered from 1; one without zones has zone 0.
func zonesOf(region string, in source.Azure) (zones []facts.Zone) {
	for n := range in.Zones[region] {
		zones = append(zones, facts.Zone{Letter: byte('1' + n)})
	}
	if len(zones) == 0 {
		zones = []facts.Zone{{Letter: '0'}}
	}
	return zones
}

// shapeOf describes a size, or says why it is left out.
func shapeOf(name string, in source.Azure, older source.Size) (s facts.Shape, reason string) {
	from := in.Shapes[name]
	body := strings.TrimPrefix(name, "Standard_")
	switch {
	case body == name:
		return s, "is not of the Standard tier, which is all that Kubernetes on Azure takes"
	case from.VCPU < 2 || from.MemoryMb < 3584:
		return s, "is too small: Kubernetes on Azure wants 2 vCPUs and 3.5 GiB"
	case strings.Contains(body, "-"):
		return s, "has fewer cores than it is priced for, for software licences; Karpenter leaves such sizes out"
	case strings.HasPrefix(body, "DC"), strings.HasPrefix(body, "EC"):
		return s, "is for confidential computing, which Karpenter leaves out"
	case body == "E64i_v3" || body == "E64is_v3":
		return s, "is one that Karpenter leaves out"
	}
	s = facts.Shape{Name: name, VCPU: from.VCPU, MemoryMiB: from.MemoryMb, Arch: from.Architecture}
	gpus, model, whole := gpusOf(older)
	if gpus = max(gpus, from.GPU); gpus > 0 || !whole {
		maker, supported := in.GPUMakers[strings.ToLower(name)]
		if !supported || !whole {
			return s, "has GPUs that Kubernetes on Azure does not support, or a share of one"
		}
		if m := accelerator.FindStringSubmatch(body); m != nil {
			model = m[1]
		}
		s.Accelerator = facts.Accelerator{Resource: maker + ".com/gpu", Name: model, Maker: maker, Count: gpus}
	}
	s.PremiumDisks = strconv.FormatBool(strings.Contains(features(body), "s"))
	if older.PremiumIO != nil {
		s.PremiumDisks = strconv.FormatBool(*older.PremiumIO)
	}
	if older.AcceleratedNetworking != nil {
		s.AcceleratedNetworking = strconv.FormatBool(*older.AcceleratedNetworking)
	}
	return s, ""
}

// accelerator matches the GPU between features and version in names of sizes, e.g. A100 in
// Standard_NC24ads_A100_v4.
var accelerator = regexp.MustCompile(`_([A-Z]+\d+[A-Z]*)_v\d+$`)

// gpuText matches descriptions of whole GPUs: "4X V100", "1 V710", "8x A100 (NVlink)".
var gpuText = regexp.MustCompile(`^(\d+)[xX]? ([A-Z]+\d+[A-Z]*)( \(NVlink\))?$`)

// gpusOf reads how the older source describes the GPUs of a size: their number and model, and
// whether they are whole ones.
func gpusOf(older source.Size) (count int64, model string, whole bool) {
	if older.GPU == "" || older.GPU == "0" {
		return 0, "", true
	}
	m := gpuText.FindStringSubmatch(older.GPU)
	if m == nil {
		return 0, "", false
	}
	count, err := strconv.ParseInt(m[1], 10, 32)
	return count, m[2], err == nil && count > 0
}

// sizeName splits a name without "Standard_" into family, number, features and the
// rest: "D8as_v5" into "D", "8", "as", "_v5".
var sizeName = regexp.MustCompile(`^([A-Z]+)(\d+)([a-z]*)(_.*)?$`)

// features returns the letters after the number of cores, each of which stands for a
// feature.
func features(body string) string {
	if m := sizeName.FindStringSubmatch(body); m != nil {
		return m[3]
	}
	return ""
}

// memoryOption matches the digits that tell sizes with the same number of cores
// apart: "M96ds1_v3" is written "M96ds_1_v3".
var memoryOption = regexp.MustCompile(`^(M\d+[a-z]+)(\d+)(_v3)$`)

// skuName returns the name by which Azure's API knows a size of the older source, whose names
// are those of a price list: some lack "Standard", and a few are misspelled.
func skuName(name string) string {
	body := strings.ReplaceAll(strings.TrimPrefix(name, "Standard "), " ", "_")
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
	return "Standard_" + body
}

// priceKeys are the older source's names of regions.
func priceKeys() map[string]string {
	return map[string]string{
		"australiacentral": "australia-central", "australiacentral2": "australia-central-2", "australiaeast": "australia-east",
		"australiasoutheast": "australia-southeast", "brazilsouth": "brazil-south", "brazilsoutheast": "brazil-southeast",
		"canadacentral": "canada-central", "canadaeast": "canada-east", "centralindia": "central-india", "centralus": "us-central",
		"eastasia": "asia-pacific-east", "eastus": "us-east", "eastus2": "us-east-2", "francecentral": "france-central",
		"francesouth": "france-south", "germanynorth": "germany-north", "germanywestcentral": "germany-west-central",
		"japaneast": "japan-east", "japanwest": "japan-west", "koreacentral": "korea-central", "koreasouth": "korea-south",
		"northcentralus": "us-north-central", "northeurope": "europe-north", "norwayeast": "norway-east", "norwaywest": "norway-west",
		"qatarcentral": "qatar-central", "southafricanorth": "south-africa-north", "southafricawest": "south-africa-west",
		"southcentralus": "us-south-central", "southeastasia": "asia-pacific-southeast", "southindia": "south-india",
		"swedencentral": "sweden-central", "swedensouth": "sweden-south", "switzerlandnorth": "switzerland-north",
		"switzerlandwest": "switzerland-west", "uaecentral": "uae-central", "uaenorth": "uae-north", "uksouth": "united-kingdom-south",
		"ukwest": "united-kingdom-west", "westcentralus": "us-west-central", "westeurope": "europe-west", "westindia": "west-india",
		"westus": "us-west", "westus2": "us-west-2", "westus3": "us-west-3",
	}
}
