package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// shortOf are the resources of which room has less than a pod asks for.
func shortOf(room, request []int64) []int {
	var out []int
	for d, n := range request {
		if n > room[d] {
			out = append(out, d)
		}
	}
	return out
}

// resourceReason words a lack of resources. A resource that no offer and no node has comes first.
func resourceReason(in *instance.Instance, lacking []int) scheduling.ReasonCount {
	if r, ok := attachReason(in.Table, lacking); ok {
		return r
	}
	var names []string
	for _, d := range withoutAttachments(in.Table, lacking) {
		if !anywhere(in, d) {
			return scheduling.ReasonCount{Code: scheduling.ReasonNoResource, Detail: "no instance type or node has " + string(in.Table.Names[d])}
		}
		names = append(names, string(in.Table.Names[d]))
	}
	return scheduling.ReasonCount{Code: scheduling.ReasonResources, Detail: "too little " + strings.Join(names, " and ")}
}

// anywhere reports whether any offer or node has a resource.
func anywhere(in *instance.Instance, d int) bool {
	return slices.ContainsFunc(in.Offers.Shapes, func(s offers.Shape) bool { return s.Allocatable[d] > 0 }) ||
		slices.ContainsFunc(in.Nodes, func(x *instance.ExistingNode) bool { return in.NodeHas(x, d) })
}

// attachReason words a lack of volume attachments. ok is false where another resource is lacking, too.
func attachReason(table *podspec.ResourceTable, lacking []int) (r scheduling.ReasonCount, ok bool) {
	if len(lacking) == 0 || slices.ContainsFunc(lacking, func(d int) bool { return podspec.AttachDriver(table.Names[d]) == "" }) {
		return scheduling.ReasonCount{}, false
	}
	return scheduling.ReasonCount{Code: scheduling.ReasonAttachLimit, Detail: "too few further volumes of " + podspec.AttachDriver(table.Names[lacking[0]]) + " can be attached"}, true
}

// withoutAttachments leaves volume attachments out of a list of resources.
func withoutAttachments(table *podspec.ResourceTable, lacking []int) []int {
	return slices.DeleteFunc(slices.Clone(lacking), func(d int) bool { return podspec.AttachDriver(table.Names[d]) != "" })
}

// attachFix proposes the number of volumes of a driver that a node can still attach.
func attachFix(driver string, most, want int64) scheduling.Change {
	return scheduling.Change{
		Kind: scheduling.ChangeVolume, Key: driver, From: strconv.FormatInt(want, 10), To: strconv.FormatInt(most, 10),
		Text: fmt.Sprintf("use at most %d volumes of %s instead of %d", most, driver, want),
	}
}

// lessOf proposes a smaller request of a resource.
func lessOf(name corev1.ResourceName, most, want int64) scheduling.Change {
	if driver := podspec.AttachDriver(name); driver != "" {
		return attachFix(driver, most, want)
	}
	if most <= 0 {
		_, asks := inOneUnit(name, 0, want)
		q := podspec.Quantity(name, want)
		return scheduling.Change{
			Kind: scheduling.ChangeRequest, Key: string(name), From: q.String(), To: "0",
			Text: fmt.Sprintf("drop the request for %s (requests %s)", name, asks),
		}
	}
	have, asks := inOneUnit(name, most, want)
	to, from := podspec.Quantity(name, most), podspec.Quantity(name, want)
	return scheduling.Change{
		Kind: scheduling.ChangeRequest, Key: string(name), From: from.String(), To: to.String(),
		Text: fmt.Sprintf("request at most %s %s instead of %s", have, name, asks),
	}
}

// inOneUnit writes a bound, rounded down, and a larger amount in the same unit, with as many decimals as it takes
// to tell them apart. The unit is the largest that is at most the bound. An amount that 64 bits do not hold has a unit of its own.
func inOneUnit(name corev1.ResourceName, bound, amount int64) (least, most string) {
	of := amount
	if bound > 0 {
		of = bound
	}
	unit, suffix := unitOf(name, of)
	for decimals := 2; ; decimals++ {
		scale := math.Pow10(decimals)
		down := math.Floor(float64(bound)/float64(unit)*scale) / scale
		least, most = decimal(down, decimals)+suffix, decimal(float64(amount)/float64(unit), decimals)+suffix
		if amount == math.MaxInt64 {
			return least, atLeast(name, amount)
		}
		if (least != most && (bound == 0 || down > 0)) || decimals == 12 {
			return least, most
		}
	}
}

// atLeast writes an amount, rounded up. math.MaxInt64 stands for all amounts that 64 bits do not hold.
func atLeast(name corev1.ResourceName, amount int64) string {
	unit, suffix := unitOf(name, amount)
	if amount == math.MaxInt64 {
		suffix += " or more"
	}
	const decimals = 2
	scale := math.Pow10(decimals)
	return decimal(math.Ceil(float64(amount)/float64(unit)*scale)/scale, decimals) + suffix
}

// unitOf is the largest unit of which an amount of a resource has one, and its suffix.
func unitOf(name corev1.ResourceName, amount int64) (unit int64, suffix string) {
	unit = 1
	switch {
	case name == corev1.ResourceCPU:
		if suffix = "m"; amount >= 1000 {
			unit, suffix = 1000, ""
		}
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		for i, s := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
			if next := int64(1) << (10 * (i + 1)); amount >= next {
				unit, suffix = next, s
			}
		}
	}
	return unit, suffix
}

// decimal writes a number without zeros at the end of its decimals.
func decimal(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if decimals > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
