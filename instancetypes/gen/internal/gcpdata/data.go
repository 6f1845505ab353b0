package gcpdata

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/crosscheck"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Build makes the tables: those of regions in order of name, and says which types that the
// sources mention are left out, and why. An error means that a source
// changed in a way that this program does not understand.
func Build(in source.GCP, sources facts.Sources) (facts.Shapes, []facts.Region, []string, error) {
	shapes := facts.Shapes{Sources: sources}
	regions := map[string]*facts.Region{}
	var leftOut []string
	var errs []error
	for _, t := range in.Types {
		shape, reason, err := shapeOf(t, in)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.Name, err))
		}
		if reason != "" {
			leftOut = append(leftOut, t.Name+": "+reason)
		}
		if err != nil || reason != "" {
			continue
		}
		sold := false
		for region := range in.Sold[t.Name] {
			row, err := rowOf(t, region, in)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s in %s: %w", t.Name, region, err))
			}
			if row.OnDemand == 0 {
				continue
			}
			if regions[region] == nil {
				regions[region] = &facts.Region{Name: region, Zones: zonesOf(region, in)}
			}
			regions[region].Rows = append(regions[region].Rows, row)
			sold = true
		}
		if sold {
			shapes.List = append(shapes.List, shape)
		} else {
			leftOut = append(leftOut, t.Name+": no region is known to sell it at a known price")
		}
	}
	var out []facts.Region
	for _, name := range slices.Sorted(maps.Keys(regions)) {
		slices.SortFunc(regions[name].Rows, func(a, b facts.Row) int { return cmp.Compare(a.Type, b.Type) })
		out = append(out, *regions[name])
	}
	return shapes, out, leftOut, errors.Join(errs...)
}

// shapeOf describes a type, or says why it is left out.
func shapeOf(t source.MachineType, in source.GCP) (s facts.Shape, reason string, err error) {
	family, _, _ := strings.Cut(t.Name, "-")
	s = facts.Shape{Name: t.Name, Arch: "amd64", LocalDiskGiB: t.LocalGiB, LocalDisks: localDisks(t), DiskTypes: in.Disks[family]}
	if slices.Contains([]string{"t2a", "c4a", "n4a"}, family) {
		s.Arch = "arm64"
	}
	switch {
	case t.Name == "f1-micro" || t.Name == "g1-small":
		return s, "is too small for GKE", nil
	case len(in.Sold[t.Name]) == 0:
		return s, "is in no region's list of machine types", nil
	}
	for _, region := range slices.Sorted(maps.Keys(in.Sold[t.Name])) {
		sold := in.Sold[t.Name][region]
		if s.VCPU != 0 && (s.VCPU != sold.CPUs || s.MemoryMiB != sold.MemoryMiB) {
			return s, "", fmt.Errorf("has %d cores and %d MiB in one region, and %d and %d in %s", s.VCPU, s.MemoryMiB, sold.CPUs, sold.MemoryMiB, region)
		}
		s.VCPU, s.MemoryMiB = sold.CPUs, sold.MemoryMiB
	}
	if t.GPU == "" {
		return s, "", nil
	}
	name, ok := map[string]string{
		"a100": "nvidia-tesla-a100", "a100-80gb": "nvidia-a100-80gb", "h100-80gb": "nvidia-h100-80gb",
		"h100-80gb-mega": "nvidia-h100-mega-80gb", "l4": "nvidia-l4", "rtx6000": "nvidia-rtx-pro-6000",
	}[t.GPU]
	if !ok {
		return s, "", fmt.Errorf("GPU %q is not known", t.GPU)
	}
	if strings.Contains(t.GPUs, ".") {
		return s, fmt.Sprintf("has %s GPUs: a share of one", t.GPUs), nil
	}
	count, err := strconv.ParseInt(t.GPUs, 10, 64)
	s.Accelerator = facts.Accelerator{Resource: "nvidia.com/gpu", Name: name, Maker: "nvidia", Count: count}
	return s, "", err
}

// localDisks counts the local disks of a type: of 375 GiB, and in z3 and on bare metal of
// 3,000 GiB.
func localDisks(t source.MachineType) int64 {
	if strings.HasPrefix(t.Name, "z3-") || strings.HasSuffix(t.Name, "-metal") {
		return (t.LocalGiB + 2999) / 3000
	}
	return (t.LocalGiB + 374) / 375
}

// rowOf says how a region sells a type; without a price on demand it does not.
func rowOf(t source.MachineType, region string, in source.GCP) (row facts.Row, err error) {
	from := t.Prices[region]
	if from.Hour == "" {
		return row, nil
	}
	var errs [4]error
	row = facts.Row{Type: t.Name}
	row.OnDemand, errs[0] = offerings.ParsePrice(from.Hour)
	if from.Spot != "" {
		row.Spot, errs[1] = offerings.ParsePrice(from.Spot)
	}
	row.OneYear, errs[2] = hourly(from.MonthOneYear, row.OnDemand)
	row.ThreeYears, errs[3] = hourly(from.MonthThreeYears, row.OnDemand)
	for _, z := range zonesOf(region, in) {
		row.Zones += string(z.Letter)
	}
	known := ""
	for _, letter := range in.Zones[t.Name][region] {
		if strings.ContainsRune(row.Zones, letter) {
			known += string(letter)
		}
	}
	if row.Assumed = known == ""; !row.Assumed {
		letters := []byte(known)
		slices.Sort(letters)
		row.Zones = string(slices.Compact(letters))
	}
	return row, errors.Join(errs[:]...)
}

// hourly is the price of an hour, to a millionth of a dollar, if that of a month of 730
// hours is known and below the price on demand; 0 otherwise.
func hourly(month string, onDemand offerings.Price) (offerings.Price, error) {
	if month == "" {
		return 0, nil
	}
	price, err := offerings.ParsePrice(month)
	const micro = 1000
	if price = (price/730 + micro/2) / micro * micro; price >= onDemand {
		return 0, err
	}
	return price, err
}

// zonesOf are the zones of a region; a, b and c where no source lists them.
func zonesOf(region string, in source.GCP) (zones []facts.Zone) {
	letters := in.RegionZones[region]
	if letters == "" {
		letters = "abc"
	}
	for _, letter := range []byte(letters) {
		zones = append(zones, facts.Zone{Letter: letter})
	}
	return zones
}

// Compare pairs the prices of regions with those of the provider, as far as both have them.
func Compare(in source.GCP, regions []facts.Region) (pairs []crosscheck.Pair, err error) {
	for _, region := range regions {
		for _, row := range region.Rows {
			for _, ct := range []offerings.CapacityType{offerings.OnDemand, offerings.Spot} {
				key, price := "on_demand", row.OnDemand
				if ct == offerings.Spot {
					key, price = "spot", row.Spot
				}
				text, ok := in.Compared[region.Name][key][row.Type]
				if !ok || price == 0 {
					continue
				}
				theirs, err := offerings.ParsePrice(text.String())
				if err != nil {
					return nil, fmt.Errorf("%s in %s: %w", row.Type, region.Name, err)
				}
				pairs = append(pairs, crosscheck.Pair{Region: region.Name, Type: row.Type, CapacityType: string(ct), Ours: price, Theirs: theirs})
			}
		}
	}
	return pairs, nil
}
